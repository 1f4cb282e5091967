"""The ``Entity=`` notation of GUM and CorefUD: mentions as brackets with fields, read and written.

``# global.Entity = GRP-etype-head-other`` names the fields of an opening bracket, ``(12-person-1-key:value``; the closing bracket
has the id only. A discontinuous mention is a bracket pair per part, ``(12[1/2]`` … ``12[1/2])``; it is read from its first to its
last word, without its head.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.base import OddityCounter, Source, find_layers

DEFAULT_HEADER = "GRP-etype-head-other"  # GRP: ids are unique in a document, as ours are; eid: in a file
ID_FIELDS = ("GRP", "eid")
TYPE_FIELDS = ("etype", "entity")  # the second is GUM's older name

_BRACKET = re.compile(r"(\(?)([^()]+)(\)?)|[()]")
_PART = re.compile(r"(.+)\[([0-9]{1,9})/([0-9]{1,9})\]\Z", re.DOTALL)
_ESCAPED = re.compile(r"%([0-7][0-9A-Fa-f])")
_TO_ESCAPE = re.compile(r"[%()|\-\[\]\s,:]")


def unescape(text: str) -> str:
    """Replace escapes such as ``%28`` by the characters they stand for."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "%" in text else text


def escape(text: str) -> str:
    """Escape the notation's own characters as ``%28`` etc., so that the text can stand in a field."""
    return _TO_ESCAPE.sub(lambda match: f"%{ord(match[0]):02X}" if match[0].isascii() else match[0], text)


@dataclass
class _BracketedMention:
    """A mention as it stands in the file: its opening bracket and, once it is closed, its end."""

    entity: str
    start: int
    line: int
    fields: list[str]
    end: int | None = None
    is_whole: bool = True


@dataclass
class EntityReader:
    """Collects the mentions of one document from its ``Entity=`` cells."""

    source: Source
    counter: OddityCounter
    _declared: bool = False
    _header: list[str] = field(default_factory=lambda: DEFAULT_HEADER.split("-"))
    _id_field: int = 0
    _found: list[_BracketedMention] = field(default_factory=list)  # in the order of opening brackets
    _open: dict[str, list[_BracketedMention]] = field(default_factory=dict)
    _in_parts: dict[str, _BracketedMention] = field(default_factory=dict)  # by entity, the last one

    def use_header(self, header: list[str]) -> None:
        """Set the names of fields; the id is the field GRP or eid, else the first field."""
        self._declared, self._header = True, header
        self._id_field = next((i for i, name in enumerate(header) if name in ID_FIELDS), 0)

    def read_cell(self, cell: str, token: int, line: int) -> None:
        for opens, body, closes in _BRACKET.findall(cell):
            if opens and body:
                label, fields = self._read_fields(body, line)
                if not label:
                    self.counter.add("a mention without an entity was skipped", line, cell)
                    continue
                self._found.append(_BracketedMention(label, token, line, fields))
                self._open.setdefault(label, []).append(self._found[-1])
                if closes:
                    self._close(label, token, line)
            elif closes and body:
                self._close(body, token, line)
            else:
                self.counter.add("part of an Entity cell was skipped", line, cell)

    def _read_fields(self, body: str, line: int) -> tuple[str, list[str]]:
        if not self._declared and "-" in body:
            self.counter.add(f"no '# global.Entity' names the fields; {DEFAULT_HEADER} was taken", line)
        fields = body.split("-", len(self._header) - 1)
        return (fields[self._id_field] if self._id_field < len(fields) else body), fields

    def _close(self, label: str, token: int, line: int) -> None:
        if not self._open.get(label):
            self.source.report(f"'{label})' closes a mention that was not opened; it was skipped", line)
            return
        mention = self._open[label].pop()
        if part := _PART.match(label):
            mention.entity = part[1]
            if int(part[2]) > 1 and mention.entity in self._in_parts:
                mention = self._in_parts[mention.entity]
                mention.is_whole = False
            self._in_parts[mention.entity] = mention
        mention.end = token + 1

    def finish(self) -> tuple[list[Mention], dict[str, str]]:
        """Make mentions and entity types; an entity has the most frequent type of its mentions."""
        for label, stack in self._open.items():
            for opened in stack:
                self.source.report(f"'({label}' is never closed; the mention was dropped", opened.line)
        mentions: list[Mention] = []
        counts: dict[str, Counter[str]] = {}
        for found in self._found:
            if found.end is not None:
                mentions.append(self._make_mention(found, found.end))
                values = dict(zip(self._header, found.fields, strict=False))
                etypes = (unescape(values.get(name, "_")) for name in TYPE_FIELDS)
                known = [etype for etype in etypes if etype not in ("", "_")]
                counts.setdefault(mentions[-1].entity, Counter()).update(known[:1])
        for entity, count in counts.items():
            if len(count) > 1:
                said = ", ".join(f"{etype} ({number})" for etype, number in count.most_common())
                self.source.report(f"entity {entity!r} has several types: {said}; the first was taken")
        return mentions, {entity: count.most_common(1)[0][0] for entity, count in counts.items() if count}

    def _make_mention(self, found: _BracketedMention, end: int) -> Mention:
        head: int | None = None
        attributes: list[tuple[str, str]] = []
        for position, (name, value) in enumerate(zip(self._header, found.fields, strict=False)):
            if position == self._id_field or name in TYPE_FIELDS or not value:
                continue
            if name == "head":
                head = self._find_head(value, found, end)
            elif name == "other":
                pairs = (item.partition(":") for item in value.split(","))
                attributes += [(unescape(key), unescape(rest)) for key, _, rest in pairs]
            else:
                attributes.append((name, unescape(value)))
        return Mention(found.start, end, unescape(found.entity), head, tuple(attributes))

    def _find_head(self, value: str, found: _BracketedMention, end: int) -> int | None:
        """Find the token at this position (from 1) among the words of the mention."""
        if not found.is_whole:
            return None
        if value.isascii() and value.isdecimal() and 0 < int(value[:9]) <= end - found.start:
            return found.start + int(value[:9]) - 1
        if value != "_":
            message = "the head of a mention is not one of its words; it was left out"
            self.counter.add(message, found.line, value)
        return None


