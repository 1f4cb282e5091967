"""Echoes: how often a mention could repeat, and does repeat, what was said before of the same entity.

An entity's words are those inside its mentions so far, the latest :data:`KEPT` of them, each with the word before it where
that was the entity's too (else: the word opened a stretch of its words). At a word of a mention, those of the entity's words that
stood after the same predecessor are its ``chances``, and the ones among them that are this very word its ``echoes``. Both
depend on nothing but the words and the entities, so they are counted once, before any training.
"""

from __future__ import annotations

from dataclasses import dataclass

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
