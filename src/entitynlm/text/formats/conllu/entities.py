"""The ``Entity=`` notation of GUM and CorefUD: mentions as brackets with fields, read and written.

``# global.Entity = GRP-etype-head-other`` names the fields of an opening bracket, ``(12-person-1-key:value``; the closing one
has the id only. A discontinuous mention is a bracket pair per part, ``(12[1/2]`` … ``12[1/2])``. While reading, spans count
*nodes* (words and empty nodes), because the ``head`` field does; :meth:`EntityReader.finish` turns them into words.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from msgspec import structs

from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.base import Source
from entitynlm.text.formats.bracketed import OddityCounter, assign_layers

DEFAULT_HEADER = "GRP-etype-head-other"  # GRP: ids are unique in a document, as ours are; eid: in a file
ID_FIELDS = ("GRP", "eid")
TYPE_FIELDS = ("etype", "entity")  # the second is GUM's older name

_BRACKET = re.compile(r"(\(?)([^()]+)(\)?)|[()]")
_PART = re.compile(r"(.+)\[([0-9]{1,9})/([0-9]{1,9})\]\Z", re.DOTALL)
_ESCAPED = re.compile(r"%([0-7][0-9A-Fa-f])")
_TO_ESCAPE = re.compile(r"[%()|\-\[\]\s]")
_TO_ESCAPE_IN_OTHER = re.compile(r"[%()|\-\[\]\s,:]")


def unescape(text: str) -> str:
    """``%28`` and the like as the characters they stand for."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "%" in text else text


def escape(text: str, pattern: re.Pattern[str] = _TO_ESCAPE) -> str:
    """Text that can stand in a field: the notation's own characters as ``%28`` and the like."""
    return pattern.sub(lambda match: f"%{ord(match[0]):02X}" if match[0].isascii() else match[0], text)


def find_id_field(header: Sequence[str]) -> int:
    """The position of the entity id among the fields: the one called GRP or eid, else the first."""
    return next((i for i, name in enumerate(header) if name in ID_FIELDS), 0)


