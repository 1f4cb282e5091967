"""spaCy ``Doc`` objects and DocBin files (``.spacy``), with entities as span groups ``coref_clusters_1``, …

What spaCy can hold is where its users look for it, and changes made in spaCy are read back; the rest of a document is kept in
``doc.user_data["entitynlm"]``.
"""

import contextlib
import gc
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise
from typing import IO, Any

import numpy as np

from entitynlm.errors import DataError, EntityNLMError
from entitynlm.text.document import Document, Mention
from entitynlm.text.formats import json_records
from entitynlm.text.formats.base import Source
from entitynlm.text.formats.json_records import OURS, JsonObject, describe_mention, take

GROUP_PREFIX = "coref_clusters"
GROUP = re.compile(rf"{GROUP_PREFIX}_(\d+)")
DOC_COLUMNS = {"pos": "tag_", "upos": "pos_", "lemma": "lemma_", "feats": "morph", "deprel": "dep_"}
MORPHOLOGY = re.compile(r"[^\s|=]+=[^\s|=]+(?:\|[^\s|=]+=[^\s|=]+)*")
DOC_ATTRIBUTES = ("TAG", "POS", "LEMMA", "MORPH", "DEP", "HEAD", "SENT_START")

Complain = Callable[[str], None]


def recognise(path: str, sample: bytes) -> bool:
    """A zlib stream that begins as a DocBin does."""
    try:
        return b"version" in zlib.decompressobj().decompress(sample, 64)
    except zlib.error:
        return path.removesuffix(".gz").endswith(".spacy") and bool(sample)


def read(source: Source) -> Iterator[Document]:
    """Read the documents of a DocBin; no code in the file is ever run, whatever the file is."""
    data = b"".join(source.chunks())
    _check_unpacked(source, data)
    number = 0
    for number, doc in enumerate(_unpack(source, data), start=1):
        name = f"{source.stem}#{number}"
        with source.naming():
            try:
                document = from_spacy(doc, name, report=source.report)
            except EntityNLMError:
                raise
            except Exception as error:  # strings that the file names but does not hold, for example
                raise DataError(f"document {name!r} is damaged ({type(error).__name__})") from error
        yield document
    if not number:
        source.report("the file has no documents in it")


def _unpack(source: Source, data: bytes) -> Iterator[Any]:
    """Make the ``Doc`` objects of a DocBin, one at a time."""
    import spacy

    collecting = gc.isenabled()
    try:
        yield from spacy.tokens.DocBin().from_bytes(data).get_docs(spacy.vocab.Vocab())
    except Exception as error:  # spaCy checks nothing, so that a damaged file may fail in any way
        message = f"this is not a spaCy DocBin, or a damaged one ({type(error).__name__})"
        raise source.error(message) from error
    finally:
        if collecting:
            gc.enable()  # spaCy's decoder leaves it off when it fails


def _check_unpacked(source: Source, data: bytes) -> None:
    """Refuse an upload that unpacks to more than it may, before spaCy unpacks all of it."""
    if source.most is not None:
        with contextlib.suppress(zlib.error):  # spaCy's reader says more
            if len(zlib.decompressobj().decompress(data, source.most + 1)) > source.most:
                raise source.error(f"it has more than {source.most >> 20} MB when it is unpacked")


def write(documents: Iterable[Document], stream: IO[Any]) -> None:
    import spacy

    vocab = spacy.vocab.Vocab()
    packed = spacy.tokens.DocBin(attrs=DOC_ATTRIBUTES, store_user_data=True)
    for document in documents:
        packed.add(to_spacy(document, vocab))
    stream.write(packed.to_bytes())


