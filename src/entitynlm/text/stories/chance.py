"""Chance that is the same on every machine: all draws go through ``Random.random``, which Python guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def make_random(seed: int, story: int) -> Random:
    """The source of chance of one story, which no other story touches (text seeds are hashed alike everywhere)."""
    return Random(f"entitynlm stories {seed} {story}")


def choose(options: Sequence[T], random: Random) -> T:
    """One of the options, each as likely."""
    return options[int(random.random() * len(options))]


def choose_weighted(options: Sequence[tuple[float, T]], random: Random) -> T:
    """One of the options by their weights, which need not sum to one."""
    mark = random.random() * sum(weight for weight, _ in options)
    for weight, option in options:
        mark -= weight
        if mark < 0:
            return option
    return options[-1][1]
