"""CoNLL-2012: OntoNotes' columns with coreference brackets in the last one, and the official scorer's short form.

``docs/formats.md`` describes how each column is read, and how two crossing mentions of one entity are written.
"""

import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import IO, Any

import numpy as np

from entitynlm.files import decode_lines
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.base import DocumentNames, OddityCounter, Source, find_layers
from entitynlm.text.formats.field_table import FieldTable, Places, find_fields

CONLL_COLUMNS = ("pos", "parse", "lemma", "frameset", "sense", "speaker", "ner")
FIRST_COLUMN = 4  # document, part, word number and word come before the columns
SHORTEST, NO_WORD = 2, "_"  # a row of document and coreference alone, and what stands for its word
ARGUMENTS = FIRST_COLUMN + len(CONLL_COLUMNS)
BEGIN = re.compile(r"#\s*begin\s+document\b\s*(.*)$", re.IGNORECASE)
END = re.compile(r"#\s*end\s+document\b", re.IGNORECASE)
BRACKET = re.compile(r"\(([^()|]+)\)|\(([^()|]+)|([^()|]+)\)")
_BLANKS = re.compile(r"[ \t]+")

BracketLabels = tuple[str, ...]
_PLAIN_NUMBER = re.compile(r"(?:0|[1-9][0-9]*)\Z")
HINT = "Is the file really in CoNLL-2012 format?"

_NO_VALUE = frozenset(("-", "_", ""))
NO_MENTION = frozenset(("-", "_", "*", ""))
MEANS_NO_MENTION = np.array([chr(code) in NO_MENTION for code in range(256)])


def recognise(path: str, sample: bytes) -> bool:
    """Recognise ``#begin document`` before any row; or, without it, a row of the full width with its two numbers."""
    for raw in io.BytesIO(sample.removeprefix(b"\xef\xbb\xbf")):
        line = raw.decode("utf-8", errors="replace").rstrip("\n")
        if BEGIN.match(line):
            return True
        if line.strip() and not line.startswith("#"):
            fields = split_row(line.strip("\r"))
            return is_row(fields) and len(fields) > ARGUMENTS
    return False


def read(source: Source) -> Iterator[Document]:
    """Read document by document: regular rows as one table, other rows line by line with their oddities."""
    file = _FileBuilder(source)
    number = 1
    for text in source.sections():
        header, _, rows = text.partition(b"\n")
        yield from file.take_lines(header, number)
        lines = file.draft.add_regular(rows, number + 1) if file.draft is not None else 0
        if not lines:
            yield from file.take_lines(rows, number + 1)
        number += 1 + (lines or rows.count(b"\n"))
    if file.draft is not None:
        yield file.draft.finish(unended=0)


