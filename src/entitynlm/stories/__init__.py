"""The corpus that the package carries: a seeded generator of small annotated English stories (``docs/formats.md``)."""

from entitynlm.stories.generator import SPLITS, find_split, generate_stories, split_stories

__all__ = ["SPLITS", "find_split", "generate_stories", "split_stories"]
