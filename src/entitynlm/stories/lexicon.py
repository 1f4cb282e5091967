"""Word lists of the stories, from ``resources/stories/lexicon.toml``, and draws that give the same result everywhere."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from entitynlm.config import load_toml

STORY_FILES = Path(__file__).resolve().parents[1] / "resources" / "stories"
T = TypeVar("T")


@cache
def load_lexicon() -> dict[str, Any]:
    """Load the word lists."""
    return load_toml(STORY_FILES / "lexicon.toml")


@cache
def list_words(section: str, table: str = "") -> tuple[str, ...]:
    """List the entries of one section in their order: words of a text, or phrases of a list."""
    values = load_lexicon()[table][section] if table else load_lexicon()[section]
    return tuple(values.split() if isinstance(values, str) else values)


@cache
def has_word(word: str, section: str) -> bool:
    """Tell whether a section lists a word."""
    return word in list_words(section)


def is_plural(noun: str) -> bool:
    """Tell whether a noun is plural: listed, or in -s and not listed as a singular."""
    in_s = noun.endswith("s") and not noun.endswith("ss") and not has_word(noun, "singular_in_s")
    return in_s or has_word(noun, "irregular_plurals")


def choose(options: Sequence[T], random: Random) -> T:
    """Draw one of the options uniformly, by ``Random.random``, which Python guarantees to be the same everywhere."""
    return options[int(random.random() * len(options))]


def choose_weighted(options: Sequence[tuple[float, T]], random: Random) -> T:
    """Draw one of the options by their weights, which need not sum to one."""
    mark = random.random() * sum(weight for weight, _ in options)
    for weight, option in options:
        mark -= weight
        if mark < 0:
            return option
    return options[-1][1]
