"""The corpus that the package carries: a seeded generator of small annotated English stories.

Scenarios have scripts (:mod:`plot`, :mod:`scenarios`, :mod:`detours`) in which a cast takes roles (:mod:`cast`); the
wordings of events (:mod:`templates`) become sentences (:mod:`realisation`) in which everyone is mentioned as the
discourse asks for (:mod:`reference`). ``docs/stories.md`` tells how and how hard they are.
"""

from entitynlm.text.stories.difficulty import measure_difficulty
from entitynlm.text.stories.generator import SPLITS, find_split, generate_stories, split_stories

__all__ = ["SPLITS", "find_split", "generate_stories", "measure_difficulty", "split_stories"]
