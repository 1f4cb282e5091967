"""A quick way to read regular CoNLL-2012 files for scoring: words, sentences and coreference, and no other column.

Scoring needs two of a file's dozen columns, and reading them all takes ten times as long as scoring. This reader takes a
document's rows at once and gives up (None) at the first thing that is not plain: then ``conll2012_reader`` reads the file, with
all of its care and all of its messages. What it does read is what that one would read (a test holds the two together).
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, repeat
from pathlib import Path

from entitynlm.data.document import Document, Mention, Span
from entitynlm.data.formats.conll2012_reader import (
    BEGIN,
    BRACKET,
    END,
    FIRST_COLUMN,
    NO_MENTION,
    make_id,
    parse_header,
)

Cell = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


class _NotPlain(Exception):
    """Something that the careful reader has to look at."""


def read_quickly(path: str | Path) -> list[Document] | None:
    """The documents of a file, or None if it is not plain CoNLL-2012."""
    path = Path(path)
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return None
    if not BEGIN.match(text[: text.find("\n")]) or "\r" in text:
        return None
    try:
        documents = [_read_document(lines) for lines in _cut_documents(text)]
    except _NotPlain:
        return None
    return documents if len({document.id for document in documents}) == len(documents) else None


def _cut_documents(text: str) -> Iterable[Sequence[str]]:
    """The lines of each document without its '#end document'; nothing may stand between documents."""
    pieces = text[1:].split("\n#")  # 'begin document …', 'end document', 'begin document …', …
    if len(pieces) % 2:
        raise _NotPlain
    for begin, end in zip(pieces[::2], pieces[1::2], strict=True):
        if not END.match("#" + end.rstrip()) or "\n" in end.rstrip():
            raise _NotPlain
        yield ("#" + begin).split("\n")


def _read_document(lines: Sequence[str]) -> Document:
    begin = BEGIN.match(lines[0])
    if begin is None:
        raise _NotPlain
    name, part = parse_header(begin[1])
    if not name:
        raise _NotPlain
    rows, sentences = _cut_sentences(lines)
    words, cells = _split_tabs(rows) if rows and "\t" in rows[0] else _split_blanks(rows, sentences)
    return Document(
        id=make_id(name, part),
        tokens=tuple(words),
        sentences=sentences,
        mentions=tuple(_read_mentions(cells)),
        meta={"name": name, "part": part} if part else {"name": name},
    )


def _cut_sentences(lines: Sequence[str]) -> tuple[list[str], tuple[Span, ...]]:
    rows = [line for line in lines[1:] if line]
    blanks = [number for number, line in enumerate(lines) if not line]
    places = [0, *(blank - 1 - before for before, blank in enumerate(blanks)), len(rows)]
    return rows, tuple((start, end) for start, end in pairwise(places) if start < end)


def _split_tabs(rows: Sequence[str]) -> tuple[list[str], list[str]]:
    """Words and last cells of tab-separated rows, all of one width."""
    widths = set(map(str.count, rows, repeat("\t")))
    if len(widths) > 1 or min(widths) < FIRST_COLUMN:
        raise _NotPlain
    starts = [row.split("\t", FIRST_COLUMN) for row in rows]
    words, numbers = [start[3] for start in starts], [start[2] for start in starts]
    cells = [row[row.rfind("\t") + 1 :] for row in rows]
    if "" in words or "" in numbers or "" in cells or " " in "".join(rows):
        raise _NotPlain
    _check_numbers("".join(numbers))
    return words, cells


def _split_blanks(rows: Sequence[str], sentences: Sequence[Span]) -> tuple[list[str], list[str]]:
    """The same of rows separated by blanks, whose width may change from sentence to sentence."""
    if not all(map(str.isascii, rows)):
        raise _NotPlain
    fields = [row.split() for row in rows]
    widths = list(map(len, fields))
    for start, end in sentences:
        if widths[start] <= FIRST_COLUMN or widths[start:end] != [widths[start]] * (end - start):
            raise _NotPlain
    _check_numbers("".join([row[2] for row in fields]))
    return [row[3] for row in fields], [row[-1] for row in fields]


def _check_numbers(text: str) -> None:
    if text and not (text.isascii() and text.isdecimal()):
        raise _NotPlain


@lru_cache(maxsize=1 << 16)
def _parse_cell(cell: str) -> Cell:
    """Labels of one-word mentions, of those that open, and of those that close."""
    found = BRACKET.findall(cell)
    return (
        tuple(single for single, _, _ in found if single.strip()),
        tuple(opened.strip() for _, opened, _ in found if opened),
        tuple(closed.strip() for _, _, closed in found if closed),
    )


def _read_mentions(cells: Sequence[str]) -> Iterable[Mention]:
    """Mentions from the coreference column: what opens at a word is opened before anything is closed."""
    stacks: dict[str, list[int]] = {}
    for token, cell in enumerate(cells):
        if cell == "-" or cell in NO_MENTION:
            continue
        singles, opened, closed = _parse_cell(cell)
        for label in singles:
            yield Mention(token, token + 1, label.strip())
        for label in opened:
            stacks.setdefault(label, []).append(token)
        for label in closed:
            stack = stacks.get(label)
            if stack:
                start = stack.pop()
                if label:
                    yield Mention(start, token + 1, label)
