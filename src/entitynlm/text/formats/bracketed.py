"""Helpers of the two bracket formats (CoNLL-2012 and CoNLL-U): crossing mentions, document names, counted oddities.

A closing bracket is matched with the last opened bracket of the same number, which is wrong for two crossing mentions *of one
entity*; :func:`find_layers` finds these, so that the writers can give them different labels.
"""

from entitynlm.text.document import Document
from entitynlm.text.formats.base import Source


def find_layers(document: Document) -> list[int]:
    """Assign each mention to a layer, so that mentions of one entity and layer do not cross, and most are in layer 0.

    Mentions that share only one word, the last of one and the first of the other, count as crossing: the official scorer opens
    brackets before it closes any.
    """
    layers: list[int] = []
    # per entity and layer, ends of mentions around this point, the innermost last
    open_ends: dict[str, list[list[int]]] = {}
    for mention in document.mentions:
        own = open_ends.setdefault(mention.entity, [])
        for ends in own:
            while ends and ends[-1] <= mention.start:
                ends.pop()
        layer = next((i for i, ends in enumerate(own) if not ends or mention.end <= ends[-1]), len(own))
        if layer == len(own):
            own.append([])
        own[layer].append(mention.end)
        layers.append(layer)
    return layers


class DocumentNames:
    """Makes the ids of a file's documents unique, because everything after the reader relies on it."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._seen: dict[str, int] = {}

    def claim(self, name: str, line: int | None) -> str:
        """Make a name unique: ``name`` the first time, ``name~2`` the second time (with a report), and so on."""
        count = self._seen.get(name, 0) + 1
        self._seen[name] = count
        if count == 1:
            return name
        unique = f"{name}~{count}"
        self._source.report(f"a document {name!r} was already here; this one is called {unique!r}", line)
        return self.claim(unique, line) if unique in self._seen else unique


class OddityCounter:
    """Counts frequent oddities; reports each kind once per document, with its count and first example."""

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
