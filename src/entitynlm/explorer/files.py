"""Files that the explorer reads, and files that it writes: annotations in any writable format, and tables."""

import dataclasses
import itertools
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from entitynlm.errors import DataError
from entitynlm.explorer.texts import Text
from entitynlm.row_files import write_rows
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import get_format, read_upload, write_documents

MOST_UNPACKED = 20 << 20  # bytes: a file of a few kilobytes can unpack to gigabytes
MOST_OTHERS = 5  # documents of a file that are named, besides the one that is opened


def read_file(content: bytes, name: str) -> tuple[Document, list[str]]:
    """Read the first document of a file that is in memory, with remarks about the file."""
    remarks: list[str] = []
    documents = read_upload(
        content, name, most=MOST_UNPACKED, on_oddity=lambda oddity: remarks.append(oddity.message)
    )
    found = next(documents, None)
    if found is None:
        raise DataError("there is no document in this file", path=name, expected="a text with a word in it")
    del remarks[5:]
    others = [document.id for document in itertools.islice(documents, MOST_OTHERS)]
    if others:
        remarks.insert(0, f"this is the document {found.id}; the file also has {', '.join(others)}")
    return found, remarks


def write_annotation(document: Document, format: str) -> tuple[bytes, str]:
    """Write a document as a file; returns the file's bytes and ending."""
    suffix = get_format(format).suffix
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"out{suffix}"
        write_documents([document], path, format)
        return path.read_bytes(), suffix


def write_table(text: Text, name: str) -> bytes:
    """Write words, mentions, characters or quotations as TSV; figures that are still being measured are empty."""
    from entitynlm.api import MentionRow, TokenRow
    from entitynlm.report.page import tabulate_cast

    rows: Iterable[Any]
    if name in ("cast", "quotations"):
        kind, rows = tabulate_cast(text.document, text.version.labels)[name]
    elif text.measured is not None:
        tables = text.measured.report.tables
        kind, rows = (TokenRow, tables.tokens) if name == "tokens" else (MentionRow, tables.mentions)
    else:
        kind = TokenRow if name == "tokens" else MentionRow
        rows = list_unmeasured(text.document, kind)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.tsv"
        write_rows(rows, kind, path, "tsv")
        return path.read_bytes()


def list_unmeasured(document: Document, kind: Any) -> Iterator[Any]:
    """List words (``TokenRow``) or mentions (``MentionRow``) without surprisal, which is not measured yet."""
    empty = dict.fromkeys(column.name for column in dataclasses.fields(kind))
    if "token" in empty:
        for number, (start, end) in enumerate(document.sentences, start=1):
            for place, token in enumerate(document.tokens[start:end], start=1):
                known = {"sentence_id": number, "token_id": place, "token": token, "document": document.id}
                yield kind(**{**empty, **known})
        return
    for mention in document.mentions:
        sentence = document.sentence_of[mention.start]
        first = document.sentences[sentence][0]
        known = {
            "sentence_id": sentence + 1,
            "first_token_id": mention.start - first + 1,
            "last_token_id": mention.end - first,
            "mention": document.words(*mention.span),
            "entity": mention.entity,
            "type": document.entity_types.get(mention.entity),
            "document": document.id,
        }
        yield kind(**{**empty, **known})


def make_stem(name: str) -> str:
    """Name a file that is made from a text, in characters that every system allows."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name.split(".")[0])
    return kept.strip("-") or "text"