class _FileBuilder:
    """Divides a file into parts of documents; ``draft`` is the part being read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.draft: _PartBuilder | None = None
        self._names = DocumentNames(source)

    def _begin(self, name: str, part: str, line: int) -> "_PartBuilder":
        name = name or self.source.stem
        unique = self._names.claim(make_id(name, part), line)
        self.draft = _PartBuilder(self.source, unique, name, part)
        return self.draft

    def take_lines(self, text: bytes, first: int) -> Iterator[Document]:
        """Read lines of any kind, and yield the documents that end in them."""
        for number, line in decode_lines(io.BytesIO(text), self.source.path, first=first):
            draft = self.draft
            if not line or line.isspace():
                if draft is not None:
                    draft.end_sentence()
            elif line[0] == "#" and not is_row(split_row(line)):
                yield from self._take_comment(line, number)
            else:
                fields = split_row(line) if draft is None else draft.complete_row(split_row(line), number)
                _check_row(fields, self.source, number, line)
                if draft is None:
                    message = "rows without '#begin document' before them were read as a document"
                    self.source.report(message, number)
                    draft = self._begin(fields[0], fields[1], number)
                draft.rows.append((number, fields))

    def _take_comment(self, line: str, number: int) -> Iterator[Document]:
        if header := BEGIN.match(line):
            if self.draft is not None:
                yield self.draft.finish(unended=number)
            self._begin(*parse_header(header[1]), number)
        elif not END.match(line):
            self.source.report("a comment line was skipped", number)
        elif self.draft is None:
            self.source.report("'#end document' without a document", number)
        else:
            yield self.draft.finish()
            self.draft = None


def _is_utf8(rows: bytes) -> bool:
    try:
        return rows.isascii() or bool(rows.decode())
    except UnicodeDecodeError:
        return False


def parse_header(text: str) -> tuple[str, str]:
    """Read name and part of ``(name); part 000``; brackets, semicolon and part may be missing."""
    text = text.strip()
    before, _, number = text.rpartition("part")
    part = ""
    if before and number[:1].isspace() and is_number(number.strip()):
        text, part = before.rstrip(), number.strip()
    text = text.rstrip(";").rstrip()
    return (text[1:-1] if text.startswith("(") and text.endswith(")") else text), part


def is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def split_row(line: str) -> list[str]:
    """Split a row at tabs where there are enough of them (fields may then be empty), else at blanks."""
    if line.count("\t") >= FIRST_COLUMN - 1:
        return [field.strip(" ") for field in line.split("\t")] if " " in line else line.split("\t")
    return line.split() if line.isascii() else _BLANKS.split(line.strip(" \t"))


def is_row(fields: list[str]) -> bool:
    return len(fields) >= FIRST_COLUMN and is_number(fields[1]) and is_number(fields[2])


def _check_row(fields: list[str], source: Source, number: int, line: str) -> None:
    columns, hint = "document, part, word number and word, with the coreference column last", HINT
    if len(fields) < FIRST_COLUMN:
        message = "this row has too few columns"
        raise source.error(message, number, found=line, expected=f"at least {columns}", hint=hint)
    if not is_number(fields[2]) and fields[2] not in NO_MENTION:
        message = "the third column is not a word number"
        raise source.error(message, number, found=fields[2], expected=columns, hint=hint)


def make_id(name: str, part: str) -> str:
    """Make the document id: the name, and ``#part`` for every part but the first."""
    return f"{name}#{part}" if part.strip("0") else name


def _drop_stray_tabs(rows: list[list[str]]) -> None:
    """Ignore a tab at the end of some rows, which makes no column: the official scorer's own test files have it."""
    width = max(map(len, rows))
    while width > min(map(len, rows)) and all(not row[-1] for row in rows if len(row) == width):
        for row in rows:
            del row[width - 1 :]
        width -= 1


def _cut_column(table: FieldTable, first: int, last: int | None) -> list[str | None]:
    """Return the fields from ``first`` to ``last`` (None: the last before coreference) of the rows that have them."""
    found: list[str | None] = [None] * len(table.first)
    rows = np.flatnonzero(table.widths - 1 > (first if last is None else last))
    ends = table.last[rows] - 1 if last is None else table.first[rows] + last
    for row, cell in zip(rows.tolist(), table.cut(table.first[rows] + first, ends), strict=True):
        if cell not in _NO_VALUE:
            found[row] = cell
    return found


@lru_cache(maxsize=1 << 16)
def parse_cell(cell: str) -> tuple[BracketLabels, BracketLabels, BracketLabels, bool]:
    """Parse a coreference cell: labels of one-word, opening and closing mentions, and whether the cell has nothing else."""
    found = BRACKET.findall(cell)
    return (
        tuple(single.strip() for single, _, _ in found if single.strip()),
        tuple(opened.strip() for _, opened, _ in found if opened.strip()),
        tuple(closed.strip() for _, _, closed in found if closed.strip()),
        not BRACKET.sub("", cell).strip("| "),
    )