@dataclass
class _BracketedMention:
    """A mention as it stands in the file: its opening bracket, and the parts that were closed, as spans of nodes."""

    entity: str
    node: int
    line: int
    fields: list[str]
    parts: list[Span] = field(default_factory=list)


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
    # mentions in parts that wait for more of them, by entity and number of parts
    _unfinished: dict[tuple[str, str], _BracketedMention] = field(default_factory=dict)

    def use_header(self, header: list[str]) -> None:
        self._declared, self._header, self._id_field = True, header, find_id_field(header)

    def read_cell(self, cell: str, node: int, line: int) -> None:
        for opens, body, closes in _BRACKET.findall(cell):
            if opens and body:
                label, fields = self._read_fields(body, line)
                if not label:
                    self.counter.add("a mention without an entity was skipped", line, cell)
                    continue
                self._found.append(_BracketedMention(label, node, line, fields))
                self._open.setdefault(label, []).append(self._found[-1])
                if closes:
                    self._close(label, node, line)
            elif closes and body:
                self._close(body, node, line)
            else:
                self.counter.add("part of an Entity cell was skipped", line, cell)

    def _read_fields(self, body: str, line: int) -> tuple[str, list[str]]:
        if not self._declared and "-" in body:
            self.counter.add(f"no '# global.Entity' names the fields; {DEFAULT_HEADER} was taken", line)
        fields = body.split("-", len(self._header) - 1)
        return (fields[self._id_field] if self._id_field < len(fields) else body), fields

    def _close(self, label: str, node: int, line: int) -> None:
        if not self._open.get(label) and "-" in label:  # older files repeat the fields at the closing bracket
            short = self._read_fields(label, line)[0]
            label = short if self._open.get(short) else label
        if not self._open.get(label):
            self.source.report(f"'{label})' closes a mention that was not opened; it was skipped", line)
            return
        mention = self._open[label].pop()
        span = (mention.node, node + 1)
        if not (part := _PART.match(label)):
            mention.parts.append(span)
            return
        mention.entity, index, total = part.groups()
        key = (mention.entity, total)
        if int(index) == 1:
            self._give_up(key)
        mention = self._unfinished.setdefault(key, mention)
        mention.parts.append(span)
        if len(mention.parts) >= int(total):
            del self._unfinished[key]

    def _give_up(self, key: tuple[str, str]) -> None:
        """Read a mention with the parts that it has."""
        if mention := self._unfinished.pop(key, None):
            entity, total = key
            has = f"has only {len(mention.parts)} of its {total} parts"
            self.source.report(f"a mention of {entity!r} {has}; it was read with these", mention.line)

    def finish(self, words_before: Sequence[int]) -> tuple[list[Mention], dict[str, str]]:
        """Mentions and entity types; ``words_before`` counts the words before each node.

        The type of an entity is that of most of its mentions; the others keep theirs as an attribute.
        """
        for label, stack in self._open.items():
            for opened in stack:
                self.source.report(f"'({label}' is never closed; the mention was dropped", opened.line)
        for key in list(self._unfinished):
            self._give_up(key)
        mentions: list[tuple[Mention, str | None]] = []
        counts: dict[str, Counter[str]] = {}
        first_line: dict[str, int] = {}
        for found in self._found:
            mention = self._make_mention(found, words_before) if found.parts else None
            if mention is None:
                continue
            values = dict(zip(self._header, found.fields, strict=False))
            etypes = (unescape(values.get(name, "_")) for name in TYPE_FIELDS)
            etype = next((etype for etype in etypes if etype not in ("", "_")), None)
            mentions.append((mention, etype))
            first_line.setdefault(mention.entity, found.line)
            if etype is not None:
                counts.setdefault(mention.entity, Counter())[etype] += 1
        types = {entity: count.most_common(1)[0][0] for entity, count in counts.items()}
        for entity, count in counts.items():
            if len(count) > 1:
                said = ", ".join(f"{etype} ({number})" for etype, number in count.most_common())
                message = f"entity {entity!r} has mentions of several types: {said}; the first was taken"
                self.source.report(message, first_line[entity])
        return [
            structs.replace(mention, attributes=(("etype", etype), *mention.attributes))
            if etype and etype != types[mention.entity]
            else mention
            for mention, etype in mentions
        ], types

    def _make_mention(self, found: _BracketedMention, words_before: Sequence[int]) -> Mention | None:
        parts = _join_touching([(words_before[a], words_before[b]) for a, b in found.parts])
        if not parts:
            self.counter.add("a mention of nothing but empty nodes was dropped", found.line)
            return None
        head: int | None = None
        attributes: list[tuple[str, str]] = []
        for position, (name, value) in enumerate(zip(self._header, found.fields, strict=False)):
            if position == self._id_field or name in TYPE_FIELDS or not value:
                continue
            if name == "head":
                head = self._find_head(value, found, words_before)
            elif name == "other":
                for item in value.split(","):
                    key, colon, rest = item.partition(":")
                    attributes.append((unescape(key), unescape(rest)) if colon else ("other", unescape(key)))
            else:
                attributes.append((name, unescape(value)))
        several = parts if len(parts) > 1 else ()
        return Mention(parts[0][0], parts[-1][1], unescape(found.entity), several, head, tuple(attributes))

    def _find_head(self, value: str, found: _BracketedMention, words_before: Sequence[int]) -> int | None:
        """The token at this position (from 1) among the nodes of the mention."""
        left = int(value) - 1 if value.isascii() and value.isdecimal() and len(value) < 10 else -1
        for start, end in found.parts:
            if 0 <= left < end - start:
                node = start + left
                if words_before[node] < words_before[node + 1]:
                    return words_before[node]
                self.counter.add("the head of a mention is an empty node; it was left out", found.line)
                return None
            left -= end - start
        if value != "_":
            message = "the head of a mention is not one of its words; it was left out"
            self.counter.add(message, found.line, value)
        return None


