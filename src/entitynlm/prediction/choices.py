"""The answer to "which entity is mentioned next?": probabilities of the entities so far and of a new entity."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import softmax

from entitynlm.prediction.slots import Slot, SlottedStory
from entitynlm.results import Result
from entitynlm.text.document import Document

SMALLEST_SHARE = 1e-12  # what is added to probabilities in a product
NEW = ""  # stands for an entity that was not mentioned before; no entity of a document has an empty id


@dataclass(frozen=True, repr=False)
class Choice(Result):
    """A distribution over the entities so far and :data:`NEW`; ``best`` is the most probable entity, or people's majority."""

    entities: tuple[str, ...]
    probabilities: tuple[float, ...]
    best: str

    def resolve(self, entity: str) -> str:
        """Return the choice that stands for an entity; for a model that leaves out nested mentions it may still be new."""
        return entity if entity in self.entities else NEW

    def probability(self, entity: str) -> float:
        return self.probabilities[self.entities.index(self.resolve(entity))]

    @property
    def ranked(self) -> list[tuple[str, float]]:
        return sorted(zip(self.entities, self.probabilities, strict=True), key=lambda pair: -pair[1])


class Chooser(Protocol):
    """A model of entity prediction; at a mention's first word (or the end of the story) it may use only the text before it."""

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]: ...


@dataclass(frozen=True)
class Answer:
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
    """Make a choice by a softmax over scores (candidates + 1,), the last of which is that of a new entity."""
    probabilities = softmax(scores)
    names = (*entities, NEW)
    return Choice(names, tuple(probabilities.tolist()), names[int(probabilities.argmax())])


def find_entities(story: Document, position: int) -> tuple[str, ...]:
    """Find the entities mentioned before a position, in order of first mention."""
    return tuple(dict.fromkeys(m.entity for m in story.mentions if m.start < position))


class AlwaysNew:
    """The paper's first row: every mention is expected to introduce a new entity."""

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        seen = [find_entities(story, position) for position in positions]
        return [Choice((*known, NEW), (*[0.0] * len(known), 1.0), NEW) for known in seen]


def mix(choices: Sequence[Choice], weights: Sequence[float]) -> Choice:
    """Average geometrically, with weights, over the first choice's candidates; a candidate that another lacks is new to it."""
    entities = choices[0].entities
    logs = [
        np.log([SMALLEST_SHARE + choice.probability(entity) for entity in entities]) for choice in choices
    ]
    return make_choice(entities[:-1], np.average(logs, axis=0, weights=weights))
