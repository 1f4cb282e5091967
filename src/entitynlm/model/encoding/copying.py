"""The copy mechanism: how often a mention could repeat, and does repeat, what was said before of the same entity.

An entity's words are those inside its mentions so far, the latest :data:`KEPT` of them, each with the word before it where
that was the entity's too (else: the word opened a run of its words). At a word of a mention, those of the entity's words that
stood after the same predecessor are its copy candidates, and the ones among them that are this very word its copies. Both
depend on nothing but the words and the entities, so they are counted once, before any training.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from entitynlm.compilation import njit
from entitynlm.model.encoding.tokenizer import EncodedWords

KEPT = 24
"""The latest words of an entity that are remembered. A person of a novel has thousands; the latest are the likely ones."""

NO_PREDECESSOR = -1
"""Stands for the predecessor of a word that has none."""

BOUNDS = (30, 300)
"""Words with keys below the first number are frequent, those below the second common: a vocabulary has the most frequent first.
In an open vocabulary keys are large, and all words count as rare."""

RAREST = len(BOUNDS)

STRING_MATCHES = 18
"""The number of values of :func:`compare_words`."""

NEW_ENTITY = 255
"""Stands for the string match with a new entity, which has no words."""


@dataclass(frozen=True, eq=False)
class CopyCounts:
    """T words: ``copy_candidates`` (T,) of each, ``copies`` (T,) those among them that are this word, and ``opens`` (T,), whether
    it opens a run of its entity's words. Outside of mentions all are zero.
    """

    copy_candidates: np.ndarray
    copies: np.ndarray
    opens: np.ndarray

    def cut(self, start: int, stop: int) -> CopyCounts:
        """Take the counts of the words ``start`` … ``stop`` - 1."""
        part = slice(start, stop)
        return CopyCounts(self.copy_candidates[part], self.copies[part], self.opens[part])


def count_copies(x: np.ndarray, entity: np.ndarray) -> CopyCounts:
    """Copy candidates and copies of every word of a text: words (T,) and entities (T,), which are 0 outside of mentions."""
    x, entity = (np.ascontiguousarray(a, dtype=np.int64) for a in (x, entity))
    return CopyCounts(*_count(x, entity, int(entity.max(initial=0))))


@njit()
def _count(x, entity, entities):  # type: ignore[no-untyped-def]
    copy_candidates = np.zeros(len(x), dtype=np.int32)
    copies = np.zeros(len(x), dtype=np.int32)
    opens = np.zeros(len(x), dtype=np.bool_)
    words = np.zeros((entities + 1, KEPT), dtype=np.int64)
    before = np.zeros((entities + 1, KEPT), dtype=np.int64)
    seen = np.zeros(entities + 1, dtype=np.int64)
    for t in range(len(x)):
        n = entity[t]
        if n == 0:
            continue
        opens[t] = t == 0 or entity[t - 1] != n
        previous = NO_PREDECESSOR if opens[t] else x[t - 1]
        for k in range(min(seen[n], KEPT)):
            if before[n, k] == previous:
                copy_candidates[t] += 1
                if words[n, k] == x[t]:
                    copies[t] += 1
        place = seen[n] % KEPT
        words[n, place], before[n, place] = x[t], previous
        seen[n] += 1
    return copy_candidates, copies, opens


@njit(nogil=True)
def compare_words(words, before, seen, last, position, previous, x, rarity):  # type: ignore[no-untyped-def]
    """Grade how the word ``x`` that starts a mention matches an entity's words (KEPT,), as a number below STRING_MATCHES.

    Told apart are: whether it copies none, fewer or more than half of its copy candidates; whether it is frequent, common or
    rare; and whether it is rare and among the entity's words, wherever they stood.
    """
    wanted = previous if seen > 0 and last == position - 1 else NO_PREDECESSOR
    kept = min(seen, KEPT)
    copy_candidates, copies, known = 0, 0, 0
    for k in range(kept):
        if before[k] == wanted:
            copy_candidates += 1
            if words[k] == x:
                copies += 1
        if rarity == RAREST and words[k] == x:
            known = 1
    match = 0 if copies == 0 else (1 if 2 * copies < copy_candidates else 2)
    return match + 3 * rarity + 9 * known


def find_rarity(keys: np.ndarray) -> np.ndarray:
    """Classify words (T,) by frequency: 0 where they are frequent, 1 where common, :data:`RAREST` elsewhere."""
    return np.searchsorted(BOUNDS, keys, side="right").astype(np.int64)


def compare_pairs(words: EncodedWords, r: np.ndarray, e: np.ndarray, l: np.ndarray) -> np.ndarray:
    """The string match of every pair of a mention and an entity before it (and :data:`NEW_ENTITY`), in the index's order."""
    columns = (words.x, find_rarity(words.x), r, e, l)
    arrays = (np.ascontiguousarray(values, dtype=np.int64) for values in columns)
    return _compare(*arrays, int(e.max(initial=0)))


@njit()
def _compare(x, rarity, r, e, l, entities):  # type: ignore[no-untyped-def]
    words = np.zeros((entities + 1, KEPT), dtype=np.int64)
    before = np.zeros((entities + 1, KEPT), dtype=np.int64)
    seen = np.zeros(entities + 1, dtype=np.int64)
    last = np.zeros(entities + 1, dtype=np.int64)
    mention_types = np.zeros(entities + 1, dtype=np.int64)
    found = np.zeros(1024, dtype=np.uint8)
    known, remaining, k = 0, 0, 0
    for t in range(len(x)):
        n = e[t]
        if n == 0:
            continue
        previous = x[t - 1] if t > 0 else NO_PREDECESSOR
        if remaining == 0:
            if k + known + 1 > len(found):
                larger = np.zeros(2 * len(found) + known, dtype=np.uint8)
                larger[:k] = found[:k]
                found = larger
            for m in range(1, known + 1):
                if mention_types[m] == r[t]:
                    found[k] = compare_words(
                        words[m], before[m], seen[m], last[m], t, previous, x[t], rarity[t]
                    )
                    k += 1
            found[k] = NEW_ENTITY
            k += 1
            if n > known:
                known = n
                mention_types[n] = r[t]
            remaining = l[t]
        place = seen[n] % KEPT
        words[n, place] = x[t]
        before[n, place] = previous if seen[n] > 0 and last[n] == t - 1 else NO_PREDECESSOR
        seen[n] += 1
        last[n] = t
        remaining -= 1
    return found[:k]
