"""The corpus that the package carries: a seeded generator of small annotated English stories (``docs/stories.md``)."""

from entitynlm.text.stories.difficulty import measure_difficulty
from entitynlm.text.stories.generator import SPLITS, find_split, generate_stories, split_stories
from entitynlm.text.stories.scenarios import read_scenario

__all__ = ["SPLITS", "find_split", "generate_stories", "measure_difficulty", "read_scenario", "split_stories"]
