"""A document as one JSON object and back, without loss.

The object is what e2e-coref reads and writes (``doc_key``, ``sentences``, ``speakers``, ``clusters`` with
inclusive spans); what that lacks (entity ids and types, heads, parts and attributes of mentions, raw text,
columns, …) stands under the one key ``entitynlm``, which others pass over. Formats that can't hold all of a
document themselves (spaCy's, brat's) keep the rest in such an object too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Span

OURS = "entitynlm"
VERSION = 1

Record = dict[str, Any]


def make_record(document: Document) -> Record:
    """The JSON object of a document."""
    speakers = [speaker or "" for speaker in document.column("speaker")]
    return {
        "doc_key": document.id,
        "sentences": [list(document.tokens[start:end]) for start, end in document.sentences],
        "speakers": [speakers[start:end] for start, end in document.sentences],
        "clusters": [[[m.start, m.end - 1] for m in entity.mentions] for entity in document.entities],
        OURS: {"version": VERSION, **describe_entities(document), **describe_text(document)},
    }


def describe_text(document: Document) -> Record:
    """What a document holds beside its words, sentences and mentions."""
    extras: Record = {}
    if document.text is not None:
        extras["text"] = document.text
    if document.offsets is not None:
        extras["offsets"] = [list(offset) for offset in document.offsets]
    if document.columns:
        extras["columns"] = {name: list(values) for name, values in document.columns.items()}
    if document.heads is not None:
        extras["heads"] = list(document.heads)
    if document.meta:
        extras["meta"] = dict(document.meta)
    return extras


def describe_entities(document: Document) -> Record:
    """Names and types of the clusters and the details of their mentions, in the order of the clusters."""
    entities: list[Record] = []
    for entity in document.entities:
        described: Record = {"id": entity.id}
        if entity.type is not None:
            described["type"] = entity.type
        details = [describe_mention(mention) for mention in entity.mentions]
        if any(details):
            described["mentions"] = details
        entities.append(described)
    return {"entities": entities}


def describe_mention(mention: Mention) -> Record:
    """What a mention has beside its span and entity."""
    details: Record = {}
    if mention.parts:
        details["parts"] = [list(part) for part in mention.parts]
    if mention.head is not None:
        details["head"] = mention.head
    if mention.attributes:
        details["attributes"] = [list(pair) for pair in mention.attributes]
    return details


def restore_document(record: Record, report: Callable[[str], None]) -> Document:
    """The document of an object that :func:`make_record` made; what makes no sense is a ``DataError``."""
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
        id=take_text(record.get("doc_key"), "doc_key"),
        tokens=tuple(token for sentence in sentences for token in sentence),
        sentences=find_spans(sentences),
        mentions=mentions,
        entity_types=types,
        **restore_text(extras),
    )


def restore_text(extras: Record) -> dict[str, Any]:
    """The arguments of ``Document`` that :func:`describe_text` described."""
    arguments: dict[str, Any] = {}
    if extras.get("text") is not None:
        arguments["text"] = take_text(extras["text"], "text")
    if extras.get("offsets") is not None:
        arguments["offsets"] = tuple(take_spans(extras["offsets"], "offsets"))
    if extras.get("columns") is not None:
        columns = take_object(extras["columns"], "columns")
        arguments["columns"] = {name: tuple(take_values(found, name)) for name, found in columns.items()}
    if extras.get("heads") is not None:
        heads = take_list(extras["heads"], "heads")
        arguments["heads"] = tuple(take_number(head, "heads") for head in heads)
    if extras.get("meta") is not None:
        meta = take_object(extras["meta"], "meta")
        arguments["meta"] = {name: take_text(value, "meta") for name, value in meta.items()}
    return arguments


def restore_mentions(
    clusters: Sequence[Sequence[Span]], entities: object, report: Callable[[str], None]
) -> tuple[tuple[Mention, ...], dict[str, str]]:
    """Mentions and entity types; without names for just these clusters (they were edited) they are 1, 2, …"""
    described = [take_object(entity, "entities") for entity in take_list(entities or [], "entities")]
    if len(described) != len(clusters):
        if described:
            report("the names of the entities no longer fit the clusters; they are numbered anew")
        described = [{"id": str(number)} for number in range(1, len(clusters) + 1)]
    mentions: list[Mention] = []
    types: dict[str, str] = {}
    for spans, entity in zip(clusters, described, strict=True):
        name = take_text(entity.get("id"), "id")
        if entity.get("type") is not None:
            types[name] = take_text(entity["type"], "type")
        details = [
            take_object(detail, "mentions") for detail in take_list(entity.get("mentions") or [], "mentions")
        ]
        if details and len(details) != len(spans):
            report(f"the details of the mentions of entity {name!r} no longer fit them and are left out")
            details = []
        for index, span in enumerate(spans):
            mentions.append(restore_mention(span, name, details[index] if details else {}))
    return tuple(mentions), types


def restore_mention(span: Span, entity: str, details: Record) -> Mention:
    """A mention with the details that :func:`describe_mention` described."""
    head = details.get("head")
    attributes = [
        take_list(pair, "attributes") for pair in take_list(details.get("attributes") or [], "attributes")
    ]
    if any(len(pair) != 2 for pair in attributes):
        raise DataError(
            "an attribute of a mention is not a pair of a name and a value", found=str(attributes)
        )
    return Mention(
        *span,
        entity,
        parts=tuple(take_spans(details.get("parts") or [], "parts")),
        head=None if head is None else take_number(head, "head"),
        attributes=tuple((take_text(a, "attributes"), take_text(b, "attributes")) for a, b in attributes),
    )


# -- taking values out of JSON, with readable errors where they are of another kind
# ----------------------------


def take_list(value: object, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise DataError(f"{what!r} should be a list", found=_show(value))
    return value


def take_object(value: object, what: str) -> Record:
    if not isinstance(value, dict):
        raise DataError(f"{what!r} should be an object", found=_show(value))
    return value


def take_text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise DataError(f"{what!r} should be a string", found=_show(value))
    return value


def take_number(value: object, what: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise DataError(f"{what!r} should be a whole number", found=_show(value))
    return value


def take_values(value: object, what: str) -> list[str | None]:
    return [None if each is None else take_text(each, what) for each in take_list(value, what)]


def take_sentences(value: object, what: str) -> list[list[str]]:
    return [[take_text(word, what) for word in take_list(words, what)] for words in take_list(value, what)]


def take_spans(value: object, what: str) -> list[Span]:
    spans: list[Span] = []
    for pair in take_list(value, what):
        if len(take_list(pair, what)) != 2:
            raise DataError(f"{what!r} should hold pairs of a start and an end", found=_show(pair))
        spans.append((take_number(pair[0], what), take_number(pair[1], what)))
    return spans


def take_clusters(value: object, what: str) -> list[list[Span]]:
    return [take_spans(spans, what) for spans in take_list(value, what)]


def find_spans(sentences: Iterable[Sequence[object]]) -> tuple[Span, ...]:
    """The ranges of sentences that follow each other; empty ones are passed over."""
    spans: list[Span] = []
    start = 0
    for sentence in sentences:
        if sentence:
            spans.append((start, start + len(sentence)))
            start += len(sentence)
    return tuple(spans)


def _show(value: object) -> str:
    return (str(value) if isinstance(value, str | int | float | None) else f"a {type(value).__name__}")[:80]
