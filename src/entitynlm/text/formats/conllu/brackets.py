"""The way back of ``conllu_entities``: the mentions of a document as ``Entity=`` cells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.bracketed import assign_layers
from entitynlm.text.formats.conllu.entities import DEFAULT_HEADER, TYPE_FIELDS, escape, find_id_field

_IN_OTHER = re.compile(r"[%()|\-\[\]\s,:]")


def choose_header(document: Document) -> list[str]:
    """The fields to write: those the document was read with, and what more its mentions need."""
    header = [name for name in document.meta.get("global.Entity", DEFAULT_HEADER).split("-") if name.strip()]
    header = header or DEFAULT_HEADER.split("-")
    attributes = {name for mention in document.mentions for name, _ in mention.attributes} - {"etype"}
    named = set(header) - {header[find_id_field(header)], "head", "other", *TYPE_FIELDS}
    if not any(name in header for name in TYPE_FIELDS) and _has_types(document):
        header.append("etype")
    if "head" not in header and any(mention.head is not None for mention in document.mentions):
        header.append("head")
    if "other" not in header and (not attributes <= named or any(map(_repeats_names, document.mentions))):
        header.append("other")
    return header


def _repeats_names(mention: Mention) -> bool:
    """A field of the header holds one value of its name; more of them stand in ``other``."""
    names = [name for name, _ in mention.attributes]
    return len(set(names)) < len(names)


def _has_types(document: Document) -> bool:
    return bool(document.entity_types) or any(
        name == "etype" for mention in document.mentions for name, _ in mention.attributes
    )


def make_cells(document: Document, header: Sequence[str]) -> dict[int, str]:
    """The value of ``Entity=`` for each token that has one.

    Order at a token as in CorefUD: closing brackets, opening ones, mentions of one word; but the last go first where
    nothing opens, so that nesting shows.
    """
    opening: dict[int, list[str]] = {}
    closing: dict[int, list[tuple[int, int, str]]] = {}
    singles: dict[int, list[str]] = {}
    labels = _make_labels(document)
    for order, (mention, label) in enumerate(zip(document.mentions, labels, strict=True)):
        parts = mention.parts or (mention.span,)
        for index, (start, end) in enumerate(parts, start=1):
            part_label = label.format(index)
            bracket = f"({_join_fields(document, mention, part_label, header)}"
            if end - start == 1:
                singles.setdefault(start, []).append(f"{bracket})")
            else:
                opening.setdefault(start, []).append(bracket)
                closing.setdefault(end - 1, []).append((-start, -order, f"{part_label})"))
    cells: dict[int, str] = {}
    for token in opening.keys() | closing.keys() | singles.keys():
        closed = "".join(text for *_, text in sorted(closing.get(token, ())))
        opened, single = "".join(opening.get(token, ())), "".join(singles.get(token, ()))
        cells[token] = closed + opened + single if opened else single + closed
    return cells


def _make_labels(document: Document) -> list[str]:
    """A label for each mention with room (``{}``) for the number of the part.

    Parts have ``[1/2]``; mentions of one entity that brackets could not tell apart (because they cross, or are
    discontinuous and overlap) get ``[1/1]``, ``[1/01]``, … which are different labels with the same meaning.
    """
    groups: dict[tuple[str, int], list[int]] = {}
    for index, mention in enumerate(document.mentions):
        groups.setdefault((mention.entity, len(mention.parts)), []).append(index)
    labels = [""] * len(document.mentions)
    for (entity, size), members in groups.items():
        spans = [document.mentions[index].span for index in members]
        name = escape(entity).replace("{", "{{").replace("}", "}}")
        for index, layer in zip(members, assign_layers(spans) if not size else _spread(spans), strict=True):
            if size:
                labels[index] = f"{name}[{{}}/{'0' * layer}{size}]"
            else:
                labels[index] = f"{name}[1/{'0' * (layer - 1)}1]" if layer else name
    return labels


def _spread(spans: Sequence[Span]) -> list[int]:
    """A layer for each span such that spans of one layer do not overlap at all."""
    ends: list[int] = []
    layers = []
    for start, end in spans:
        layer = next((i for i, last in enumerate(ends) if last <= start), len(ends))
        ends[layer : layer + 1] = [end]
        layers.append(layer)
    return layers


def _join_fields(document: Document, mention: Mention, label: str, header: Sequence[str]) -> str:
    attributes = list(mention.attributes)
    own_type = _take(attributes, "etype") or document.entity_types.get(mention.entity, "")
    id_field = find_id_field(header)
    values = []
    for position, name in enumerate(header):
        if position == id_field:
            values.append(label)
        elif name in TYPE_FIELDS:
            values.append(escape(own_type))
        elif name == "head":
            values.append(_count_head(mention))
        elif name == "other":
            values.append("")
        else:
            values.append(escape(_take(attributes, name) or ""))
    if "other" in header:
        values[header.index("other")] = ",".join(
            (f"{escape(key, _IN_OTHER)}:" if key != "other" else "") + escape(value, _IN_OTHER)
            for key, value in attributes
        )
    return "-".join(values).rstrip("-")


def _take(attributes: list[tuple[str, str]], name: str) -> str | None:
    """The value of the first attribute of this name, which is removed."""
    for index, (key, value) in enumerate(attributes):
        if key == name:
            del attributes[index]
            return value
    return None


def _count_head(mention: Mention) -> str:
    """The head as its place among the words of the mention, from 1."""
    if mention.head is None:
        return ""
    place = 1
    for start, end in mention.parts or (mention.span,):
        if start <= mention.head < end:
            return str(place + mention.head - start)
        place += end - start
    return ""
