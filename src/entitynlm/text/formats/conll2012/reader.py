"""The reader of CoNLL-2012; ``conll2012`` says what becomes of what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.base import Source
from entitynlm.text.formats.bracketed import DocumentNames, OpenBrackets, Tally

COLUMNS = ("pos", "parse", "lemma", "frameset", "sense", "speaker", "ner")
FIRST_COLUMN = 4  # document, part, word number and word come before the columns
ARGUMENTS = FIRST_COLUMN + len(COLUMNS)
BEGIN = re.compile(r"#\s*begin\s+document\b\s*(.*)$", re.IGNORECASE)
END = re.compile(r"#\s*end\s+document\b", re.IGNORECASE)
_SAME_ENTITY = re.compile(r"#\s*entity\s+(\S+)\s*=\s*(\S+)\s*$")
BRACKET = re.compile(r"\(([^()|]+)\)|\(([^()|]+)|([^()|]+)\)")
_BLANKS = re.compile(r"[ \t]+")

_NO_VALUE = frozenset(("-", "_", ""))
NO_MENTION = frozenset(("-", "_", "*", ""))


def read(source: Source) -> Iterator[Document]:
    """Stream the documents (parts) of one file."""
    names = DocumentNames(source)
    same_entity: dict[str, str] = {}
    draft: _Draft | None = None
    for number, line in source.lines():
        if not line or line.isspace():
            if draft is not None:
                draft.end_sentence()
            continue
        if line[0] == "#" and not is_row(split_row(line)):
            if begin := BEGIN.match(line):
                if draft is not None:
                    if draft.has_header:
                        source.report(f"document {draft.name!r} has no '#end document'", number)
                    yield draft.finish()
                draft = _Draft(source, names, *parse_header(begin[1]), number, same_entity)
                same_entity = {}
            elif END.match(line):
                if draft is None:
                    source.report("'#end document' without a document", number)
                else:
                    yield draft.finish()
                    draft = None
            elif same := _SAME_ENTITY.match(line):
                same_entity[same[1]] = same[2]
            else:
                source.report("a comment line was skipped", number)
            continue
        fields = split_row(line)
        _check_row(fields, source, number, line)
        if draft is not None and not draft.has_header and draft.first_fields != fields[:2]:
            yield draft.finish()
            draft = None
        if draft is None:
            source.report("rows without '#begin document' before them were read as a document", number)
            draft = _Draft(source, names, fields[0], fields[1], number, same_entity)
            draft.has_header, draft.first_fields = False, fields[:2]
            same_entity = {}
        draft.rows.append((number, fields))
    if draft is not None:
        if draft.has_header:
            source.report(f"document {draft.name!r} has no '#end document'", None)
        yield draft.finish()


def parse_header(text: str) -> tuple[str, str]:
    """Name and part of ``(name); part 000``; brackets, semicolon and part may be missing."""
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
    """Fields of a row: at tabs where there are enough of them (fields may then be empty), else at blanks."""
    if line.count("\t") >= FIRST_COLUMN - 1:
        return [field.strip(" ") for field in line.split("\t")]
    return line.split() if line.isascii() else _BLANKS.split(line.strip(" \t"))


def is_row(fields: list[str]) -> bool:
    return len(fields) >= FIRST_COLUMN and is_number(fields[1]) and is_number(fields[2])


def _check_row(fields: list[str], source: Source, number: int, line: str) -> None:
    if len(fields) < FIRST_COLUMN:
        raise DataError(
            "this row has too few columns",
            path=source.path,
            line=number,
            found=line,
            expected="at least document, part, word number and word, with the coreference column last",
            hint="Is the file really in CoNLL-2012 format?",
        )
    if not is_number(fields[2]) and fields[2] not in NO_MENTION:
        raise DataError(
            "the third column is not a word number",
            path=source.path,
            line=number,
            found=fields[2],
            expected="document, part, word number, word, …, coreference",
            hint="Is the file really in CoNLL-2012 format?",
        )


def make_id(name: str, part: str) -> str:
    """The document id: the name, and ``#part`` for every part but the first."""
    return f"{name}#{part}" if part.strip("0") else name


def _drop_stray_tabs(rows: list[list[str]]) -> None:
    """A tab at the end of some rows makes no column: the official scorer's own test files have such rows."""
    width = max(map(len, rows))
    while width > min(map(len, rows)) and all(not row[-1] for row in rows if len(row) == width):
        for row in rows:
            del row[width - 1 :]
        width -= 1


