"""Helpers of the two bracket formats (CoNLL-2012 and CoNLL-U): crossing mentions, document names, counted oddities.

A closing bracket belongs to the bracket of the same number that was opened last, which is wrong for two mentions *of one
entity* that cross; :func:`assign_layers` finds those, so that the writers can give them labels of their own.
"""

from collections.abc import Sequence

from entitynlm.text.document import Span
from entitynlm.text.formats.base import Source


def assign_layers(spans: Sequence[Span], *, nested: bool = True) -> list[int]:
    """Give each span a layer, so that spans of one layer nest (if they may) or lie apart, and most are in layer 0.

    ``spans`` come in text order (by start, longer ones first). Spans that share only one word, the last of one and
    the first of the other, count as crossing: the official scorer opens brackets before it closes any.
    """
    layers: list[int] = []
    ends: list[list[int]] = []  # per layer, the ends of the spans around this point, the innermost last
    for start, end in spans:
        for open_ends in ends:
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
        fits = (not around or (nested and end <= around[-1]) for around in ends)
        layer = next((i for i, fit in enumerate(fits) if fit), len(ends))
        if layer == len(ends):
            ends.append([])
        ends[layer].append(end)
        layers.append(layer)
    return layers


class DocumentNames:
    """Makes the ids of a file's documents unique, because everything after the reader relies on it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._seen: dict[str, int] = {}

    def claim(self, name: str, line: int | None) -> str:
        """``name`` the first time, ``name~2`` the second time (with a report), and so on."""
        count = self._seen.get(name, 0) + 1
        self._seen[name] = count
        if count == 1:
            return name
        unique = f"{name}~{count}"
        self._source.report(f"a document {name!r} was already here; this one is called {unique!r}", line)
        return self.claim(unique, line) if unique in self._seen else unique


class OddityCounter:
    """Counts oddities that come in hundreds; reports each kind once per document, with its count and first example."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._seen: dict[str, tuple[int, int, str | None]] = {}  # count, first line, what was found there

    def add(self, kind: str, line: int, found: str | None = None) -> None:
        count, first_line, example = self._seen.get(kind, (0, line, found))
        self._seen[kind] = (count + 1, first_line, example)

    def send(self) -> None:
        for kind, (count, line, found) in self._seen.items():
            example = f": {found!r}" if found is not None else ""
            times = f" ({count} times in this document)" if count > 1 else ""
            self._source.report(kind + example + times, line)
        self._seen.clear()
