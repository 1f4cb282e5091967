"""Choosers as one: a weighted geometric mean of two, the weight chosen on development stories, or of several rows as equals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from entitynlm.errors import ConfigError
from entitynlm.prediction.choices import NEW, Choice, Chooser, make_choice
from entitynlm.prediction.evaluation import Answer, Row
from entitynlm.prediction.slots import SlottedStory
from entitynlm.text.document import Document

WEIGHTS = tuple(step / 10 for step in range(11))
SMALLEST = 1e-12


class Ensemble:
    """p(c) ∝ first(c)^(1 - weight) · second(c)^weight."""

    def __init__(self, first: Chooser, second: Chooser, weight: float) -> None:
        self.first, self.second, self.weight = first, second, weight

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        """One choice per position; see ``Chooser``."""
        pairs = zip(self.first.choose(story, positions), self.second.choose(story, positions), strict=True)
        return [mix(first, second, self.weight) for first, second in pairs]


def mix(first: Choice, second: Choice, weight: float) -> Choice:
    """Over the first one's candidates; one that the second has not met is new to it."""
    own, other = (
        np.log([SMALLEST + choice.probability(entity) for entity in first.entities])
        for choice in (first, second)
    )
    return make_choice(first.entities[:-1], (1 - weight) * own + weight * other)


def choose_weight(first: Chooser, second: Chooser, stories: Sequence[SlottedStory]) -> float:
    """The weight that makes the true answers of these stories the likeliest."""
    losses = dict.fromkeys(WEIGHTS, 0.0)
    for slotted in stories:
        pairs = zip(
            slotted.slots,
            first.choose(slotted.story, slotted.positions),
            second.choose(slotted.story, slotted.positions),
            strict=True,
        )
        for slot, one, two in pairs:
            truth = NEW if slot.is_new else slot.entity
            for weight in WEIGHTS:
                losses[weight] -= float(np.log(SMALLEST + mix(one, two, weight).probability(truth)))
    return min(WEIGHTS, key=losses.__getitem__)


def join_rows(name: str, rows: Sequence[Row]) -> Row:
    """The geometric mean of rows that were asked at the same slots, such as one network's with several seeds."""
    if not rows:
        raise ConfigError("there are no rows to be joined")
    answers = []
    for given in zip(*(row.answers for row in rows), strict=True):
        first = given[0].choice
        logs = [
            np.log([SMALLEST + answer.choice.probability(entity) for entity in first.entities])
            for answer in given
        ]
        choice = make_choice(first.entities[:-1], np.mean(logs, axis=0))
        answers.append(Answer(given[0].story, given[0].slot, choice))
    return Row(name, tuple(answers))


class Remembering:
    """A chooser that is asked about each story once, however many rows need its answers."""

    def __init__(self, chooser: Chooser) -> None:
        self.chooser = chooser
        self._known: dict[int, tuple[Document, list[int], list[Choice]]] = {}

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        """One choice per position; see ``Chooser``."""
        known = self._known.get(id(story))
        if known is None or known[0] is not story or known[1] != list(positions):
            known = (story, list(positions), self.chooser.choose(story, positions))
            self._known[id(story)] = known
        return known[2]
