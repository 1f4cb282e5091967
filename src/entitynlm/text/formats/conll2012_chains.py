"""A fast reader of regular CoNLL-2012 files for scoring: words, sentences and coreference chains, and no other column.

The full reader (``conll2012``) takes ten times as long as scoring does. This one gives up (``None``) at the first irregularity,
so that the full reader reads the file with its checks and messages; a test compares the two.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from entitynlm.errors import DataError
from entitynlm.files import STANDARD, open_binary
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.conll2012 import BEGIN, END, FIRST_COLUMN, make_id, parse_cell, parse_header

Positions = NDArray[np.intp]
NEWLINE, TAB, BLANK = b"\n\t "
MEANS_NO_MENTION = np.array([code in b"-_*" for code in range(256)])
CONTROL = bytes(byte for byte in range(32) if byte not in b"\n\t")


class _Irregular(Exception):
    """Something that the full reader has to look at."""


@dataclass(frozen=True)
class ChainedText:
    """What a scorer needs of a document; ``chains`` are the spans of each entity in the order in which they end."""

    id: str
    tokens: tuple[str, ...]
    sentences: tuple[Span, ...]
    chains: Mapping[str, Sequence[Span]]
    name: str
    part: str

    def __len__(self) -> int:
        return len(self.tokens)

    def to_document(self) -> Document:
        return Document(
            id=self.id,
            tokens=self.tokens,
            sentences=self.sentences,
            mentions=tuple(Mention(*span, entity) for entity, spans in self.chains.items() for span in spans),
            meta={"name": self.name, "part": self.part} if self.part else {"name": self.name},
        )


def read_chains(path: str | Path) -> list[ChainedText] | None:
    """The texts of a file, or ``None`` if it is not regular CoNLL-2012."""
    if str(path) == STANDARD:  # can be read once, and not by two readers
        return None
    try:
        with open_binary(path) as stream:
            data = stream.read()
        data.decode("utf-8")
        texts = [_read_text(header, rows) for header, rows in _split_documents(data)]
    except (DataError, OSError, EOFError, zlib.error, UnicodeDecodeError, _Irregular):
        return None
    return texts if len({text.id for text in texts}) == len(texts) else None


def _split_documents(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The first line and the rows of each document; nothing may stand between documents."""
    pieces = data[1:].split(b"\n#")  # 'begin document …', 'end document', 'begin document …', …
    if not data.startswith(b"#") or len(pieces) % 2:
        raise _Irregular
    for begin, end in zip(pieces[::2], pieces[1::2], strict=True):
        last = end.decode().rstrip()
        header, _, rows = begin.partition(b"\n")
        if not END.match("#" + last) or "\n" in last or b"\r" in header:
            raise _Irregular
        yield "#" + header.decode(), rows


def _read_text(header: str, rows: bytes) -> ChainedText:
    begin = BEGIN.match(header)
    name, part = parse_header(begin[1]) if begin else ("", "")
    if not name:
        raise _Irregular
    table = _find_fields(rows if BLANK not in rows else _set_tabs(rows))
    chains = _find_chains(_cut_cells(table))
    return ChainedText(make_id(name, part), _cut_words(table), table.sentences, chains, name, part)


def _set_tabs(rows: bytes) -> bytes:
    """Rows whose columns are separated by runs of blanks, with tabs in their place."""
    if TAB in rows or len(rows.translate(None, CONTROL)) != len(rows):
        raise _Irregular
    return b"\n".join([b"\t".join(row.split()) for row in rows.split(b"\n")])


@dataclass(frozen=True)
class _Table:
    """The ends of all fields and blank lines, and for each row the indices there of its first and its last field."""

    codes: NDArray[np.uint8]
    ends: Positions
    first: Positions
    last: Positions
    sentences: tuple[Span, ...]


def _find_fields(data: bytes) -> _Table:
    """Find all fields at once; none may be empty, and the rows of a sentence must have the same width."""
    codes = np.frombuffer(data + b"\n", dtype=np.uint8)
    ends = np.flatnonzero(codes <= BLANK)
    kinds = codes[ends]
    breaks = kinds == NEWLINE
    last = np.flatnonzero(breaks)
    first = np.concatenate([[0], last[:-1] + 1])
    blank = ends[first] == np.concatenate([[0], ends[last[:-1]] + 1])  # lines that end where they start
    empty = np.count_nonzero(ends[1:] == ends[:-1] + 1) + int(ends[0] == 0)
    if empty != np.count_nonzero(blank) or not (first == last)[blank].all():
        raise _Irregular  # a field is empty
    if not (breaks | (kinds == TAB)).all():
        raise _Irregular  # some other control character
    filled = ~blank
    before = np.cumsum(filled)[blank].tolist()  # rows before each blank line
    first, last = first[filled], last[filled]
    sentences = tuple((start, end) for start, end in pairwise([0, *before, len(last)]) if start < end)
    widths = last - first + 1
    if len(widths) and widths.min() <= FIRST_COLUMN:
        raise _Irregular
    changes = np.flatnonzero(np.diff(widths)) + 1
    if len(changes) and not np.isin(changes, [start for start, _ in sentences]).all():
        raise _Irregular
    return _Table(codes, ends, first, last, sentences)


def _cut_out(table: _Table, fields: Positions) -> bytes:
    """The bytes of some fields (none of them the first of its row), each followed by a line break."""
    starts = table.ends[fields - 1] + 1
    lengths = table.ends[fields] - starts + 1
    behind = np.cumsum(lengths)
    places = np.repeat(starts - behind + lengths, lengths)
    places += np.arange(len(places))
    codes = table.codes[places]
    codes[behind - 1] = NEWLINE
    return codes.tobytes()


def _cut_words(table: _Table) -> tuple[str, ...]:
    numbers = _cut_out(table, table.first + 2)
    if numbers and not numbers.translate(None, b"\n").isdigit():
        raise _Irregular
    return tuple(_cut_out(table, table.first + 3).decode().split("\n")[:-1])


def _cut_cells(table: _Table) -> Iterable[tuple[int, str]]:
    """(token, cell) wherever the coreference column is not empty."""
    starts = table.ends[table.last - 1] + 1
    empty = MEANS_NO_MENTION[table.codes[starts]] & (table.ends[table.last] - starts == 1)
    words = np.flatnonzero(~empty)
    return zip(words.tolist(), _cut_out(table, table.last[words]).decode().split("\n"), strict=False)


def _find_chains(cells: Iterable[tuple[int, str]]) -> dict[str, list[Span]]:
    """Mentions from the coreference column; the brackets that open at a word are opened before any is closed."""
    chains: dict[str, list[Span]] = {}
    stacks: dict[str, list[int]] = {}
    for token, cell in cells:
        singles, opened, closed = parse_cell(cell)
        for label in singles:
            chains.setdefault(label, []).append((token, token + 1))
        for label in opened:
            stacks.setdefault(label, []).append(token)
        for label in closed:
            if stack := stacks.get(label):
                start = stack.pop()
                if label:
                    chains.setdefault(label, []).append((start, token + 1))
    return chains
