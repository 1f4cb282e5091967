"""Words, rows, blocks and candidate spans of the end-to-end resolver."""

import numpy as np
import pytest

from entitynlm.coref import word_inputs
from entitynlm.coref.word_inputs import CAPITAL, CAPITALS, LOWER, NO_LETTER, WordList, describe_words
from entitynlm.discourse.discourse import read_discourse
from entitynlm.text.document import Document


def make_document(lengths: list[int]) -> Document:
    ends = np.cumsum(lengths).tolist()
    tokens = tuple(f"w{number}" for number in range(ends[-1]))
    return Document("d", tokens, tuple(zip([0, *ends[:-1]], ends, strict=True)))


def test_words_that_are_rare_have_no_number() -> None:
    document = Document("d", tuple("The dog saw the the cat , dog".split()))
    words = WordList.count([document], fewest=2)
    assert words.words == ("dog", "the") and len(words) == 3
    assert words.number(["THE", "cat", "dog"]).tolist() == [2, 0, 1]


def test_capitals_marks_and_quotations_are_seen() -> None:
    document = Document("d", ("“", "Anna", "USA", ",", "”", "he", "said"))
    words = describe_words(read_discourse(document), WordList(()))
    assert (words.shapes % 4).tolist() == [NO_LETTER, CAPITAL, CAPITALS, NO_LETTER, NO_LETTER, LOWER, LOWER]
    assert (words.shapes >= 4).tolist() == [True, True, True, True, True, False, False]
    assert not words.may_bound[3] and words.may_bound[5]


def test_spans_are_those_within_a_sentence_that_begin_and_end_as_wanted() -> None:
    words = describe_words(read_discourse(make_document([4, 3])), WordList(()))
    starts = np.array([1, 0, 1, 0, 1, 1, 0], dtype=bool)
    ends = np.array([1, 1, 0, 1, 0, 1, 1], dtype=bool)
    first, last = words.list_spans(starts, ends, 3)
    bound = {
        (a, b)
        for a in range(7)
        for b in range(a, min(a + 3, 7))
        if starts[a] and ends[b] and (a < 4) == (b < 4)
    }
    assert set(zip(first.tolist(), last.tolist(), strict=True)) == bound


def test_rows_are_of_whole_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_inputs, "ROW", 6)
    words = describe_words(read_discourse(make_document([3, 2, 4, 8, 1])), WordList(()))
    row, column = words.rows
    assert row.tolist() == [0] * 5 + [1] * 4 + [2] * 6 + [3] * 3
    assert column.tolist() == [*range(5), *range(4), *range(6), *range(3)]


def test_blocks_cut_no_row_and_no_given_mention(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_inputs, "ROW", 6)
    words = describe_words(read_discourse(make_document([3, 2, 4, 8, 1, 5])), WordList(()))
    assert words.cut_chunks(100) == [(0, 23)]
    assert words.cut_chunks(1) == [(0, 5), (5, 9), (9, 18), (18, 23)]
    assert words.cut_chunks(1, [(4, 6), (17, 19)]) == [(0, 9), (9, 23)]
    whole = words.rows
    for start, stop in words.cut_chunks(1):
        part = words.cut(start, stop).rows
        assert part[1].tolist() == whole[1][start:stop].tolist()
