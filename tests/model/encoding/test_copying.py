"""Echoes: counted at once and word by word alike, and by hand where that is short."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.model.encoding.copying import (
    BOUNDS,
    KEPT,
    NEW_ENTITY,
    compare_pairs,
    count_copies,
)
from entitynlm.model.encoding.tokenizer import EncodedWords
from support.plain_copying import EntityWords

TEXTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=90)


def test_by_hand() -> None:
    """the(1) old(1) man(1) saw(0) him(1) . the(1) old(1) dog(2)"""
    x = np.array([5, 6, 7, 8, 9, 5, 6, 4])
    entity = np.array([1, 1, 1, 0, 1, 1, 1, 2])
    found = count_copies(x, entity)
    assert found.opens.tolist() == [True, False, False, False, True, False, False, True]
    #      the old man  saw him: one word opened before;  the after him: none so far;  old after the: one, and it is this one
    assert found.copy_candidates.tolist() == [0, 0, 0, 0, 1, 0, 1, 0]
    assert found.copies.tolist() == [0, 0, 0, 0, 0, 0, 1, 0]


@given(TEXTS)
def test_word_by_word_is_the_same(text: list[tuple[int, int]]) -> None:
    x, entity = (np.array(values, dtype=np.int64) for values in (list(zip(*text, strict=True)) or ([], [])))
    found = count_copies(x, entity)
    spoken = EntityWords()
    for t, (word, owner) in enumerate(text):
        if owner:
            assert spoken.count(word, owner) == (found.opens[t], found.copy_candidates[t], found.copies[t])
            assert spoken.copy().list_copy_candidates(owner) == spoken.list_copy_candidates(owner)
        else:
            assert (found.opens[t], found.copy_candidates[t], found.copies[t]) == (False, 0, 0)
        spoken.read(word, owner)


def test_only_the_latest_words_count() -> None:
    x = np.tile([1, 2], KEPT + 2)
    entity = np.tile([1, 0], KEPT + 2)
    x[0] = 3  # said first, and forgotten after KEPT other words
    x[-2] = 3
    found = count_copies(x, entity)
    assert found.copy_candidates[-2] == KEPT and found.copies[-2] == 0
    x[2] = 3
    assert count_copies(x, entity).copies[-2] == 1


def compare_plainly(text: list[tuple[int, int]]) -> list[int]:
    """Every word of an entity starts a mention of one word: likenesses to all entities so far, then a newborn."""
    spoken, found, entities = EntityWords(), [], 0
    for x, owner in text:
        if owner:
            for entity in range(1, entities + 1):
                copy_candidates = spoken.list_copy_candidates(entity)
                words = [word for _, word in spoken.words[entity]]
                share = copy_candidates.count(x) / max(1, len(copy_candidates))
                match = 0 if share == 0 else 1 if share < 0.5 else 2
                rarity = sum(x >= bound for bound in BOUNDS)
                known = x >= BOUNDS[1] and x in words
                found.append(match + 3 * rarity + 9 * known)
            found.append(NEW_ENTITY)
            entities = max(entities, owner)
        spoken.read(x, owner)
    return found


@given(st.lists(st.tuples(st.sampled_from([3, 4, 50, 51, 400, 401, 402]), st.integers(0, 3))))
def test_likenesses(drawn: list[tuple[int, int]]) -> None:
    numbers: dict[int, int] = {0: 0}
    text = [(x, numbers.setdefault(owner, len(numbers))) for x, owner in drawn]
    x, e = (np.array(values, dtype=np.int64) for values in (list(zip(*text, strict=True)) or ([], [])))
    r, l = (e > 0).astype(np.int64), np.ones_like(e)
    assert compare_pairs(EncodedWords.of_ids(x), r, e, l).tolist() == compare_plainly(text)
