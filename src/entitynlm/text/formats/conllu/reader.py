"""The reader of CoNLL-U with coreference; ``docs/formats.md`` describes how each field is read."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from entitynlm.text.document import Document, Span
from entitynlm.text.formats.base import Comments, DocumentNames, NumberedLine, OddityCounter, Source
from entitynlm.text.formats.conllu.entities import EntityReader
from entitynlm.text.formats.conllu.spacing import TextBuilder

FIELD_COLUMNS = ("lemma", "upos", "pos", "feats", "deprel")

_WORD = re.compile(r"[0-9]{1,9}\Z")
_RANGE = re.compile(r"([0-9]{1,9})-([0-9]{1,9})\Z")
_EMPTY_NODE = re.compile(r"[0-9]{1,9}\.[0-9]{1,9}\Z")

_ROW = re.compile(r"[0-9]+(?:[-.][0-9]+)?(?:\t[^\t]*){9}\Z")
_CUT_ROW = re.compile(r"[0-9]+(?:[-.][0-9]+)?(?:\t[^\t]*){0,9}\Z")
_COMMENT = re.compile(r"#\s*(?:newdoc\b|sent_id\s*=|global\.Entity\s*=|text\s*=\s)")

NOT_A_ROW = "this is not a row of CoNLL-U"


def recognise(path: str, sample: bytes) -> bool:
    """Recognise a first row of ten columns; where the sample holds no whole row, comments that only CoNLL-U has are enough."""
    *lines, last = sample.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace").split("\n")
    typical = False
    for line in lines:
        line = line.rstrip("\r")
        if line.startswith("#"):
            typical = typical or _COMMENT.match(line) is not None
        elif line and not line.isspace():
            return _ROW.match(line) is not None
    last = last.rstrip("\r")
    if not last or last.startswith("#"):
        return typical or _COMMENT.match(last) is not None
    return _ROW.match(last) is not None or (typical and _CUT_ROW.match(last) is not None)


def read(source: Source) -> Iterator[Document]:
    names = DocumentNames(source)
    header: list[str] | None = None
    draft: _ConlluBuilder | None = None
    unnamed = 0
    for line, comments, rows in source.blocks():
        if comments.get("global.Entity"):
            header = comments["global.Entity"].split("-")
        if "newdoc" in comments or "newdoc id" in comments or (draft is None and rows):
            if draft is not None:
                yield draft.finish()
            name = comments.get("newdoc id", "")
            if not name:
                unnamed += 1
                name = source.stem if unnamed == 1 else f"{source.stem}-{unnamed}"
            draft = _ConlluBuilder(source, names.claim(name, line))
        if draft is not None:
            draft.add_comments(comments, header)
            draft.add_sentence(comments, rows)
    if draft is not None:
        yield draft.finish()


@dataclass
class _Group:
    """A multiword token whose words are being read."""

    first: int
    last: int
    surface: str
    misc: dict[str, str]
    line: int
    words: list[str] = field(default_factory=list)


class _ConlluBuilder:
    """Collects one document, sentence by sentence."""

    def __init__(self, source: Source, id: str) -> None:
        self._source = source
        self._id = id
        self._counter = OddityCounter(source)
        self._entities = EntityReader(source, self._counter)
        self._text = TextBuilder()
        self._meta: dict[str, str] = {}
        self._tokens: list[str] = []
        self._sentences: list[Span] = []
        self._fields: list[tuple[str, ...]] = []  # FIELD_COLUMNS of each word
        self._heads: list[int] = []
        self._has_heads = False
        self._speakers: list[str | None] = []
        self._group: _Group | None = None

    def add_comments(self, comments: Comments, header: list[str] | None) -> None:
        if header is not None:
            self._entities.use_header(header)
        for key, value in comments.items():
            if key.startswith("meta::"):
                self._meta[key[len("meta::") :].strip()] = value

    def add_sentence(self, comments: Comments, rows: list[NumberedLine]) -> None:
        start = len(self._tokens)
        if rows:
            self._text.start_sentence("newpar" in comments or "newpar id" in comments)
            self._read_rows(rows)
        size = len(self._tokens) - start
        if not size:
            return
        self._sentences.append((start, start + size))
        self._speakers += [comments.get("speaker") or None] * size
        if "text" in comments:
            self._text.known = True
            if self._text.sentence_text() != " ".join(comments["text"].split()):
                message = "'# text' is not what the words and their SpaceAfter give; the words count"
                self._counter.add(message, rows[0][0])

    def _read_rows(self, rows: list[NumberedLine]) -> None:
        start = len(self._tokens)
        ids: list[int] = []
        heads: list[str] = []
        for number, line in rows:
            fields = line.split("\t")
            if len(fields) != 10:
                fields = self._mend_row(fields, number, line)
            word_id, form, lemma, upos, xpos, feats, head, deprel, _, misc = fields
            items = dict(item.partition("=")[::2] for item in misc.split("|")) if misc != "_" else {}
            if not _WORD.match(word_id):
                self._read_special(word_id, form, items, number, line)
                continue
            if not form:
                self._counter.add("a word is empty; it was read as '_'", number)
                form = "_"
            ids.append(int(word_id))
            heads.append(head)
            self._tokens.append(form)
            self._fields.append((lemma, upos, xpos, feats, deprel))
            self._place_word(form, items, ids[-1])
            if "Entity" in items:
                self._entities.read_cell(items["Entity"], len(self._tokens) - 1, number)
        self._close_group()
        self._read_heads(ids, heads, start, rows[0][0])

    def _mend_row(self, fields: list[str], number: int, line: str) -> list[str]:
        if len(fields) < 2:
            hint = "Spaces do not separate columns in CoNLL-U" if line[:1].isdigit() else None
            expected = "ten columns separated by tabs"
            raise self._source.error(NOT_A_ROW, number, found=line, expected=expected, hint=hint)
        self._counter.add(f"a row has {len(fields)} columns in place of ten", number)
        return (fields + ["_"] * 10)[:10]

    def _read_special(self, word_id: str, form: str, items: dict[str, str], number: int, line: str) -> None:
        """Read a row that is no word: a multiword token or an empty node."""
        if match := _RANGE.match(word_id):
            if "Entity" in items:
                message = "'Entity' of a multiword token was skipped; it belongs to its words"
                self._counter.add(message, number)
            self._close_group()
            self._group = _Group(int(match[1]), int(match[2]), form or "_", items, number)
        elif _EMPTY_NODE.match(word_id):
            if "Entity" in items:
                self._counter.add("'Entity' of an empty node was skipped", number)
        else:
            expected = "a word id such as 3, 3-4 or 3.1 in the first of ten columns"
            raise self._source.error(NOT_A_ROW, number, found=line, expected=expected)

    def _place_word(self, form: str, items: dict[str, str], word_id: int) -> None:
        """Add the latest word to the text, or to the multiword token that it belongs to."""
        group = self._group
        if group is not None and group.first <= word_id <= group.last:
            group.words.append(form)
            if word_id == group.last:
                self._close_group()
            return
        if group is not None and group.words:
            self._close_group()
        self._text.add(form, items)

    def _close_group(self) -> None:
        group, self._group = self._group, None
        if group is not None and len(group.words) != group.last - group.first + 1:
            self._counter.add("a multiword token does not have all of its words after it", group.line)
        if group is not None and group.words:
            self._text.known = True
            self._text.add(group.surface, group.misc, group.words)

    def _read_heads(self, ids: list[int], heads: list[str], start: int, line: int) -> None:
        place = {word_id: start + index for index, word_id in enumerate(ids)}
        if ids and (len(place) < len(ids) or ids[0] != 1 or ids[-1] != len(ids)):
            self._counter.add("the ids of words do not count 1, 2, 3, … within their sentence", line)
        for head in heads:
            token = place.get(int(head), -1) if head != "0" and _WORD.match(head) else -1
            if token < 0 and head not in ("_", "", "0"):
                self._counter.add("a head is not a word of its sentence; a root was made of it", line)
            self._has_heads = self._has_heads or head not in ("_", "")
            self._heads.append(token)

    def finish(self) -> Document:
        mentions, types = self._entities.finish()
        self._counter.send()
        text = self._text.finish()
        return Document(
            id=self._id,
            tokens=tuple(self._tokens),
            sentences=tuple(self._sentences),
            mentions=tuple(mentions),
            entity_types=types,
            text=text,
            offsets=tuple(self._text.offsets) if text is not None else None,
            columns=self._make_columns(),
            heads=tuple(self._heads) if self._has_heads else None,
            meta=self._meta,
        )

    def _make_columns(self) -> dict[str, tuple[str | None, ...]]:
        columns: dict[str, tuple[str | None, ...]] = {}
        for name, values in zip(FIELD_COLUMNS, zip(*self._fields, strict=True), strict=False):
            columns[name] = tuple(None if value == "_" or not value else value for value in values)
        if "_" in self._tokens and any(columns["lemma"]):  # in a file with lemmas that of the word "_" is "_"
            pairs = zip(columns["lemma"], self._tokens, strict=True)
            columns["lemma"] = tuple("_" if token == "_" else lemma for lemma, token in pairs)
        columns["speaker"] = tuple(self._speakers)
        return {name: values for name, values in columns.items() if any(v is not None for v in values)}
