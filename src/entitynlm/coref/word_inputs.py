"""The words of a document as the resolver reads them beside their states: form, capitals, quotation marks, sentence."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from entitynlm.discourse.discourse import NARRATION, Discourse
from entitynlm.model.encoding.preprocessing import IntArray
from entitynlm.model.encoding.tokenizer import BoolArray
from entitynlm.text.document import Document, Span

ROW = 56
"""Words in a padded row of the BiLSTM's input: training on padded rows is many times as fast as on packed sentences."""
FEWEST = 3
"""Least frequency in the training documents of words with embeddings of their own."""
SHAPES = 8
LOWER, CAPITAL, CAPITALS, NO_LETTER = range(4)
INWARD = frozenset(("'em", "'im", "'t", "'s", "’s", "”", '"', "’", "'", "''", "_"))
"""Marks that may be a mention's first or last token."""


class WordList:
    """Numbers of lower-cased words; 0 for words outside of the list."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._numbers = {word: number for number, word in enumerate(self.words, start=1)}

    def __len__(self) -> int:
        return len(self.words) + 1

    @classmethod
    def count(cls, documents: Iterable[Document], fewest: int = FEWEST) -> "WordList":
        counts = Counter(token.lower() for document in documents for token in document.tokens)
        return cls(sorted(word for word, count in counts.items() if count >= fewest))

    def number(self, tokens: Iterable[str]) -> IntArray:
        return np.array([self._numbers.get(token.lower(), 0) for token in tokens], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class WordInputs:
    """T words of a document.

    :param numbers: (T,) numbers in the word list.  :param shapes: (T,) capitals and whether a word is quoted.
    :param sentence_ends: (T,) end of each word's sentence.
    :param may_bound: (T,) words that a mention may begin or end with.
    """

    numbers: IntArray
    shapes: IntArray
    sentence_ends: IntArray
    may_bound: BoolArray

    def __len__(self) -> int:
        return len(self.numbers)

    def cut(self, start: int, stop: int) -> "WordInputs":
        """Take the words of a chunk of whole sentences."""
        own = slice(start, stop)
        ends = np.minimum(self.sentence_ends[own], stop) - start
        return WordInputs(self.numbers[own], self.shapes[own], ends, self.may_bound[own])

    @cached_property
    def rows(self) -> tuple[IntArray, IntArray]:
        """(T,) row and column of each word in the padded input: rows hold whole sentences; a long sentence fills several rows."""
        row, column = np.empty(len(self), dtype=np.int64), np.empty(len(self), dtype=np.int64)
        number = start = word = 0
        while word < len(self):
            end = min(int(self.sentence_ends[word]), word + ROW)
            if end - start > ROW:
                number, start = number + 1, word
            row[word:end], column[word:end] = number, np.arange(word - start, end - start)
            word = end
        return row, column

    def cut_chunks(self, size: int, spans: Iterable[Span] = ()) -> list[Span]:
        """Cut the words into chunks of whole sentences of about ``size`` words, without cutting through a row or a span."""
        covered = np.zeros(len(self) + 2, dtype=np.int64)
        for start, end in spans:
            covered[start + 1] += 1
            covered[end] -= 1
        opens_row = self.rows[1] == 0
        opens_sentence = np.concatenate([[True], self.sentence_ends[:-1] == np.arange(1, len(self))])
        borders = np.flatnonzero(opens_row & opens_sentence & (np.cumsum(covered)[: len(self)] == 0))
        chunks, start = [], 0
        for border in [*borders.tolist(), len(self)]:
            if border - start >= size or border == len(self) > start:
                chunks.append((start, border))
                start = border
        return chunks

    def list_spans(self, starts: BoolArray, ends: BoolArray, longest: int) -> tuple[IntArray, IntArray]:
        """List the first and last words of all spans within a sentence that begin and end at marked words."""
        first = np.flatnonzero(starts & self.may_bound)
        last = np.flatnonzero(ends & self.may_bound)
        low = np.searchsorted(last, first)
        high = np.searchsorted(last, np.minimum(self.sentence_ends[first], first + longest))
        counts = high - low
        offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.repeat(first, counts), last[np.repeat(low, counts) + offsets]


def describe_words(discourse: Discourse, words: WordList) -> WordInputs:
    document, tokens = discourse.document, discourse.document.tokens
    quoted = np.array(discourse.quotation_of) != NARRATION
    shapes = np.array([_find_shape(token) for token in tokens], dtype=np.int64)
    ends = np.array([end for start, end in document.sentences for _ in range(start, end)], dtype=np.int64)
    inward = np.array([token.lower() in INWARD for token in tokens], dtype=np.bool_)
    return WordInputs(words.number(tokens), shapes + 4 * quoted, ends, (shapes != NO_LETTER) | inward)


def _find_shape(token: str) -> int:
    if not any(character.isalnum() for character in token):
        return NO_LETTER
    if not token[0].isupper():
        return LOWER
    return CAPITALS if len(token) > 1 and token.isupper() else CAPITAL
