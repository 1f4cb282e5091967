"""Ensembles of choosers: weighted geometric means, with weights that are chosen on development stories or equal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from entitynlm.errors import ConfigError
from entitynlm.prediction.choices import NEW, Answer, Choice, Chooser, make_choice
from entitynlm.prediction.evaluation import PredictionRow
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
        return [mix(pair, (1 - self.weight, self.weight)) for pair in pairs]


def mix(choices: Sequence[Choice], weights: Sequence[float]) -> Choice:
    """The weighted geometric mean over the first one's candidates; a candidate that another has not met is new to it."""
    entities = choices[0].entities
    logs = [np.log([SMALLEST + choice.probability(entity) for entity in entities]) for choice in choices]
    return make_choice(entities[:-1], np.average(logs, axis=0, weights=weights))


def choose_weight(first: Chooser, second: Chooser, stories: Sequence[SlottedStory]) -> float:
    """The weight with the highest likelihood of the true answers of these stories."""
    losses = dict.fromkeys(WEIGHTS, 0.0)
    for slotted in stories:
        answers = (chooser.choose(slotted.story, slotted.positions) for chooser in (first, second))
        for slot, *pair in zip(slotted.slots, *answers, strict=True):
            truth = NEW if slot.is_new else slot.entity
            for weight in WEIGHTS:
                mixed = mix(pair, (1 - weight, weight))
                losses[weight] -= float(np.log(SMALLEST + mixed.probability(truth)))
    return min(WEIGHTS, key=losses.__getitem__)


def join_rows(name: str, rows: Sequence[PredictionRow]) -> PredictionRow:
    """The geometric mean of rows over the same slots, such as those of one network trained with several seeds."""
    if not rows:
        raise ConfigError("there are no rows to be joined")
    answers = []
    for given in zip(*(row.answers for row in rows), strict=True):
        choice = mix([answer.choice for answer in given], [1.0] * len(given))
        answers.append(Answer(given[0].story, given[0].slot, choice))
    return PredictionRow(name, tuple(answers))


class CachedChooser:
    """Asks a chooser about each story once, however many rows need its answers."""

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
