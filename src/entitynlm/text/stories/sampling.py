"""Random draws that are the same on every machine: all go through ``Random.random``, which Python guarantees."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def make_random(seed: int, story: int) -> Random:
    """The random generator of one story alone (a text as seed is hashed alike everywhere)."""
    return Random(f"entitynlm stories {seed} {story}")


def choose(options: Sequence[T], random: Random) -> T:
    """Draw one of the options uniformly."""
    return options[int(random.random() * len(options))]


def choose_weighted(options: Sequence[tuple[float, T]], random: Random) -> T:
    """Draw one of the options by their weights, which need not sum to one."""
    mark = random.random() * sum(weight for weight, _ in options)
    for weight, option in options:
        mark -= weight
        if mark < 0:
            return option
    return options[-1][1]
