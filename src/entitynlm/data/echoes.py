"""Echoes: how often a mention could repeat, and does repeat, what was said before of the same entity.

An entity's words are those inside its mentions so far, the latest :data:`KEPT` of them, each with the word before it where
that was the entity's too (else: the word opened a stretch of its words). At a word of a mention, those of the entity's words that
stood after the same predecessor are its ``chances``, and the ones among them that are this very word its ``echoes``. Both
depend on nothing but the words and the entities, so they are counted once, before any training.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numba
import numpy as np

KEPT = 24
"""How many of an entity's latest words are remembered. A person of a novel has thousands; the latest are the likely ones."""

OPENING = -1
"""What stands in place of a predecessor where there is none."""


@dataclass(frozen=True, eq=False)
class Echoes:
    """T words: ``chances`` (T,) words of the entity that could be repeated here, ``echoes`` (T,) those that are this word;
    ``opens`` (T,) whether the word opens a stretch of its entity's words. Outside of mentions all are zero.
    """

    chances: np.ndarray
    echoes: np.ndarray
    opens: np.ndarray

    def cut(self, start: int, stop: int) -> Echoes:
        """Those of the words ``start`` … ``stop`` - 1."""
        part = slice(start, stop)
        return Echoes(self.chances[part], self.echoes[part], self.opens[part])


def count_echoes(x: np.ndarray, entity: np.ndarray) -> Echoes:
    """Chances and echoes of every word of a text: words (T,) and entities (T,), which are 0 outside of mentions."""
    x, entity = (np.ascontiguousarray(a, dtype=np.int64) for a in (x, entity))
    return Echoes(*_count(x, entity, int(entity.max(initial=0))))


@numba.njit(cache=True)
def _count(x, entity, entities):  # type: ignore[no-untyped-def]
    chances = np.zeros(len(x), dtype=np.int32)
    echoes = np.zeros(len(x), dtype=np.int32)
    opens = np.zeros(len(x), dtype=np.bool_)
    words = np.zeros((entities + 1, KEPT), dtype=np.int64)
    before = np.zeros((entities + 1, KEPT), dtype=np.int64)
    seen = np.zeros(entities + 1, dtype=np.int64)
    for t in range(len(x)):
        n = entity[t]
        if n == 0:
            continue
        opens[t] = t == 0 or entity[t - 1] != n
        previous = OPENING if opens[t] else x[t - 1]
        for k in range(min(seen[n], KEPT)):
            if before[n, k] == previous:
                chances[t] += 1
                if words[n, k] == x[t]:
                    echoes[t] += 1
        place = seen[n] % KEPT
        words[n, place], before[n, place] = x[t], previous
        seen[n] += 1
    return chances, echoes, opens


@dataclass
class SpokenWords:
    """The same for a text that is read word by word: what has been said of each entity so far."""

    words: dict[int, deque[tuple[int, int]]] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    position: int = 0
    previous: int = OPENING

    def copy(self) -> SpokenWords:
        words = {entity: deque(said, KEPT) for entity, said in self.words.items()}
        return SpokenWords(words, dict(self.last), self.position, self.previous)

    def read(self, x: int, entity: int) -> None:
        """The next word of the text; ``entity`` is 0 outside of mentions."""
        if entity:
            said = self.words.setdefault(entity, deque(maxlen=KEPT))
            said.append((OPENING if self.opens(entity) else self.previous, x))
            self.last[entity] = self.position
        self.position, self.previous = self.position + 1, x

    def name(self, entity: int, words: Sequence[int]) -> None:
        """Words that are known of an entity though the text did not say them."""
        pairs = zip([OPENING, *words], words, strict=False)
        self.words.setdefault(entity, deque(maxlen=KEPT)).extend(pairs)

    def opens(self, entity: int) -> bool:
        """Whether the next word would open a stretch of the entity's words."""
        return self.last.get(entity, self.position) != self.position - 1

    def list_chances(self, entity: int) -> list[int]:
        """What the next word could repeat, if it is the entity's."""
        before = OPENING if self.opens(entity) else self.previous
        return [word for predecessor, word in self.words.get(entity, ()) if predecessor == before]

    def count(self, x: int, entity: int) -> tuple[bool, int, int]:
        """Whether the word would open a stretch, its chances and its echoes, if it is the entity's."""
        chances = self.list_chances(entity)
        return self.opens(entity), len(chances), chances.count(x)
