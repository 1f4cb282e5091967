"""InScript stories as distributed by Modi et al."""

from __future__ import annotations

from collections.abc import Iterator

from entitynlm.data.document import Document
from entitynlm.data.formats.base import Format, Source


def recognise(path: str, sample: bytes) -> bool:
    """By name for now."""
    return path.removesuffix(".gz").endswith(".txt.drs")


def read(source: Source) -> Iterator[Document]:
    """One document of whitespace-separated words per line."""
    for number, line in source.lines():
        if words := tuple(line.split()):
            yield Document(f"{source.stem}#{number}", words)


FORMAT = Format(name="inscript", description="InScript stories as distributed by Modi et al.", suffix=".txt.drs", recognise=recognise, read=read)
