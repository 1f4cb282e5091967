"""A quick way to read regular CoNLL-2012 files for scoring: words, sentences and coreference, and no other column.

Scoring needs two of a file's dozen columns, and reading them all takes ten times as long as scoring. This reader looks for the
borders of all fields of a document at once, cuts out the words and the few coreference cells that say something, and gives up
(None) at the first thing that is not plain: then ``conll2012_reader`` reads the file, with all of its care and all of its
messages. What it does read is what that one would read (a test holds the two together).
"""

from __future__ import annotations

import gzip
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from entitynlm.data.document import Document, Mention, Span
from entitynlm.data.formats.conll2012_reader import (
    BEGIN,
    BRACKET,
    END,
    FIRST_COLUMN,
    make_id,
    parse_header,
)

Cell = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
NEWLINE, TAB, BLANK = b"\n\t "
HYPHEN, UNDERLINE, STAR = b"-_*"  # each of them says "no mention"
CONTROL = bytes(byte for byte in range(32) if byte not in b"\n\t")


class _NotPlain(Exception):
    """Something that the careful reader has to look at."""


def read_quickly(path: str | Path) -> list[Document] | None:
    """The documents of a file, or None if it is not plain CoNLL-2012."""
    path = Path(path)
    try:
        data = path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        data.decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError):
        return None
    if not data.startswith(b"#") or len(data.translate(None, CONTROL)) != len(data):
        return None
    try:
        documents = [_read_document(header, rows) for header, rows in _cut_documents(data)]
    except _NotPlain:
        return None
    return documents if len({document.id for document in documents}) == len(documents) else None


def _cut_documents(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The first line and the rows of each document; nothing may stand between documents."""
    pieces = data[1:].split(b"\n#")  # 'begin document …', 'end document', 'begin document …', …
    if len(pieces) % 2:
        raise _NotPlain
    for begin, end in zip(pieces[::2], pieces[1::2], strict=True):
        last = end.decode().rstrip()
        if not END.match("#" + last) or "\n" in last:
            raise _NotPlain
        header, _, rows = begin.partition(b"\n")
        yield "#" + header.decode(), rows


def _read_document(header: str, rows: bytes) -> Document:
    begin = BEGIN.match(header)
    if begin is None:
        raise _NotPlain
    name, part = parse_header(begin[1])
    if not name:
        raise _NotPlain
    table = _find_fields(rows)
    return Document(
        id=make_id(name, part),
        tokens=_cut_words(table),
        sentences=table.sentences,
        mentions=tuple(_read_mentions(_cut_cells(table))),
        meta={"name": name, "part": part} if part else {"name": name},
    )


@dataclass(frozen=True)
class _Table:
    """Where the fields of a document's rows lie.

    :param starts: the first byte of every field; ``ends`` is one behind the last.
    :param first: of every row, the number of its first field; ``last``, of its last one.
    """

    data: bytes
    starts: Places
    ends: Places
    first: Places
    last: Places
    sentences: tuple[Span, ...]


def _find_fields(data: bytes) -> _Table:
    """Fields between tabs, of which none may be empty, or between runs of blanks; rows of a sentence have one width."""
    data += b"\n"
    tabs = TAB in data
    if tabs and BLANK in data:
        raise _NotPlain
    codes = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(codes <= BLANK)  # whatever separates
    starts = np.empty_like(ends)
    starts[0] = 0
    np.add(ends[:-1], 1, out=starts[1:])
    breaks = codes[ends] == NEWLINE
    fields = ends > starts
    before = np.cumsum(fields)[breaks]  # fields up to the end of each line
    if not fields.all():
        if tabs and not _are_blank_lines(breaks, fields):
            raise _NotPlain
        starts, ends = starts[fields], ends[fields]
    widths = np.diff(before, prepend=0)
    filled = widths > 0
    widths, last = widths[filled], before[filled] - 1
    blanks = np.cumsum(filled)[~filled].tolist()  # rows before each blank line
    sentences = tuple((start, end) for start, end in pairwise([0, *blanks, len(last)]) if start < end)
    _check_widths(widths, sentences)
    return _Table(data, starts, ends, last + 1 - widths, last, sentences)


def _are_blank_lines(breaks: Flags, fields: Flags) -> bool:
    """Whether what is empty between separators is a line, and not a field."""
    empty = np.flatnonzero(~fields)
    return bool(breaks[empty].all() and breaks[empty[empty > 0] - 1].all())


def _check_widths(widths: Places, sentences: Sequence[Span]) -> None:
    if not len(widths):
        return
    opening = np.array([start for start, _ in sentences])
    wanted = np.repeat(widths[opening], np.diff(opening, append=len(widths)))
    if widths.min() <= FIRST_COLUMN or not np.array_equal(widths, wanted):
        raise _NotPlain


def _cut_out(table: _Table, fields: Places) -> bytes:
    """Some fields of a table, each with a line break behind it."""
    starts = table.starts[fields]
    lengths = table.ends[fields] - starts + 1
    behind = np.cumsum(lengths)
    places = np.repeat(starts - behind + lengths, lengths)
    places += np.arange(len(places))
    codes = np.frombuffer(table.data, dtype=np.uint8)[places]
    codes[behind - 1] = NEWLINE
    return codes.tobytes()


def _cut_words(table: _Table) -> tuple[str, ...]:
    numbers = _cut_out(table, table.first + 2)
    if numbers and not numbers.translate(None, b"\n").isdigit():
        raise _NotPlain
    return tuple(_cut_out(table, table.first + 3).decode().split("\n")[:-1])


def _cut_cells(table: _Table) -> Iterator[tuple[int, str]]:
    """(word, cell) wherever the coreference column says something."""
    codes = np.frombuffer(table.data, dtype=np.uint8)
    starts = table.starts[table.last]
    letters = codes[starts]
    nothing = (letters == HYPHEN) | (letters == UNDERLINE) | (letters == STAR)
    nothing &= table.ends[table.last] - starts == 1
    words = np.flatnonzero(~nothing)
    return zip(words.tolist(), _cut_out(table, table.last[words]).decode().split("\n"), strict=False)


@lru_cache(maxsize=1 << 16)
def _parse_cell(cell: str) -> Cell:
    """Labels of one-word mentions, of those that open, and of those that close."""
    found = BRACKET.findall(cell)
    return (
        tuple(single.strip() for single, _, _ in found if single.strip()),
        tuple(opened.strip() for _, opened, _ in found if opened),
        tuple(closed.strip() for _, _, closed in found if closed),
    )


def _read_mentions(cells: Iterable[tuple[int, str]]) -> list[Mention]:
    """Mentions from the coreference column: what opens at a word is opened before anything is closed."""
    mentions: list[Mention] = []
    stacks: dict[str, list[int]] = defaultdict(list)
    for token, cell in cells:
        singles, opened, closed = _parse_cell(cell)
        for label in singles:
            mentions.append(Mention(token, token + 1, label))
        for label in opened:
            stacks[label].append(token)
        for label in closed:
            stack = stacks[label]
            if stack:
                start = stack.pop()
                if label:
                    mentions.append(Mention(start, token + 1, label))
    return mentions
