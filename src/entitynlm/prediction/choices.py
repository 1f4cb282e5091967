"""The answer to "which entity is mentioned next?": probabilities of the entities so far and of a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from entitynlm.prediction.slots import Slot, SlottedStory
from entitynlm.text.document import Document

NEW = ""
"""Stands for an entity that was not mentioned before; no entity of a document has an empty id."""


@dataclass(frozen=True)
class Choice:
    """A distribution over ``entities``: those so far in order of first mention, then :data:`NEW`.

    ``best`` is the answer that accuracy counts: the likeliest one of a model, the majority of people.
    """

    entities: tuple[str, ...]
    probabilities: tuple[float, ...]
    best: str

    def resolve(self, entity: str) -> str:
        """The answer that stands for an entity; to a model that leaves out nested mentions it may still be new."""
        return entity if entity in self.entities else NEW

    def probability(self, entity: str) -> float:
        """The probability of the answer that stands for an entity."""
        return self.probabilities[self.entities.index(self.resolve(entity))]

    @property
    def ranked(self) -> list[tuple[str, float]]:
        """Answers with their probabilities, the likeliest first."""
        return sorted(zip(self.entities, self.probabilities, strict=True), key=lambda pair: -pair[1])


class Chooser(Protocol):
    """A model of entity prediction.

    At each position, which is the first word of a mention (or the story's length: what comes after its end), it may look only at
    the words before it and at the mentions that started before it.
    """

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        """One choice per position."""
        ...


@dataclass(frozen=True)
class Answer:
    """What was chosen at a slot."""

    story: SlottedStory
    slot: Slot
    choice: Choice

    @property
    def truth(self) -> str:
        return NEW if self.slot.is_new else self.choice.resolve(self.slot.entity)

    @property
    def is_right(self) -> bool:
        return self.choice.best == self.truth


def make_choice(entities: Sequence[str], scores: np.ndarray) -> Choice:
    """Softmax over scores (candidates + 1,), the last of which is that of a new entity."""
    exponentials = np.exp(scores - scores.max())
    probabilities = exponentials / exponentials.sum()
    names = (*entities, NEW)
    return Choice(names, tuple(map(float, probabilities)), names[int(probabilities.argmax())])


def find_entities(story: Document, position: int) -> tuple[str, ...]:
    """The entities mentioned before a position, in order of first mention."""
    return tuple(dict.fromkeys(m.entity for m in story.mentions if m.start < position))


class AlwaysNew:
    """The paper's first row: every mention is expected to introduce a new entity."""

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        """One choice per position; see ``Chooser``."""
        seen = [find_entities(story, position) for position in positions]
        return [Choice((*known, NEW), (*[0.0] * len(known), 1.0), NEW) for known in seen]