def to_spacy(document: Document, vocab: Any = None) -> Any:
    """A spaCy ``Doc`` with exactly these words and all annotation of the document."""
    import spacy

    doc = _make_doc(spacy, document, spacy.blank("en").vocab if vocab is None else vocab)
    for number, entity in enumerate(document.entities, start=1):
        key = f"{GROUP_PREFIX}_{number}"
        spans = [spacy.tokens.Span(doc, *m.span, label=entity.type or "") for m in entity.mentions]
        described: JsonObject = {
            "id": entity.id,
            "spans": [list(mention.span) for mention in entity.mentions],
            "mentions": [describe_mention(mention) for mention in entity.mentions],
        } | ({} if entity.type is None else {"type": entity.type})
        attributes = {OURS: json.dumps(described)}
        doc.spans[key] = spacy.tokens.SpanGroup(doc, name=key, attrs=attributes, spans=spans)
    doc.user_data[OURS] = json.dumps(_describe_rest(document, doc))
    return doc


def from_spacy(doc: Any, name: str | None = None, *, report: Complain = lambda message: None) -> Document:
    """The document of a spaCy ``Doc``; white space that spaCy counts as tokens is left out.

    :param name: the document's id, where the ``Doc`` was not made by :func:`to_spacy`.
    """
    rest = _take_rest(doc, report)
    arguments, before = read_tokens(doc, keep_spaces=rest is not None)
    mentions, types = _read_groups(doc, before, report)
    if rest is None:
        if len(doc) and not doc.has_annotation("SENT_START"):
            report(f"document {name or 'document'!r} has no sentence starts; it is read as one sentence")
        return Document(name or "document", mentions=mentions, entity_types=types, **arguments)
    changes = json_records.restore_text(take(rest.get("set"), dict, "set"))
    arguments["columns"] |= changes.pop("columns", {})
    for key in rest.get("unset") or ():
        arguments["columns"].pop(key, None)
        arguments.pop(str(key), None)
    identifier = take(rest.get("id"), str, "id")
    return Document(identifier, mentions=mentions, entity_types=types, **{**arguments, **changes})


def _describe_rest(document: Document, doc: Any) -> JsonObject:
    """The fields in which the document differs from what is read out of ``doc``."""
    native = json_records.describe_text(Document(document.id, **read_tokens(doc, keep_spaces=True)[0]))
    wanted = json_records.describe_text(document)
    columns, native_columns = wanted.pop("columns", {}), native.pop("columns", {})
    changes = {key: value for key, value in wanted.items() if native.get(key) != value}
    new = {key: values for key, values in columns.items() if native_columns.get(key) != values}
    if new:
        changes["columns"] = new
    unset = sorted({*native} - {*wanted} | {*native_columns} - {*columns})
    return {"id": document.id, "words": len(document), "set": changes, "unset": unset}


def _take_rest(doc: Any, report: Complain) -> JsonObject | None:
    found = doc.user_data.get(OURS)
    if not isinstance(found, str):
        return None
    rest = _parse(found)
    if rest.get("words") != len(doc):
        report("the words were changed in spaCy; what was kept of the document before that is left out")
        return None
    return rest


def _parse(text: str) -> JsonObject:
    try:
        return take(json.loads(text), dict, OURS)
    except (ValueError, RecursionError) as error:
        raise DataError(f"what was kept under {OURS!r} is damaged") from error


def _read_groups(doc: Any, before: list[int], report: Complain) -> tuple[tuple[Mention, ...], dict[str, str]]:
    keys = sorted((int(match[1][:18]), key) for key in doc.spans if (match := GROUP.fullmatch(str(key))))
    clusters = []
    described: list[JsonObject] = []
    for number, key in keys:
        group = doc.spans[key]
        spans = []
        for span in group:
            start, end = max(span.start, 0), min(span.end, len(doc))
            if start < end and before[start] < before[end]:
                spans.append((before[start], before[end]))
            else:
                report(f"a mention in {key!r} has no words and was left out")
        entity = _parse(group.attrs[OURS]) if isinstance(group.attrs.get(OURS), str) else {"id": str(number)}
        if entity.get("spans") != [list(span) for span in spans]:
            entity.pop("mentions", None)  # the group was changed, so these details are of other mentions
        if any(entity.get("id") == other["id"] for other in described):
            entity["id"] = key
        clusters.append(spans)
        described.append(entity)
    return json_records.restore_mentions(clusters, described, report)


