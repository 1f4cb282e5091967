"""The corpus that the package carries: a seeded generator of small annotated English stories (``docs/formats.md``)."""

from entitynlm.stories.generator import SPLITS, generate_stories, write_stories

__all__ = ["SPLITS", "generate_stories", "write_stories"]
