"""The corpus that the package carries: a seeded generator of small annotated English stories.

Scenario files (:mod:`scenarios`) have roles (:mod:`cast`) and scripts (:mod:`script`); the wordings of events
(:mod:`templates`, :mod:`parser`) become sentences (:mod:`realisation`) in which every participant is mentioned as the
discourse asks for (:mod:`reference`). ``docs/stories.md`` explains the format and the difficulty.
"""

from entitynlm.text.stories.difficulty import measure_difficulty
from entitynlm.text.stories.generator import SPLITS, find_split, generate_stories, split_stories
from entitynlm.text.stories.scenarios import read_scenario

__all__ = ["SPLITS", "find_split", "generate_stories", "measure_difficulty", "read_scenario", "split_stories"]
