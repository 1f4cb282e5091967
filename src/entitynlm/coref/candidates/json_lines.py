"""Files with one JSON object a line, one line a document: every complaint names the file and the line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from entitynlm.errors import DataError
from entitynlm.files import decode_lines, open_binary, write_atomically
from entitynlm.text.document import Document, Span

SHOWN = 60  # characters of a faulty value


@dataclass(frozen=True)
class Line:
    """One parsed line; ``document`` is the text of its ``doc_id`` where texts were given."""

    path: str
    number: int
    row: Mapping[str, Any]
    document: Document | None = None

    @property
    def doc_id(self) -> str:
        return str(self.row["doc_id"])

    def fail(
        self, message: str, found: Any = None, expected: str | None = None, hint: str | None = None
    ) -> DataError:
        """The error to raise about this line; ``found`` is shown as JSON."""
        shown = None if found is None else json.dumps(found, ensure_ascii=False)[:SHOWN]
        return DataError(message, path=self.path, line=self.number, found=shown, expected=expected, hint=hint)

    def check_span(self, value: Any, name: str) -> Span:
        """A half-open span within the document."""
        if not (isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value)):
            raise self.fail(f"{name} is not a span", value, "[start, end]")
        start, end = value
        size = math.inf if self.document is None else len(self.document)
        if not 0 <= start < end <= size:
            within = f" within the {size} tokens of {self.doc_id!r}" if self.document is not None else ""
            raise self.fail(f"{name} is impossible", value, f"a half-open range [start, end]{within}")
        return start, end

    def check_score(self, value: Any, name: str) -> float:
        """A finite number."""
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
            raise self.fail(f"the score of {name} is not a finite number", value)
        return float(value)


def read_lines(
    path: str | Path, documents: Mapping[str, Document] | None, fields: Sequence[str]
) -> Iterator[Line]:
    """Stream the objects of a file, which have at least these fields and each a ``doc_id`` of its own.

    :param documents: the texts by id; if given, every line must speak of one of them.
    """
    name = str(path)
    seen: dict[str, int] = {}
    with open_binary(path) as stream:
        for number, text in decode_lines(stream, name):
            if not text.strip():
                continue
            line = _parse_line(text, name, number, ("doc_id", *fields))
            if line.doc_id in seen:
                raise line.fail(f"document {line.doc_id!r} was already in line {seen[line.doc_id]}")
            seen[line.doc_id] = number
            if documents is None:
                yield line
            elif line.doc_id in documents:
                yield replace(line, document=documents[line.doc_id])
            else:
                known = ", ".join(list(documents)[:5]) + (", …" if len(documents) > 5 else "")
                message = (
                    f"document {line.doc_id!r} is not one of the {len(documents)} documents of the corpus"
                )
                raise line.fail(message, expected=known)


def _parse_line(text: str, path: str, number: int, fields: Sequence[str]) -> Line:
    try:
        row = json.loads(text)
    except ValueError as error:
        raise DataError(f"this is not JSON ({error})", path=path, line=number, found=text[:SHOWN]) from error
    if not isinstance(row, dict):
        raise DataError("this is not a JSON object", path=path, line=number, found=text[:SHOWN])
    line = Line(path, number, row)
    if missing := [field for field in fields if field not in row]:
        raise line.fail(f"the field {missing[0]!r} is missing", list(row), ", ".join(fields))
    if not isinstance(row["doc_id"], str) or not row["doc_id"]:
        raise line.fail("the doc_id is not a name", row["doc_id"])
    return line


def write_lines(rows: Iterable[Mapping[str, Any]], path: str | Path) -> None:
    """Write one JSON object a line, the whole file or nothing."""
    with write_atomically(path) as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n")