def _make_doc(spacy: Any, document: Document, vocab: Any) -> Any:
    """A ``Doc`` with the words, spaces, sentences and syntax of a document, as far as spaCy can hold them."""
    spaces = [True] * (len(document) - 1) + [False]
    if document.offsets is not None and document.text is not None:
        starts = [start for start, _ in document.offsets[1:]] + [len(document.text)]
        spaces = [start > end for start, (_, end) in zip(starts, document.offsets, strict=True)]
    columns = {name: [value or "" for value in values] for name, values in document.columns.items()}
    arguments: dict[str, Any] = {"tags": columns.get("pos"), "lemmas": columns.get("lemma")}
    if all(value in spacy.parts_of_speech.IDS for value in columns.get("upos", ())):
        arguments["pos"] = columns.get("upos")
    if all(not value or MORPHOLOGY.fullmatch(value) for value in columns.get("feats", ())):
        arguments["morphs"] = columns.get("feats")
    if _has_tree_per_sentence(document):
        arguments["deps"] = columns["deprel"]
        arguments["heads"] = [i if head < 0 else head for i, head in enumerate(document.heads or ())]
    else:
        first = {start for start, _ in document.sentences}
        arguments["sent_starts"] = [index in first for index in range(len(document))]
    words = list(document.tokens)
    return spacy.tokens.Doc(vocab, words=words, spaces=spaces[: len(words)], **arguments)


def read_tokens(doc: Any, *, keep_spaces: bool) -> tuple[dict[str, Any], list[int]]:
    """Arguments of ``Document`` from a ``Doc``, and the number of tokens that are kept before each one and before the end."""
    before = [0, *accumulate(int(keep_spaces or not token.text.isspace()) for token in doc)]
    kept = [token for token in doc if before[token.i] < before[token.i + 1]]
    columns = {}
    for name, attribute in DOC_COLUMNS.items():
        values = tuple(str(getattr(token, attribute)) or None for token in kept)
        if any(value is not None for value in values):
            columns[name] = values
    edges = sorted({before[token.i] for token in doc if token.is_sent_start} | {0, before[-1]})
    arguments: dict[str, Any] = {
        "tokens": tuple(token.text for token in kept),
        "sentences": tuple(pairwise(edges)),
        "columns": columns,
        "text": doc.text,
        "offsets": tuple((token.idx, token.idx + len(token)) for token in kept),
    }
    if kept and doc.has_annotation("DEP"):
        arguments["heads"] = tuple(_find_head(token, before) for token in kept)
    return arguments, before


def _has_tree_per_sentence(document: Document) -> bool:
    """Tell whether spaCy finds the same sentences in the parse: it makes one of every tree whose root has a label."""
    if document.heads is None or not document.tokens:
        return False
    from scipy.sparse import coo_array, csgraph  # here, because it would slow down every start of the program

    heads, sentences = np.array(document.heads), np.array(document.sentence_of)
    roots, others = np.flatnonzero(heads < 0), np.flatnonzero(heads >= 0)
    labels = document.column("deprel")
    if not all(labels[root] for root in roots) or any(sentences[others] != sentences[heads[others]]):
        return False
    arcs = coo_array((np.ones(len(others)), (others, heads[others])), shape=(len(heads), len(heads)))
    one_root_each = np.array_equal(sentences[roots], np.arange(len(document.sentences)))
    return one_root_each and csgraph.connected_components(arcs)[0] == len(document.sentences)


def _find_head(token: Any, before: list[int]) -> int:
    """The index of the head, or -1; where the head is a white-space token, that of its head."""
    while token.head.i != token.i:
        token = token.head
        if before[token.i] < before[token.i + 1]:
            return before[token.i]
    return -1
