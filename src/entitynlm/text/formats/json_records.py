"""A document as one JSON object and back, without loss; msgspec checks the types of what is read.

The object is what e2e-coref reads and writes; what that lacks stands under the key ``entitynlm``, which other programs ignore.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Quotation, Span
from entitynlm.text.segmentation import find_spans

OURS = "entitynlm"
RECORD_VERSION = 1

JsonObject = dict[str, Any]


class JsonMention(msgspec.Struct, omit_defaults=True, frozen=True):
    """The fields of a mention other than its span and entity."""

    head: int | None = None
    attributes: tuple[tuple[str, str], ...] = ()


class JsonEntity(msgspec.Struct, omit_defaults=True):
    """An entity; ``mentions`` has the details of its mentions in the order of its cluster."""

    id: str
    type: str | None = None
    mentions: list[JsonMention] = []


class JsonText(msgspec.Struct, omit_defaults=True):
    """The fields of a document other than words, sentences, mentions and quotations."""

    text: str | None = None
    offsets: tuple[Span, ...] | None = None
    columns: dict[str, list[str | None]] = {}
    heads: tuple[int, ...] | None = None
    meta: dict[str, str] = {}


def make_record(document: Document) -> JsonObject:
    """Describe a document as an object that :func:`restore_document` reads."""
    speakers = [speaker or "" for speaker in document.column("speaker")]
    entities = []
    for entity in document.entities:
        details = [JsonMention(mention.head, mention.attributes) for mention in entity.mentions]
        known = details if any(detail != JsonMention() for detail in details) else []
        entities.append(JsonEntity(entity.id, entity.type, known))
    ours: JsonObject = {"version": RECORD_VERSION, "entities": entities}
    if document.quotations:
        ours["quotations"] = document.quotations
    columns = {name: list(values) for name, values in document.columns.items()}
    text = JsonText(document.text, document.offsets, columns, document.heads, dict(document.meta))
    return {
        "doc_key": document.id,
        "sentences": [document.tokens[start:end] for start, end in document.sentences],
        "speakers": [speakers[start:end] for start, end in document.sentences],
        "clusters": [[[m.start, m.end - 1] for m in entity.mentions] for entity in document.entities],
        OURS: {**msgspec.to_builtins(ours), **msgspec.to_builtins(text)},
    }


def restore_document(record: JsonObject, report: Callable[[str], None]) -> Document:
    """Make the document of an object that :func:`make_record` made; anything else is a ``DataError``."""
    extras = record.get(OURS)
    if not isinstance(extras, dict) or extras.get("version") != RECORD_VERSION:
        message = f"the part {OURS!r} of the record is not of version {RECORD_VERSION}"
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
        quotations=take(extras.get("quotations") or (), tuple[Quotation, ...], "quotations"),
        **msgspec.structs.asdict(take(extras, JsonText, OURS)),
    )


def restore_mentions(
    clusters: Sequence[Sequence[Span]], entities: object, report: Callable[[str], None]
) -> tuple[tuple[Mention, ...], dict[str, str]]:
    """Make mentions and entity types; where the clusters were edited, their entities are numbered 1, 2, …"""
    described: list[JsonEntity] = take(entities or [], list[JsonEntity], "entities")
    if len(described) != len(clusters):
        if described:
            report("the names of the entities no longer fit the clusters; they are numbered anew")
        described = [JsonEntity(str(number)) for number in range(1, len(clusters) + 1)]
    for name, times in Counter(entity.id for entity in described).items():
        if times > 1:
            report(f"{times} clusters have the id {name!r}, so they are one entity")
    mentions: list[Mention] = []
    for spans, entity in zip(clusters, described, strict=True):
        details = entity.mentions
        if details and len(details) != len(spans):
            report(f"the details of the mentions of entity {entity.id!r} no longer fit them and are left out")
        if len(details) != len(spans):
            details = [JsonMention()] * len(spans)
        pairs = zip(spans, details, strict=True)
        mentions += [Mention(*span, entity.id, each.head, each.attributes) for span, each in pairs]
    return tuple(mentions), {entity.id: entity.type for entity in described if entity.type is not None}


def take(value: object, kind: Any, what: str) -> Any:
    """Check that a value out of JSON is of this type, such as ``list[Span]``; ``what`` names it in the error."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise DataError(f"{what!r} can't be read ({error})", found=str(value)[:80]) from error
