"""Scripts: scenarios as TOML files, from which the sentences of a story are drawn (``docs/formats.md``)."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec

from entitynlm.config import load_toml

STORY_FILES = Path(__file__).resolve().parents[1] / "resources" / "stories"
ALTERNATIVES = re.compile(r"\(([^()]*)\)")
T = TypeVar("T")


class Role(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A role in a scenario, which a person or thing takes.

    :param nouns: descriptions to draw from; ``waiter:m`` has a gender, ``table by {window}`` another role's mention.
    :param named: whether it has a name, which later mentions use.
    :param owner: role that owns it (her brother, Anna's bike).
    :param intro: determiner of the first mention, unless an owner takes its place.
    :param members: roles that form the group.
    """

    type: str
    nouns: tuple[str, ...] = ()
    adjectives: tuple[str, ...] = ()
    named: bool = False
    owner: str = ""
    intro: str = "a"
    plural: bool = False
    members: tuple[str, ...] = ()


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A script with its cast: the steps of a story, each a list of alternatives of which one is drawn."""

    name: str
    roles: dict[str, Role]
    story: tuple[tuple[str, ...], ...]


@cache
def load_scenarios() -> tuple[Scenario, ...]:
    """Load the scenarios in the order of their names."""
    paths = sorted((STORY_FILES / "scenarios").glob("*.toml"))
    return tuple(msgspec.convert({"name": path.stem, **load_toml(path)}, Scenario) for path in paths)


@cache
def list_names(kind: str) -> tuple[str, ...]:
    """List the names of people or pets of a gender."""
    return tuple(load_toml(STORY_FILES / "names.toml")[kind].split())


def draw_sentences(scenario: Scenario, random: Random) -> Iterator[str]:
    """Draw the sentences of one story; a step may have several sentences, or none."""
    for step in scenario.story:
        for sentence in filter(None, choose(step, random).split(" / ")):
            yield ALTERNATIVES.sub(lambda found: choose(found[1].split("|"), random), sentence)


def choose(options: Sequence[T], random: Random) -> T:
    """Draw one of the options uniformly, by ``Random.random``, which Python guarantees to be the same everywhere."""
    return options[int(random.random() * len(options))]