def make_cells(document: Document) -> dict[int, str]:
    """Make the value of ``Entity=`` for each token that has one.

    The order at a token is CorefUD's: closing brackets, opening ones, mentions of one word; but these come first where nothing
    opens, so that nesting is visible.
    """
    opening: dict[int, list[str]] = {}
    closing: dict[int, list[tuple[int, int, str]]] = {}
    singles: dict[int, list[str]] = {}
    for order, (mention, layer) in enumerate(zip(document.mentions, find_layers(document), strict=True)):
        # a mention that crosses another of its entity is written as one in a single part, [1/1], [1/01], …
        label = escape(mention.entity) + (f"[1/{'0' * (layer - 1)}1]" if layer else "")
        bracket = f"({_join_fields(document, mention, label)}"
        if len(mention) == 1:
            singles.setdefault(mention.start, []).append(f"{bracket})")
        else:
            opening.setdefault(mention.start, []).append(bracket)
            closing.setdefault(mention.end - 1, []).append((-mention.start, -order, f"{label})"))
    cells: dict[int, str] = {}
    for token in opening.keys() | closing.keys() | singles.keys():
        closed = "".join(text for *_, text in sorted(closing.get(token, ())))
        opened, single = "".join(opening.get(token, ())), "".join(singles.get(token, ()))
        cells[token] = closed + opened + single if opened else single + closed
    return cells


def _join_fields(document: Document, mention: Mention, label: str) -> str:
    """Join the fields of :data:`DEFAULT_HEADER`, without empty ones at the end."""
    head = "" if mention.head is None else str(mention.head - mention.start + 1)
    others = ",".join(f"{escape(key)}:{escape(value)}" for key, value in mention.attributes)
    etype = escape(document.entity_types.get(mention.entity, ""))
    return "-".join((label, etype, head, others)).rstrip("-")