@dataclass
class _PartBuilder:
    """Collects one part of a document."""

    source: Source
    id: str
    name: str
    part: str

    def __post_init__(self) -> None:
        self.rows: list[tuple[int, list[str]]] = []
        self._is_short: bool | None = None  # known after the first row
        self._tokens: list[str] = []
        self._sentences: list[Span] = []
        self._columns: dict[str, list[str | None]] = {name: [] for name in (*CONLL_COLUMNS, "args")}
        self._mentions: list[Mention] = []
        self._open: defaultdict[str, list[int]] = defaultdict(list)  # tokens of open brackets, by label
        self._lines: list[Places] = []  # of the tokens, an array per table
        self._counter = OddityCounter(self.source)

    def complete_row(self, fields: list[str], line: int) -> list[str]:
        """Add the columns that the official scorer ignores to a row of a document whose rows are all short.

        One of its own test files (case L-1) has a short row without coreference, which it reads as a word outside of mentions.
        """
        if self._is_short is None:
            self._is_short = len(fields) == SHORTEST
        if not self._is_short or len(fields) > SHORTEST:
            return fields
        if len(fields) < SHORTEST:
            self._counter.add("a row without coreference was read as one with '-'", line)
        return [fields[0], self.part or "0", str(len(self.rows)), NO_WORD, *(fields[1:] or "-")]

    def add_regular(self, rows: bytes, line: int) -> int:
        """Add whole regular sentences, and return the number of their lines; 0 if a row must be read line by line."""
        if self.rows or not rows.endswith(b"\n\n") or b"\r" in rows:
            return 0
        if b" " in rows:
            if b"\t" in rows or not rows.isascii():
                return 0
            rows = b"\n".join([b"\t".join(row.split()) for row in rows.split(b"\n")])
        table = find_fields(rows)
        if not table.sentences or table.widths.min() <= FIRST_COLUMN or not table.has_even_sentences():
            return 0
        if table.has_empty_field() or not table.counts_words(2) or not _is_utf8(rows):
            return 0
        self._is_short = False
        self._add_sentences(table, table.lines + line)
        return table.line_count

    def end_sentence(self) -> None:
        """Add the sentence of the collected rows, with missing fields filled in."""
        if not self.rows:
            return
        _drop_stray_tabs([fields for _, fields in self.rows])
        width = max(len(fields) for _, fields in self.rows)
        for index, (number, fields) in enumerate(self.rows):
            if len(fields) < width:
                message = "a row has fewer columns than others of its sentence; the last were missed"
                self._counter.add(message, number)
                fields.extend(["-"] * (width - len(fields)))
            if fields[2] != str(index):
                self._counter.add("a word number does not count 0, 1, 2, … within its sentence", number)
            if not fields[3]:
                self._counter.add("a word is empty; it was read as '_'", number)
        rows = ("\t".join(field or NO_WORD for field in fields) for _, fields in self.rows)
        lines = np.array([number for number, _ in self.rows])
        self._add_sentences(find_fields("\n".join([*rows, ""]).encode()), lines)
        self.rows.clear()

    def _add_sentences(self, table: FieldTable, lines: Places) -> None:
        """Add the rows of a table, given their line numbers; coreference is the last field."""
        start = len(self._tokens)
        self._tokens += table.cut(table.first + 3, table.first + 3)
        self._lines.append(lines)
        self._sentences += [(start + first, start + end) for first, end in table.sentences]
        annotated = np.flatnonzero((table.widths > FIRST_COLUMN) & ~table.ends_in(MEANS_NO_MENTION))
        self._read_brackets(
            (annotated + start).tolist(), table.cut(table.last[annotated], table.last[annotated])
        )
        if not self.source.words_only:
            for position, name in enumerate(CONLL_COLUMNS, start=FIRST_COLUMN):
                self._columns[name] += _cut_column(table, position, position)
            arguments = _cut_column(table, ARGUMENTS, None)
            self._columns["args"] += [
                None if not cell or _NO_VALUE.issuperset(cell.split("\t")) else cell.replace("\t", " ")
                for cell in arguments
            ]

    def _read_brackets(self, tokens: list[int], cells: list[str]) -> None:
        """Read cells as the official scorer does: at each word, mentions are opened before any is closed."""
        stacks, add = self._open, self._mentions.append
        lines = self._lines[-1]
        first = len(self._tokens) - len(lines)
        for token, cell in zip(tokens, cells, strict=True):
            singles, opened, closed, complete = parse_cell(cell)
            for label in singles:
                add(Mention(token, token + 1, label))
            for label in opened:
                stacks[label].append(token)
            for label in closed:
                if stack := stacks[label]:
                    add(Mention(stack.pop(), token + 1, label))
                else:
                    message = f"'{label})' closes a mention that was not opened; it was skipped"
                    self.source.report(message, int(lines[token - first]))
            if not complete:
                message = "part of a coreference cell was skipped"
                self._counter.add(message, int(lines[token - first]), cell)

    def finish(self, *, unended: int | None = None) -> Document:
        """Make the document; ``unended`` is the line (0: the end of the file) found in place of its '#end document'."""
        if unended is not None:
            self.source.report(f"document {self.name!r} has no '#end document'", unended or None)
        self.end_sentence()
        if unclosed := [(token, label) for label, stack in self._open.items() for token in stack]:
            lines = np.concatenate(self._lines)
            for token, label in unclosed:
                message = f"'({label}' is never closed; the mention was dropped"
                self.source.report(message, int(lines[token]))
        self._counter.send()
        columns = {} if self.source.words_only else self._columns
        return Document(
            id=self.id,
            tokens=tuple(self._tokens),
            sentences=tuple(self._sentences),
            mentions=tuple(self._mentions),
            columns={name: tuple(v) for name, v in columns.items() if self._is_annotated(name, v)},
            meta={"name": self.name, "part": self.part} if self.part else {"name": self.name},
        )

    def _is_annotated(self, name: str, values: list[str | None]) -> bool:
        """Tell whether a column has values other than those that the shared task prescribes for missing annotation."""
        prescribed = {"pos": ["XX"] * len(values), "parse": blank_parse(self._sentences)}.get(name)
        return values != prescribed and any(value is not None and value != "*" for value in values)


