"""Files that come to the explorer and go from it: uploads in any readable format, annotations in any writable one, tables."""

from __future__ import annotations

import contextlib
import gzip
import io
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from entitynlm.errors import DataError
from entitynlm.explorer.security import MOST_BYTES
from entitynlm.row_files import write_rows
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import (
    get_format,
    read_documents,
    write_documents,
)

MOST_DOCUMENTS = 100  # that are looked at in one file


class Found(NamedTuple):
    """One document of a file, and what a person should know about the file."""

    document: Document
    remarks: list[str]


@contextmanager
def store_upload(name: str, content: bytes) -> Iterator[Path]:
    """An upload as a file in a folder of its own, which goes away; of its name only harmless characters are kept."""
    safe = "".join(c if c.isalnum() or c in "._-" else "_" for c in name).lstrip(".") or "file"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / safe[-80:]
        path.write_bytes(content)
        if path.suffix == ".gz":
            _check_unpacked(path, name)
        yield path


def _check_unpacked(path: Path, name: str) -> None:
    """Refuse a packed file that unpacks to more than the limit, before it fills all memory; its reader reports other faults."""
    size = 0
    with contextlib.suppress(OSError, EOFError, zlib.error), gzip.open(path) as packed:
        while size <= MOST_BYTES and (block := packed.read(1 << 16)):
            size += len(block)
    if size > MOST_BYTES:
        raise DataError(f"it has more than {MOST_BYTES >> 20} MB when it is unpacked", path=name)


def read_one(path: Path, name: str, format: str | None = None, wanted: str | None = None) -> Found:
    """The first document of a file, or the one that is named."""
    remarks: list[str] = []
    ids: list[str] = []
    found: Document | None = None
    with _named(name):
        for document in read_documents(path, format, on_oddity=lambda oddity: remarks.append(oddity.message)):
            ids.append(document.id)
            if found is None and wanted in (None, document.id):
                found = document
            if len(ids) > MOST_DOCUMENTS:
                break
    if found is None:
        expected = f"one of {', '.join(ids[:10])}" if ids else "a text with a word in it"
        raise DataError("there is no such document in this file", path=name, expected=expected)
    del remarks[5:]
    if len(ids) > 1:
        remarks.insert(0, f"this is the document {found.id}; the file also has {', '.join(ids[1:6])}")
    return Found(found, remarks)


def restore(record: dict[str, Any]) -> Document:
    """A document of a saved state."""
    try:
        return Document.from_dict(record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"this is no saved state of the explorer ({error!r})") from error


def write_annotation(document: Document, format: str) -> tuple[bytes, str]:
    """A document as the bytes of a file, and the file's ending; a format of several files is a zip archive."""
    form = get_format(format)
    with tempfile.TemporaryDirectory() as folder:
        if form.write_folder is None:
            path = Path(folder) / f"out{form.suffix}"
            with _named(document.id):
                write_documents([document], path, format)
            return path.read_bytes(), form.suffix
        write_documents([document], folder, format)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).rglob("*")):
                if path.is_file():
                    archive.write(path, path.relative_to(folder))
        return packed.getvalue(), f".{format}.zip"


def write_table(tables: Any, name: str) -> bytes:
    """Surprisal rows as TSV."""
    from entitynlm.api import MentionRow, TokenRow

    rows, kind = (tables.tokens, TokenRow) if name == "tokens" else (tables.mentions, MentionRow)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.tsv"
        write_rows(rows, kind, path, "tsv")
        return path.read_bytes()


def make_stem(name: str) -> str:
    """What a file made from a text is called, in characters that every system allows."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name.split(".")[0])
    return kept.strip("-") or "text"


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Errors name a file as people know it, not our copy of it."""
    try:
        yield
    except DataError as error:
        if error.path is not None:
            error.path = name
        raise