def _join_touching(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Parts in order, without empty ones, and those that touch or overlap made one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif start < end:
            joined.append((start, end))
    return tuple(joined)


def choose_header(document: Document) -> list[str]:
    """The fields to write: those the document was read with, and the others that its mentions need."""
    header = [name for name in document.meta.get("global.Entity", DEFAULT_HEADER).split("-") if name.strip()]
    header = header or DEFAULT_HEADER.split("-")
    names_of = [[name for name, _ in mention.attributes] for mention in document.mentions]
    attributes = {name for names in names_of for name in names}
    named = set(header) - {header[find_id_field(header)], "head", "other", *TYPE_FIELDS}
    repeated = any(len(set(names)) < len(names) for names in names_of)  # a field holds one value of its name
    if set(header).isdisjoint(TYPE_FIELDS) and (document.entity_types or "etype" in attributes):
        header.append("etype")
    if "head" not in header and any(mention.head is not None for mention in document.mentions):
        header.append("head")
    if "other" not in header and (repeated or not attributes - {"etype"} <= named):
        header.append("other")
    return header


def make_cells(document: Document, header: Sequence[str]) -> dict[int, str]:
    """The value of ``Entity=`` for each token that has one.

    Order at a token as in CorefUD: closing brackets, opening ones, mentions of one word; but the last go first where
    nothing opens, so that nesting shows.
    """
    opening: dict[int, list[str]] = {}
    closing: dict[int, list[tuple[int, int, str]]] = {}
    singles: dict[int, list[str]] = {}
    layers = _find_layers(document)
    for order, (mention, layer) in enumerate(zip(document.mentions, layers, strict=True)):
        for index, (start, end) in enumerate(mention.parts or (mention.span,), start=1):
            label = escape(mention.entity)
            if mention.parts:
                label += f"[{index}/{'0' * layer}{len(mention.parts)}]"
            elif layer:
                label += f"[1/{'0' * (layer - 1)}1]"
            bracket = f"({_join_fields(document, mention, label, header)}"
            if end - start == 1:
                singles.setdefault(start, []).append(f"{bracket})")
            else:
                opening.setdefault(start, []).append(bracket)
                closing.setdefault(end - 1, []).append((-start, -order, f"{label})"))
    cells: dict[int, str] = {}
    for token in opening.keys() | closing.keys() | singles.keys():
        closed = "".join(text for *_, text in sorted(closing.get(token, ())))
        opened, single = "".join(opening.get(token, ())), "".join(singles.get(token, ()))
        cells[token] = closed + opened + single if opened else single + closed
    return cells


def _find_layers(document: Document) -> list[int]:
    """A number for each mention that tells it from those of its entity that have the same brackets.

    Parts are written ``[1/2]``; mentions of one entity that brackets could not tell apart (because they cross, or are
    discontinuous and overlap) get ``[1/1]``, ``[1/01]``, … which are different labels with the same meaning.
    """
    groups: dict[tuple[str, int], list[int]] = {}
    for index, mention in enumerate(document.mentions):
        groups.setdefault((mention.entity, len(mention.parts)), []).append(index)
    layers = [0] * len(document.mentions)
    for (_, size), members in groups.items():
        spans = [document.mentions[index].span for index in members]
        for index, layer in zip(members, assign_layers(spans, nested=not size), strict=True):
            layers[index] = layer
    return layers


def _join_fields(document: Document, mention: Mention, label: str, header: Sequence[str]) -> str:
    attributes = list(mention.attributes)
    own_type = _take(attributes, "etype") or document.entity_types.get(mention.entity, "")
    fixed = {"head": _count_head(mention), "other": "", **dict.fromkeys(TYPE_FIELDS, escape(own_type))}
    id_field = find_id_field(header)
    values = [
        label if i == id_field else fixed[name] if name in fixed else escape(_take(attributes, name) or "")
        for i, name in enumerate(header)
    ]
    if "other" in header:
        pairs = [tuple(escape(text, _TO_ESCAPE_IN_OTHER) for text in pair) for pair in attributes]
        others = (value if key == "other" else f"{key}:{value}" for key, value in pairs)
        values[header.index("other")] = ",".join(others)
    return "-".join(values).rstrip("-")


def _take(attributes: list[tuple[str, str]], name: str) -> str | None:
    """The value of the first attribute of this name, which is removed."""
    index = next((index for index, (key, _) in enumerate(attributes) if key == name), None)
    return None if index is None else attributes.pop(index)[1]


def _count_head(mention: Mention) -> str:
    """The head as its place among the words of the mention, from 1."""
    words = [word for part in mention.parts or (mention.span,) for word in range(*part)]
    return str(words.index(mention.head) + 1) if mention.head in words else ""