def blank_parse(sentences: Iterable[Span]) -> list[str]:
    """Make the parse column of a document without trees, as the shared task's description has it."""
    bits: list[str] = []
    for start, end in sentences:
        bits += ["(TOP*)"] if end - start == 1 else ["(TOP*", *["*"] * (end - start - 2), "*)"]
    return bits


def write(documents: Iterable[Document], stream: IO[Any]) -> None:
    for document in documents:
        stream.writelines(_render(document))


def _render(document: Document) -> Iterator[str]:
    name, part = _find_header(document)
    cells = _make_cells(document)
    yield f"#begin document ({name});{f' part {part}' if part else ''}\n"
    words = [_tidy(token) for token in document.tokens]
    columns = _make_columns(document)
    start_of_row = f"{_tidy(name)}\t{part.lstrip('0') or '0'}"
    for start, end in document.sentences:
        arguments = _make_arguments(document, start, end)
        for index in range(start, end):
            values = [column[index] for column in columns] + arguments[index - start]
            row = [start_of_row, str(index - start), words[index], *values, cells.get(index, "-")]
            yield "\t".join(row) + "\n"
        yield "\n"
    yield "#end document\n"


def _find_header(document: Document) -> tuple[str, str]:
    """Return name and part as they were read, if the id still consists of them; else the id is the name of a single part."""
    name, part = re.sub(r"[\r\n]", " ", document.meta.get("name", "")), document.meta.get("part", "")
    known = make_id(name, part)
    same = document.id == known or document.id.startswith(f"{known}~")
    if name and same and (not part or is_number(part)):
        return name, part
    return re.sub(r"[\r\n]", " ", document.id), "000"


def _tidy(text: str) -> str:
    return re.sub(r"\s", "_", text)


def _make_columns(document: Document) -> list[list[str]]:
    columns = []
    for name in CONLL_COLUMNS:
        values = document.columns.get(name)
        if values is not None and any(value is not None for value in values):
            columns.append([_tidy(value) if value else "-" for value in values])
        elif name == "parse":
            columns.append(blank_parse(document.sentences))
        else:
            columns.append([{"pos": "XX", "ner": "*"}.get(name, "-")] * len(document))
    return columns


def _make_arguments(document: Document, start: int, end: int) -> list[list[str]]:
    """Make the predicate columns of one sentence, padded to the same width."""
    rows = [value.split() if value else [] for value in document.column("args")[start:end]]
    width = max(len(row) for row in rows)
    return [row + ["*" if row else "-"] * (width - len(row)) for row in rows]


def _make_cells(document: Document) -> dict[int, str]:
    """Make the coreference cell of each token that has one; a mention that crosses another of its entity gets another number."""
    taken = {entity.id for entity in document.entities if _PLAIN_NUMBER.match(entity.id)}
    free = (number for number in map(str, count()) if number not in taken)
    opening: dict[int, list[str]] = {}
    closing: dict[int, list[tuple[int, str]]] = {}
    labels: dict[tuple[str, int], str] = {}
    for mention, layer in zip(document.mentions, find_layers(document), strict=True):
        if (mention.entity, layer) not in labels:
            keeps = mention.entity in taken and not layer
            labels[mention.entity, layer] = mention.entity if keeps else next(free)
        label = labels[mention.entity, layer]
        single = len(mention) == 1
        opening.setdefault(mention.start, []).append(f"({label})" if single else f"({label}")
        if not single:
            closing.setdefault(mention.end - 1, []).append((-mention.start, f"{label})"))
    cells: dict[int, str] = {}
    for token in opening.keys() | closing.keys():
        closed = [text for _, text in sorted(closing.get(token, ()))]
        cells[token] = "|".join(closed + opening.get(token, []))
    return cells
