"""Files that go from the explorer: annotations in any writable format, tables, saved states."""

from __future__ import annotations

import io
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from entitynlm.errors import DataError
from entitynlm.row_files import write_rows
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import get_format, write_documents


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
    """Name a file that is made from a text, in characters that every system allows."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name.split(".")[0])
    return kept.strip("-") or "text"
