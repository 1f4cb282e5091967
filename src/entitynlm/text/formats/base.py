"""A file format: a name, a test of content, a streaming reader, a writer.

A reader is a generator over :class:`Source` that yields one document at a time and keeps no more than one. An irregularity that
it can repair (an unclosed bracket, a row with too few columns) is passed to ``source.report``; others are raised as
``source.error``, a ``DataError`` with file and line.
"""

import contextlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from entitynlm.errors import DataError
from entitynlm.files import decode_lines, has_name
from entitynlm.text.document import Document

# What is no part of a document's name; in this order, because ``.txt.drs`` and ``.jsonl.gz`` are endings too.
ENDINGS = (
    ".gz", ".drs", ".ann", ".txt", ".jsonl", ".jsonlines", ".json", ".conllu", ".conll",
    ".epub", ".docx", ".odt", ".rtf", ".html", ".htm", ".xhtml", ".md", ".markdown",
)  # fmt: skip


def strip_endings(name: str) -> str:
    """Remove all endings of a file's name: ``bath_001.txt.drs`` → ``bath_001``."""
    for ending in ENDINGS:
        name = name.removesuffix(ending) or name
    return name


ENCODINGS = {**dict.fromkeys(("utf_16", "utf_16_le", "utf_16_be"), "UTF-16"), "cp1252": "Windows-1252"}
"""Encodings other than UTF-8 that texts are read in, by Python's names."""


def has_zeros(data: bytes) -> bool:
    """Tell whether so many bytes are zero as in European text in UTF-16."""
    return 3 * data.count(0) > len(data)


def recognise_encoding(data: bytes) -> str | None:
    """Recognise the encoding of a text that is not UTF-8; None where it is no text, or UTF-8 with damaged bytes."""
    from charset_normalizer import from_bytes  # here, because most texts are UTF-8

    damaged = data.decode("utf-8", "replace")
    if sum(character > "\x7f" for character in damaged) > 2 * damaged.count("\ufffd"):
        return None
    names = [name for name in ENCODINGS if name in ("utf_16", "cp1252") or has_zeros(data)]
    best = from_bytes(data, cp_isolation=names).best()
    return None if best is None or best.encoding not in ENCODINGS else best.encoding


@dataclass(frozen=True)
class Oddity:
    """An irregularity that the reader repaired, and how it did so."""

    path: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}" if self.line else f"{self.path}: {self.message}"


ReportOddity = Callable[[Oddity], object]


def ignore(oddity: Oddity) -> None:
    """Ignore an oddity; the default of ``report``."""


NumberedLine = tuple[int, str]
"""A line and its number."""
Comments = dict[str, str]


@dataclass
class Source:
    """An open file with its name and a function that oddities are reported to.

    :param words_only: whether words, sentences and mentions suffice, so that a reader may skip other columns.
    :param most: largest size in bytes that an upload may unpack to; its reader opens no other file.
    """

    path: str
    stream: BinaryIO
    on_oddity: ReportOddity = ignore
    words_only: bool = False
    most: int | None = None

    def lines(self) -> Iterator[tuple[int, str]]:
        return decode_lines(self.stream, self.path)

    def chunks(self, size: int = 1 << 20) -> Iterator[bytes]:
        """Read the bytes in pieces, with readable errors."""
        try:
            while chunk := self.stream.read(size):
                yield chunk
        except (OSError, EOFError, zlib.error) as error:  # zlib: a damaged .gz
            raise self.error(f"reading failed ({error})") from error

    def decode(self, data: bytes) -> str:
        """Decode a text, without its byte-order mark; an encoding other than UTF-8 is reported."""
        encoding = recognise_encoding(data) if has_zeros(data) else None  # UTF-16 without a mark
        try:
            if encoding is None:
                return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            if (encoding := recognise_encoding(data)) is None:
                raise self.error(
                    "this is not UTF-8 text",
                    1 + data.count(b"\n", 0, error.start),
                    found=data[error.start : error.start + 12].decode("latin-1"),
                    hint="Convert the file to UTF-8 first, say: iconv -f cp1252 -t utf-8",
                ) from error
        self.report(f"this is {ENCODINGS[encoding]} text, not UTF-8, and it was read as that")
        return data.decode(encoding)

    def sections(self) -> Iterator[bytes]:
        """Yield each line that begins with ``#`` with all lines up to the next such line."""
        pieces: list[bytes] = []
        for chunk in self.chunks():
            first, *others = chunk.split(b"#")  # a rare sign: many times as fast as a split by two signs
            if first:
                pieces.append(first)
            for other in others:
                if pieces and pieces[-1].endswith(b"\n"):
                    yield b"".join(pieces)
                    pieces.clear()
                pieces.append(b"#" + other)
        if pieces:
            yield b"".join(pieces)

    def blocks(self) -> Iterator[tuple[int, Comments, list[NumberedLine]]]:
        """Yield the lines between blank lines: the number of the first line, comments (``# key = value``), rows."""
        first = 0
        comments: Comments = {}
        rows: list[NumberedLine] = []
        for number, line in self.lines():
            if line.startswith("#"):
                if rows:
                    message = "a comment after the rows of a sentence was read as the start of the next"
                    self.report(message, number)
                    yield first, comments, rows
                    first, comments, rows = 0, {}, []
                key, _, value = line[1:].partition("=")
                comments[key.strip()] = value.strip()
                first = first or number
            elif line and not line.isspace():
                rows.append((number, line))
                first = first or number
            elif first:
                yield first, comments, rows
                first, comments, rows = 0, {}, []
        if first:
            yield first, comments, rows

    def report(self, message: str, line: int | None = None) -> None:
        self.on_oddity(Oddity(self.path, line, message))

    def error(self, message: str, line: int | None = None, **details: str | None) -> DataError:
        """Make an error about this file, for the reader to raise; details are ``found``, ``expected`` and ``hint``."""
        return DataError(message, path=self.path, line=line, **details)

    @contextlib.contextmanager
    def naming(self, line: int | None = None) -> Iterator[None]:
        """Add this file and line to errors about the content, such as a document that breaks an invariant."""
        try:
            yield
        except DataError as e:
            if e.path is not None:
                raise
            raise self.error(e.message, line, found=e.found, expected=e.expected, hint=e.hint) from e

    @property
    def stem(self) -> str:
        """The file's name without its endings, as a document id for formats that have none."""
        name = strip_endings(Path(self.path).name)
        return name if name and has_name(self.path) else "document"


Reader = Callable[[Source], Iterator[Document]]
Writer = Callable[[Iterable[Document], IO[Any]], None]


@dataclass(frozen=True)
class Format:
    """One row of the table of formats.

    ``recognise`` sees the path and the first 64 KiB; formats are asked in the registry's order, the strictest first. ``suffix``
    is the default ending of a file's name.
    """

    name: str
    description: str
    suffix: str
    recognise: Callable[[str, bytes], bool]
    read: Reader
    write: Writer | None = None

    @property
    def writable(self) -> bool:
        return self.write is not None


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
