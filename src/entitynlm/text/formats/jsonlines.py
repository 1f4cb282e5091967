"""JSON lines, one document a line, as e2e-coref, fastcoref and similar systems read and write them.

``docs/formats.md`` describes the fields; lines that this package wrote have a key ``entitynlm`` and are read back without loss.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import IO, Any

import msgspec

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Quotation, Span
from entitynlm.text.formats.base import Source
from entitynlm.text.segmentation import align_span, find_spans, find_words, segment_text

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
    """Describe a document as a JSON object, which :func:`restore_document` reads."""
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
    """Make the document of an object from :func:`make_record`; any other object is a ``DataError``."""
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
    """Make mentions and entity types; if the clusters were edited, entities are numbered 1, 2, …"""
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


Complain = Callable[[str], None]
Locate = Callable[[int, int], Span | None]  # the words of a span in the file

NAMES = ("doc_key", "doc_id", "document_id", "id")
HALF_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
HALF_CHARACTER = re.compile(r"[\ud800-\udfff]")


def recognise(path: str, sample: bytes) -> bool:
    """Recognise a file that begins with an object (or with an array, for which the reader raises a helpful error)."""
    start = sample.removeprefix(b"\xef\xbb\xbf").lstrip()
    if re.match(rb'\{\s*("|\}|$)', start):
        return True
    return path.removesuffix(".gz").endswith((".jsonl", ".jsonlines", ".json")) and start[:1] != b""


def read(source: Source) -> Iterator[Document]:
    """Read one document per line that is not blank."""
    count = 0
    for number, line in source.lines():
        if line.strip():
            count += 1
            with source.naming(number):
                record = parse_line(line)
            yield read_record(record, source, number, count)
    if not count:
        source.report("the file has no documents in it")


def write(documents: Iterable[Document], stream: IO[Any]) -> None:
    """Write one line per document, without loss."""
    for document in documents:
        stream.write(json.dumps(make_record(document), ensure_ascii=False) + "\n")


def parse_line(line: str) -> JsonObject:
    """Parse a line as an object; if it is another value, the error says which."""
    try:
        record = json.loads(line)
        if HALF_ESCAPE.search(line):  # half of a character outside of its pair can't be written as UTF-8
            record = json.loads(HALF_CHARACTER.sub("\ufffd", json.dumps(record, ensure_ascii=False)))
    except (ValueError, RecursionError) as error:
        problem = f"this line is not valid JSON ({error})"
    else:
        if isinstance(record, dict):
            return record
        problem = "this line is not a JSON object"
    raise DataError(
        problem,
        found=line.strip()[:60],
        expected='one whole JSON object per line, such as {"doc_key": …, "sentences": …, "clusters": …}',
        hint="A file that is one array or is spread over lines can be turned by: jq -c '.[]?' or jq -c .",
    )


def read_record(record: JsonObject, source: Source, number: int, count: int) -> Document:
    """Read the document of a line, the ``count``-th that is not blank."""
    with source.naming(number):
        return _make_document(record, source, number, count)


def find_name(record: JsonObject) -> str | None:
    """Find the id of a document under one of the usual keys."""
    names = (record.get(key) for key in NAMES)
    return next((str(name) for name in names if isinstance(name, str | int) and str(name).strip()), None)


def _make_document(record: JsonObject, source: Source, number: int, count: int) -> Document:
    report = partial(source.report, line=number)
    if OURS in record:
        return restore_document(record, report)
    name = find_name(record) or f"{source.stem}#{count}"
    clusters = take(record.get("clusters") or [], list[list[Span]], "clusters")
    if record.get("sentences") is not None or record.get("tokens") is not None:
        document = _read_words(record, name, report)
        locate = _locate_tokens(len(document))
    elif record.get("text") is None:
        raise DataError(
            "the document has no words",
            found=", ".join(sorted(record))[:80],
            expected="one of the keys sentences, tokens and text",
        )
    else:
        text = take(record["text"], str, "text")
        cut = segment_text(text)
        document = Document(name, cut.tokens, cut.sentences, text=text, offsets=cut.offsets)
        locate = _locate_characters(text, cut.offsets, report)
    return document.with_mentions(
        Mention(*words, str(number))
        for number, spans in enumerate(clusters, start=1)
        for span in spans
        if (words := locate(*span)) is not None
    )


def _read_words(record: JsonObject, name: str, report: Complain) -> Document:
    """Read the words of a document, without its mentions."""
    if record.get("sentences") is not None:
        sentences = take(record["sentences"], list[list[str]], "sentences")
    else:
        sentences = [take(record["tokens"], list[str], "tokens")]
        report("there are no sentence ends in this document; it is read as one sentence")
    words = tuple(word if word.strip() else "_" for sentence in sentences for word in sentence)
    if any(not word.strip() for sentence in sentences for word in sentence):
        report("words that are blank were read as '_'")
    columns = {}
    for key, column in (("speakers", "speaker"), ("pos", "pos")):
        values = _take_column(record.get(key), key, len(words), report)
        if values is not None:
            columns[column] = tuple(values)
    text, genre = record.get("text"), record.get("genre")
    offsets = find_words(words, text) if isinstance(text, str) else None
    return Document(
        name,
        words,
        find_spans(sentences),
        columns=columns,
        text=text if offsets is not None else None,
        offsets=offsets,
        meta={"genre": genre} if isinstance(genre, str) else {},
    )


def _take_column(value: object, what: str, size: int, report: Complain) -> list[str | None] | None:
    """Read a value per word from a list, or from a list per sentence; any other value is reported and left out."""
    if not isinstance(value, list) or not value:
        return None
    try:
        lists = value if all(isinstance(each, list) for each in value) else [value]
        values = [v for each in lists for v in take(each, list[str | None], what)]
    except DataError:
        values = []
    if len(values) != size:
        report(f"{what!r} does not give one string per word and is left out")
        return None
    return [each if each and each.strip() else None for each in values]


def _locate_tokens(size: int) -> Locate:
    """Read spans of tokens whose end is inclusive."""

    def locate(start: int, last: int) -> Span:
        if not 0 <= start <= last < size:
            hint = "The second number of a span is its last word: [0, 0] is the first word"
            raise DataError(
                f"the span [{start}, {last}] is not within the document's {size} words", hint=hint
            )
        return start, last + 1

    return locate


def _locate_characters(text: str, offsets: Sequence[Span], report: Complain) -> Locate:
    """Read spans of characters; a span that cuts a word is extended to the whole word."""

    def locate(start: int, end: int) -> Span | None:
        if not 0 <= start < end <= len(text):
            raise DataError(f"the span [{start}, {end}] is not within the text's {len(text)} characters")
        words, whole = align_span(offsets, start, end)
        if words is None:
            report(f"the mention [{start}, {end}] has no word in it and was left out")
        elif not whole:
            shown = f"the mention [{start}, {end}] {text[start:end][:40]!r}"
            report(f"{shown} cuts a word; it is read as whole words")
        return words

    return locate
