"""Checking files: whether they can be read, and what is odd in them.

A reader reports what it had to repair; :func:`find_oddities` adds what only the whole document shows: spans annotated twice,
mentions that cross each other or a sentence end, documents without words.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from entitynlm.errors import DataError, EntityNLMError
from entitynlm.text.document import Document, Span
from entitynlm.text.formats.base import Oddity
from entitynlm.text.formats.registry import read_documents

LISTED = 10  # entities of one span
KEPT_PER_FILE = 1000  # a damaged file of a gigabyte has millions of oddities; the rest is only counted


@dataclass
class FileReport:
    """The documents read from one file, its oddities, and the error that ended the reading, if any."""

    path: str
    documents: int = 0
    oddities: list[Oddity] = field(default_factory=list)
    unlisted: int = 0
    error: EntityNLMError | None = None

    @property
    def oddity_count(self) -> int:
        return len(self.oddities) + self.unlisted

    def add(self, oddity: Oddity) -> None:
        if len(self.oddities) < KEPT_PER_FILE:
            self.oddities.append(oddity)
        else:
            self.unlisted += 1

    def as_json(self) -> dict[str, Any]:
        error = self.error
        return {
            "path": self.path,
            "documents": self.documents,
            "oddities": [{"line": oddity.line, "message": oddity.message} for oddity in self.oddities],
            "unlisted_oddities": self.unlisted,
            "error": str(error) if error else None,
            "error_line": error.line if isinstance(error, DataError) else None,
        }


def check_files(paths: Iterable[str | Path], *, format: str | None = None) -> Iterator[FileReport]:
    """Read each file to its end or to what can't be read; one bad file does not stop the others."""
    seen: dict[str, str] = {}  # the file in which each document was first
    for path in paths:
        report = FileReport(str(path))
        try:
            for document in read_documents(path, format, on_oddity=report.add):
                report.documents += 1
                for message in find_oddities(document):
                    report.add(Oddity(report.path, None, f"document {document.id!r}: {message}"))
                if document.id in seen:
                    place = seen[document.id] if seen[document.id] != report.path else "this file"
                    report.add(Oddity(report.path, None, f"document {document.id!r} was in {place} already"))
                seen.setdefault(document.id, report.path)
        except EntityNLMError as error:
            report.error = error
        else:
            if not report.documents:
                report.add(Oddity(report.path, None, "there is no document in this file"))
        yield report


def find_oddities(document: Document) -> Iterator[str]:
    """Find oddities of a document's annotation that no single line shows."""
    if not document.tokens:
        yield "it has no words"
    entities_of: dict[Span, list[str]] = {}
    for mention in document.mentions:
        entities_of.setdefault(mention.span, []).append(mention.entity)
    for (start, end), entities in entities_of.items():
        if len(entities) > 1:
            shown = " and ".join(entities[:LISTED]) + (" …" if len(entities) > LISTED else "")
            yield f"{_quote(document, start, end)} is annotated more than once, as {shown}"
    for first, second in find_crossings(entities_of):
        yield f"{_quote(document, *first)} and {_quote(document, *second)} cross each other"
    for start, end in entities_of:
        if document.sentence_of[start] != document.sentence_of[end - 1]:
            yield f"{_quote(document, start, end)} crosses a sentence end"


def find_crossings(spans: Iterable[Span]) -> Iterator[tuple[Span, Span]]:
    """List pairs of spans that overlap without one lying in the other; ``spans`` are distinct and come in text order.

    Only spans that cross are looked at, so that the time grows with what is reported and not with how deep spans nest.
    """
    open_spans: list[tuple[int, int]] = []  # end and start, by end
    for start, end in spans:
        del open_spans[: bisect_right(open_spans, (start, end))]
        for other_end, other_start in open_spans[: bisect_left(open_spans, (end, 0))]:
            if other_start < start:
                yield (other_start, other_end), (start, end)
        insort(open_spans, (end, start))


def _quote(document: Document, start: int, end: int) -> str:
    words = " ".join(document.tokens[start : min(end, start + 6)])
    return f"'{words}{' …' if end - start > 6 else ''}' (tokens {start} to {end})"
