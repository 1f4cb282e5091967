"""The answer to "who is mentioned next?": probabilities for the entities so far and for a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from entitynlm.text.document import Document

NEW = ""
"""Stands for an entity that was not mentioned before; no entity of a document has an empty id."""


@dataclass(frozen=True)
class Choice:
    """A distribution over ``entities``, those so far in order of first mention and then :data:`NEW`.

    ``best`` is the answer that counts. For models it is the likeliest one; people's majority is counted otherwise.
    """

    entities: tuple[str, ...]
    probabilities: tuple[float, ...]
    best: str

    def resolve(self, entity: str) -> str:
        """The answer that stands for an entity; to a model that leaves out nested mentions it may still be new."""
        return entity if entity in self.entities else NEW

    def probability(self, entity: str) -> float:
        """Of the answer that stands for an entity."""
        return self.probabilities[self.entities.index(self.resolve(entity))]

    @property
    def ranked(self) -> list[tuple[str, float]]:
        """Answers with their probabilities, the likeliest first."""
        return sorted(zip(self.entities, self.probabilities, strict=True), key=lambda pair: -pair[1])


class Chooser(Protocol):
    """Anything that can be asked who is mentioned next.

    For each position, which is the first word of a mention (or the story's length: what comes after its end), only the words
    before it and the mentions that started before it may be looked at.
    """

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        """One choice per position."""
        ...


def make_choice(entities: Sequence[str], scores: np.ndarray) -> Choice:
    """Softmax over scores (1 + candidates,), the last of which is that of a new entity."""
    exponentials = np.exp(scores - scores.max())
    probabilities = exponentials / exponentials.sum()
    names = (*entities, NEW)
    return Choice(names, tuple(map(float, probabilities)), names[int(probabilities.argmax())])


class AlwaysNew:
    """The paper's first line."""

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        found = []
        for position in positions:
            seen = tuple(dict.fromkeys(m.entity for m in story.mentions if m.start < position))
            found.append(Choice((*seen, NEW), (*(0.0 for _ in seen), 1.0), NEW))
        return found
