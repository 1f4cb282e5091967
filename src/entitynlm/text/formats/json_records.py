"""A document as one JSON object and back, without loss.

The object is what e2e-coref reads and writes; what that lacks stands under the key ``entitynlm``, which other programs ignore.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.segmentation import find_spans

OURS = "entitynlm"
VERSION = 1
KINDS = {list: "a list", dict: "an object", str: "a string", int: "a whole number"}

JsonObject = dict[str, Any]
T = TypeVar("T")


def make_record(document: Document) -> JsonObject:
    """The JSON object of a document."""
    speakers = [speaker or "" for speaker in document.column("speaker")]
    entities: list[JsonObject] = []
    for entity in document.entities:
        details = [describe_mention(mention) for mention in entity.mentions]
        described = {"id": entity.id, "type": entity.type, "mentions": details if any(details) else None}
        entities.append(_drop_empty(described))
    return {
        "doc_key": document.id,
        "sentences": [list(document.tokens[start:end]) for start, end in document.sentences],
        "speakers": [speakers[start:end] for start, end in document.sentences],
        "clusters": [[[m.start, m.end - 1] for m in entity.mentions] for entity in document.entities],
        OURS: {"version": VERSION, "entities": entities, **describe_text(document)},
    }


def describe_text(document: Document) -> JsonObject:
    """The fields of a document other than words, sentences and mentions."""
    fields = {
        "text": document.text,
        "offsets": None if document.offsets is None else [list(offset) for offset in document.offsets],
        "columns": {name: list(values) for name, values in document.columns.items()} or None,
        "heads": None if document.heads is None else list(document.heads),
        "meta": dict(document.meta) or None,
    }
    return _drop_empty(fields)


def describe_mention(mention: Mention) -> JsonObject:
    """The fields of a mention other than its span and entity."""
    fields = {
        "parts": [list(part) for part in mention.parts] or None,
        "head": mention.head,
        "attributes": [list(pair) for pair in mention.attributes] or None,
    }
    return _drop_empty(fields)


def _drop_empty(fields: JsonObject) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def restore_document(record: JsonObject, report: Callable[[str], None]) -> Document:
    """The document of an object that :func:`make_record` made; anything else is a ``DataError``."""
    extras = record.get(OURS)
    if not isinstance(extras, dict) or extras.get("version") != VERSION:
        raise DataError(
            f"the part {OURS!r} of the record is not of version {VERSION}",
            found=str(extras)[:80],
            hint="A newer version of this package may have written it",
        )
    sentences = take_sentences(record.get("sentences"), "sentences")
    clusters = [[(a, b + 1) for a, b in spans] for spans in take_clusters(record.get("clusters"), "clusters")]
    mentions, types = restore_mentions(clusters, extras.get("entities"), report)
    return Document(
        id=take(record.get("doc_key"), str, "doc_key"),
        tokens=tuple(token for sentence in sentences for token in sentence),
        sentences=find_spans(sentences),
        mentions=mentions,
        entity_types=types,
        **restore_text(extras),
    )


def restore_text(extras: JsonObject) -> dict[str, Any]:
    """The arguments of ``Document`` that :func:`describe_text` described."""
    readers: dict[str, Callable[[Any], Any]] = {
        "text": lambda text: take(text, str, "text"),
        "offsets": lambda offsets: tuple(take_spans(offsets, "offsets")),
        "columns": lambda columns: {
            name: tuple(take_values(values, name)) for name, values in take(columns, dict, "columns").items()
        },
        "heads": lambda heads: tuple(take(head, int, "heads") for head in take(heads, list, "heads")),
        "meta": lambda meta: {k: take(value, str, "meta") for k, value in take(meta, dict, "meta").items()},
    }
    return {name: read(extras[name]) for name, read in readers.items() if extras.get(name) is not None}


def restore_mentions(
    clusters: Sequence[Sequence[Span]], entities: object, report: Callable[[str], None]
) -> tuple[tuple[Mention, ...], dict[str, str]]:
    """Mentions and entity types; where the clusters were edited, their entities are numbered 1, 2, …"""
    described = [take(entity, dict, "entities") for entity in take(entities or [], list, "entities")]
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
        listed = take(entity.get("mentions") or [], list, "mentions")
        details = [take(detail, dict, "mentions") for detail in listed]
        if details and len(details) != len(spans):
            report(f"the details of the mentions of entity {name!r} no longer fit them and are left out")
            details = []
        for index, span in enumerate(spans):
            mentions.append(restore_mention(span, name, details[index] if details else {}))
    return tuple(mentions), types


def restore_mention(span: Span, entity: str, details: JsonObject) -> Mention:
    """A mention with the details that :func:`describe_mention` described."""
    head = details.get("head")
    listed = take(details.get("attributes") or [], list, "attributes")
    attributes = [take(pair, list, "attributes") for pair in listed]
    if any(len(pair) != 2 for pair in attributes):
        raise DataError(
            "an attribute of a mention is not a pair of a name and a value", found=str(attributes)
        )
    return Mention(
        *span,
        entity,
        parts=tuple(take_spans(details.get("parts") or [], "parts")),
        head=None if head is None else take(head, int, "head"),
        attributes=tuple((take(a, str, "attributes"), take(b, str, "attributes")) for a, b in attributes),
    )


def take(value: object, kind: type[T], what: str) -> T:
    """``value`` if it is of this type; ``what`` names it in the error."""
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        shown = str(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}"
        raise DataError(f"{what!r} should be {KINDS[kind]}", found=shown[:80])
    return value


def take_values(value: object, what: str) -> list[str | None]:
    return [None if each is None else take(each, str, what) for each in take(value, list, what)]


def take_sentences(value: object, what: str) -> list[list[str]]:
    return [[take(word, str, what) for word in take(words, list, what)] for words in take(value, list, what)]


def take_spans(value: object, what: str) -> list[Span]:
    spans: list[Span] = []
    for pair in take(value, list, what):
        if len(take(pair, list, what)) != 2:
            raise DataError(f"{what!r} should hold pairs of a start and an end", found="a list")
        spans.append((take(pair[0], int, what), take(pair[1], int, what)))
    return spans


def take_clusters(value: object, what: str) -> list[list[Span]]:
    return [take_spans(spans, what) for spans in take(value, list, what)]
