"""A document as one JSON object and back, without loss.

The object is what e2e-coref reads and writes; what that lacks stands under the key ``entitynlm``, which other programs ignore.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, get_args, get_origin

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Quotation, Span
from entitynlm.text.segmentation import find_spans

OURS = "entitynlm"
VERSION = 1
JSON_TYPES = {list: "a list", dict: "an object", str: "a string", int: "a whole number"}
TEXT_FIELDS = {
    "text": str,
    "offsets": list[Span],
    "columns": dict[str, list[str | None]],
    "heads": list[int],
    "meta": dict[str, str],
}

JsonObject = dict[str, Any]


def make_record(document: Document) -> JsonObject:
    speakers = [speaker or "" for speaker in document.column("speaker")]
    entities: list[JsonObject] = []
    for entity in document.entities:
        details = [describe_mention(mention) for mention in entity.mentions]
        described = {"id": entity.id, "type": entity.type, "mentions": details if any(details) else None}
        entities.append(_drop_empty(described))
    return {
        "doc_key": document.id,
        "sentences": [document.tokens[start:end] for start, end in document.sentences],
        "speakers": [speakers[start:end] for start, end in document.sentences],
        "clusters": [[[m.start, m.end - 1] for m in entity.mentions] for entity in document.entities],
        OURS: {
            "version": VERSION,
            "entities": entities,
            **describe_quotations(document),
            **describe_text(document),
        },
    }


def describe_quotations(document: Document) -> JsonObject:
    """What is said, with speakers and addressees where they are known."""
    if not document.quotations:
        return {}
    return {"quotations": [_drop_empty(dataclasses.asdict(quotation)) for quotation in document.quotations]}


def restore_quotations(extras: JsonObject) -> tuple[Quotation, ...]:
    """The quotations that :func:`describe_quotations` described."""
    return tuple(
        Quotation(
            take(each.get("start"), int, "start"),
            take(each.get("end"), int, "end"),
            take(each.get("speaker"), str | None, "speaker"),
            take(each.get("addressee"), str | None, "addressee"),
        )
        for each in take(extras.get("quotations") or [], list[JsonObject], "quotations")
    )


def describe_text(document: Document) -> JsonObject:
    """The fields of a document other than words, sentences and mentions."""
    columns, meta = dict(document.columns) or None, dict(document.meta) or None
    values = (document.text, document.offsets, columns, document.heads, meta)
    return _drop_empty(dict(zip(TEXT_FIELDS, values, strict=True)))


def describe_mention(mention: Mention) -> JsonObject:
    """The fields of a mention other than its span and entity."""
    parts, attributes = mention.parts or None, mention.attributes or None
    return _drop_empty({"parts": parts, "head": mention.head, "attributes": attributes})


def _drop_empty(fields: JsonObject) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def restore_document(record: JsonObject, report: Callable[[str], None]) -> Document:
    """The document of an object that :func:`make_record` made; anything else is a ``DataError``."""
    extras = record.get(OURS)
    if not isinstance(extras, dict) or extras.get("version") != VERSION:
        message = f"the part {OURS!r} of the record is not of version {VERSION}"
        hint = "A newer version of this package may have written it"
        raise DataError(message, found=str(extras)[:80], hint=hint)
    sentences = take(record.get("sentences"), list[list[str]], "sentences")
    clusters = take(record.get("clusters"), list[list[Span]], "clusters")
    spans = [[(first, last + 1) for first, last in cluster] for cluster in clusters]
    mentions, types = restore_mentions(spans, extras.get("entities"), report)
    return Document(
        id=take(record.get("doc_key"), str, "doc_key"),
        tokens=tuple(token for sentence in sentences for token in sentence),
        sentences=find_spans(sentences),
        mentions=mentions,
        entity_types=types,
        quotations=restore_quotations(extras),
        **restore_text(extras),
    )


def restore_text(extras: JsonObject) -> dict[str, Any]:
    """The arguments of ``Document`` that :func:`describe_text` described."""
    given = {name: kind for name, kind in TEXT_FIELDS.items() if extras.get(name) is not None}
    return {name: take(extras[name], kind, name) for name, kind in given.items()}


def restore_mentions(
    clusters: Sequence[Sequence[Span]], entities: object, report: Callable[[str], None]
) -> tuple[tuple[Mention, ...], dict[str, str]]:
    """Mentions and entity types; where the clusters were edited, their entities are numbered 1, 2, …"""
    described = take(entities or [], list[JsonObject], "entities")
    if len(described) != len(clusters):
        if described:
            report("the names of the entities no longer fit the clusters; they are numbered anew")
        described = [{"id": str(number)} for number in range(1, len(clusters) + 1)]
    mentions: list[Mention] = []
    types: dict[str, str] = {}
    for spans, entity in zip(clusters, described, strict=True):
        name = take(entity.get("id"), str, "id")
        if entity.get("type") is not None:
            types[name] = take(entity["type"], str, "type")
        details = take(entity.get("mentions") or [], list[JsonObject], "mentions")
        if details and len(details) != len(spans):
            report(f"the details of the mentions of entity {name!r} no longer fit them and are left out")
            details = []
        for index, span in enumerate(spans):
            mentions.append(restore_mention(span, name, details[index] if details else {}))
    return tuple(mentions), types


def restore_mention(span: Span, entity: str, details: JsonObject) -> Mention:
    """A mention with the details that :func:`describe_mention` described."""
    parts = take(details.get("parts") or [], list[Span], "parts")
    head = take(details.get("head"), int | None, "head")
    attributes = take(details.get("attributes") or [], list[tuple[str, str]], "attributes")
    return Mention(*span, entity, tuple(parts), head, tuple(attributes))


def take(value: object, kind: Any, what: str) -> Any:
    """``value`` out of JSON if it is of this type, such as ``list[Span]``; ``what`` names it in the error."""
    if kind in JSON_TYPES:
        if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
            return value
        shown = str(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
        raise DataError(f"{what!r} should be {JSON_TYPES[kind]}", found=shown[:80])
    outer, inner = get_origin(kind), get_args(kind)
    if outer is list:
        return [take(each, inner[0], what) for each in take(value, list, what)]
    if outer is dict:
        return {key: take(each, inner[1], what) for key, each in take(value, dict, what).items()}
    if outer is tuple:
        pair = take(value, list, what)
        if len(pair) != len(inner):
            raise DataError(f"{what!r} should hold pairs", found=str(value)[:80])
        return tuple(take(each, one, what) for each, one in zip(pair, inner, strict=True))
    return value if value is None or kind is Any else take(value, inner[0], what)  # of T | None
