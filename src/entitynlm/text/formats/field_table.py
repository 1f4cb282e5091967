"""Rows of tab-separated fields whose columns are cut out whole, because a split of every row takes several times as long."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from entitynlm.text.document import Span

Places = NDArray[np.intp]
NEWLINE, TAB, ZERO = b"\n\t0"


@dataclass(frozen=True)
class FieldTable:
    """The fields of some rows in one array of bytes.

    :param ends: where each field and each empty line ends.
    :param first: per row, the index in ``ends`` of its first field; ``last`` of its last one.
    :param lines: per row, the number of its line, from 0.
    :param sentences: rows between empty lines.
    """

    codes: NDArray[np.uint8]
    ends: Places
    first: Places
    last: Places
    lines: Places
    sentences: tuple[Span, ...]

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

    def ends_in(self, signs: bytes) -> NDArray[np.bool_]:
        """Tell of each row whether its last field is one of these characters."""
        ends = self.ends[self.last]
        short = ends - self.ends[self.last - 1] == 2
        return short & np.isin(self.codes[ends - 1], np.frombuffer(signs, dtype=np.uint8))

    def has_empty_field(self) -> bool:
        """Tell whether a field has no character; an empty line is none."""
        fields = np.ones(len(self.ends), dtype=bool)
        fields[1:] = self.codes[self.ends[:-1]] == TAB  # what follows a line break may be an empty line
        fields[self.first] = True
        starts = np.concatenate([[0], self.ends[:-1] + 1])
        return bool((fields & (starts == self.ends)).any())

    def counts_words(self, column: int) -> bool:
        """Tell whether a column counts the rows of each sentence: 0, 1, 2, …, at most 999."""
        ends, starts = self.ends[self.first + column], self.ends[self.first + column - 1] + 1
        lengths = ends - starts
        if not len(lengths) or not 1 <= lengths.min() <= lengths.max() <= 3:
            return False
        found = np.zeros(len(ends), dtype=np.intp)
        for place in range(3):
            digits = self.codes[ends - 1 - place] - np.uint8(ZERO)  # wraps round for what is less than 0
            if ((place < lengths) & (digits > 9)).any():
                return False
            found += np.where(place < lengths, digits, 0).astype(np.intp) * 10**place
        bounds = np.array(self.sentences)
        counted = np.arange(len(ends)) - np.repeat(bounds[:, 0], bounds[:, 1] - bounds[:, 0])
        return bool((found == counted).all())

    def has_even_sentences(self) -> bool:
        """Tell whether all rows of each sentence have the same number of fields."""
        changes = np.flatnonzero(np.diff(self.widths)) + 1
        return {start for start, _ in self.sentences}.issuperset(changes.tolist())


def find_fields(rows: bytes) -> FieldTable:
    """Find the fields of rows that end in a line break each; empty lines part sentences."""
    codes = np.frombuffer(rows, dtype=np.uint8)
    ends = np.flatnonzero((codes == NEWLINE) | (codes == TAB))
    last = np.flatnonzero(codes[ends] == NEWLINE)
    first = np.concatenate([[0], last[:-1] + 1])
    starts = np.concatenate([[0], ends[last[:-1]] + 1])
    filled = ends[last] > starts
    before = np.cumsum(filled)[~filled].tolist()  # rows before each empty line
    lines = np.flatnonzero(filled)
    bounds = pairwise([0, *before, len(lines)])
    sentences = tuple((start, end) for start, end in bounds if start < end)
    return FieldTable(codes, ends, first[filled], last[filled], lines, sentences)