class _Draft:
    """A document in the making; ``rows`` holds the sentence that is being read."""

    def __init__(
        self,
        source: Source,
        names: DocumentNames,
        name: str,
        part: str,
        line: int,
        same_entity: dict[str, str],
    ) -> None:
        self.name = name or source.stem
        self.part = part
        self.has_header = True
        self.first_fields: list[str] = []  # name and part in the rows of a document without a header
        self.rows: list[tuple[int, list[str]]] = []
        self._source = source
        self._id = names.claim(make_id(self.name, part), line)
        self._same_entity = same_entity
        self._tokens: list[str] = []
        self._sentences: list[Span] = []
        self._columns: dict[str, list[str | None]] = {name: [] for name in (*COLUMNS, "args")}
        self._mentions: list[Mention] = []
        self._brackets: OpenBrackets[tuple[int, int]] = OpenBrackets()  # token, line
        self._tally = Tally(source)

    def end_sentence(self) -> None:
        if not self.rows:
            return
        start = len(self._tokens)
        _drop_stray_tabs([fields for _, fields in self.rows])
        width = max(len(fields) for _, fields in self.rows)
        for index, (number, fields) in enumerate(self.rows):
            if len(fields) < width:
                self._tally.add(
                    "a row has fewer columns than others of its sentence; the last were missed", number
                )
                fields.extend([""] * (width - len(fields)))
            if fields[2] != str(index):
                self._tally.add("a word number does not count 0, 1, 2, … within its sentence", number)
            if not fields[3]:
                self._tally.add("a word is empty; it was read as '_'", number)
            self._tokens.append(fields[3] or "_")
            if width > FIRST_COLUMN and fields[-1] not in NO_MENTION:
                self._read_brackets(fields[-1], start + index, number)
        self._sentences.append((start, len(self._tokens)))
        self._read_columns([fields for _, fields in self.rows], width)
        self.rows.clear()

    def _read_columns(self, rows: list[list[str]], width: int) -> None:
        for position, name in enumerate(COLUMNS, start=FIRST_COLUMN):
            if position < width - 1:
                values = [None if row[position] in _NO_VALUE else row[position] for row in rows]
            else:
                values = [None] * len(rows)
            self._columns[name].extend(values)
        arguments = (row[ARGUMENTS : width - 1] for row in rows)
        self._columns["args"].extend(
            None if _NO_VALUE.issuperset(values) else " ".join(value or "-" for value in values)
            for values in arguments
        )

    def _read_brackets(self, cell: str, token: int, line: int) -> None:
        """One cell, as the official scorer reads it: what opens here is opened before anything is closed."""
        closing: list[str] = []
        for single, opened, closed in BRACKET.findall(cell):
            if single:
                self._add_mention(token, token + 1, single)
            elif opened:
                self._brackets.open(opened.strip(), (token, line))
            else:
                closing.append(closed.strip())
        for label in closing:
            opening = self._brackets.close(label)
            if opening is None:
                self._source.report(f"'{label})' closes a mention that was not opened; it was skipped", line)
            else:
                self._add_mention(opening[0], token + 1, label)
        if BRACKET.sub("", cell).strip("| "):
            self._tally.add("part of a coreference cell was skipped", line, cell)

    def _add_mention(self, start: int, end: int, label: str) -> None:
        entity = self._same_entity.get(label, label).strip()
        if entity:
            self._mentions.append(Mention(start, end, entity))

    def finish(self) -> Document:
        self.end_sentence()
        for label, (_, line) in self._brackets.left_open():
            self._source.report(f"'({label}' is never closed; the mention was dropped", line)
        self._tally.send()
        return Document(
            id=self._id,
            tokens=tuple(self._tokens),
            sentences=tuple(self._sentences),
            mentions=tuple(self._mentions),
            columns={name: tuple(v) for name, v in self._columns.items() if self._says_something(name, v)},
            meta={"name": self.name, "part": self.part} if self.part else {"name": self.name},
        )

    def _says_something(self, name: str, values: list[str | None]) -> bool:
        """Whether a column has content, and not just what stands for "not annotated" in the format's description."""
        if name == "pos" and set(values) == {"XX"}:
            return False
        if name == "parse" and values == blank_parse(self._sentences):
            return False
        return any(value is not None and value != "*" for value in values)


def blank_parse(sentences: Iterable[Span]) -> list[str]:
    """The parse column of a document without trees, as the shared task's description has it."""
    bits: list[str] = []
    for start, end in sentences:
        bits += ["(TOP*)"] if end - start == 1 else ["(TOP*", *["*"] * (end - start - 2), "*)"]
    return bits
