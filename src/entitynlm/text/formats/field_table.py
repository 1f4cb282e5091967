"""Rows of tab-separated fields whose columns are cut out whole, because a split of every row takes several times as long."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from entitynlm.text.document import Span

Places = NDArray[np.intp]
NEWLINE, TAB, ZERO = b"\n\t0"
MOST_NUMBERED = 1000  # rows of a sentence whose word numbers are compared
WORD_NUMBERS = (
    np.array([f"{number:>3}".encode() for number in range(MOST_NUMBERED)]).view(np.uint8).reshape(-1, 3)
)
NUMBER_LENGTHS = (WORD_NUMBERS > ZERO - 1).sum(axis=1)


@dataclass(frozen=True)
class FieldTable:
    """The fields of some rows in one array of bytes.

    :param ends: where each field and each empty line ends.
    :param first: per row, the index in ``ends`` of its first field; ``last`` of its last one.
    :param lines: per row, the number of its line, from 0.
    :param sentences: rows between empty lines.
    :param line_count: lines with a row and empty ones.
    """

    codes: NDArray[np.uint8]
    ends: Places
    first: Places
    last: Places
    lines: Places
    sentences: tuple[Span, ...]
    line_count: int

    @property
    def widths(self) -> Places:
        return self.last - self.first + 1

    def cut(self, first: Places, last: Places) -> list[str]:
        """Cut out the fields from ``first`` to ``last``, one run per row; none of them may be the first of its row."""
        if not len(first):
            return []
        starts = self.ends[first - 1] + 1
        lengths = self.ends[last] - starts + 1
        behind = np.cumsum(lengths)
        places = np.repeat(starts - behind + lengths, lengths)
        places += np.arange(len(places))
        codes = self.codes[places]
        codes[behind - 1] = NEWLINE
        return codes.tobytes().decode().split("\n")[:-1]

    def ends_in(self, signs: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Tell of each row whether its last field is one character, and one whose code is set in ``signs``."""
        ends = self.ends[self.last]
        short = ends - self.ends[self.last - 1] == 2
        return short & signs[self.codes[ends - 1]]

    def has_empty_field(self) -> bool:
        """Tell whether a field has no character; an empty line is none."""
        nothing = np.count_nonzero(np.diff(self.ends) == 1) + int(self.ends[0] == 0)
        return bool(nothing > self.line_count - len(self.first))

    def counts_words(self, column: int) -> bool:
        """Tell whether a column counts the rows of each sentence: 0, 1, 2, …, at most 999."""
        ends, before = self.ends[self.first + column], self.ends[self.first + column - 1]
        bounds = np.array(self.sentences)
        counted = np.arange(len(ends)) - np.repeat(bounds[:, 0], bounds[:, 1] - bounds[:, 0])
        if counted.max() >= MOST_NUMBERED or (ends - before - 1 != NUMBER_LENGTHS[counted]).any():
            return False
        for place in (1, 2, 3):  # from the right
            if (self.codes[ends - place] != WORD_NUMBERS[counted, 3 - place]).any():
                return False
            longer = counted >= 10**place
            ends, counted = ends[longer], counted[longer]
        return True

    def has_even_sentences(self) -> bool:
        """Tell whether all rows of each sentence have the same number of fields."""
        changes = np.flatnonzero(np.diff(self.widths)) + 1
        return {start for start, _ in self.sentences}.issuperset(changes.tolist())


def find_fields(rows: bytes) -> FieldTable:
    """Find the fields of rows that end in a line break each; empty lines part sentences."""
    codes = np.frombuffer(rows, dtype=np.uint8)
    ends = np.flatnonzero(codes - np.uint8(TAB) < 2)  # a line break is the sign after a tab
    last = np.flatnonzero(codes[ends] == NEWLINE)
    first = np.concatenate([[0], last[:-1] + 1])
    starts = np.concatenate([[0], ends[last[:-1]] + 1])
    filled = ends[last] > starts
    before = np.cumsum(filled)[~filled].tolist()  # rows before each empty line
    lines = np.flatnonzero(filled)
    bounds = pairwise([0, *before, len(lines)])
    sentences = tuple((start, end) for start, end in bounds if start < end)
    return FieldTable(codes, ends, first[filled], last[filled], lines, sentences, len(last))
