"""spaCy ``Doc`` objects, with entities as span groups ``coref_clusters_1``, …

Values that spaCy has a place for are stored there, and span groups changed in spaCy are read back; the document itself is kept in
``doc.user_data["entitynlm"]``.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from entitynlm.text.document import Document, Entity, Mention
from entitynlm.text.formats.jsonlines import OURS

GROUP_PREFIX = "coref_clusters"
GROUP = re.compile(rf"{GROUP_PREFIX}_(\d+)")
DOC_COLUMNS = {"pos": "tag_", "upos": "pos_", "lemma": "lemma_", "feats": "morph", "deprel": "dep_"}


def to_spacy(document: Document, vocab: Any = None) -> Any:
    """Make a spaCy ``Doc`` with exactly these words, and a span group for each entity."""
    import spacy

    doc = _make_doc(spacy, document, spacy.blank("en").vocab if vocab is None else vocab)
    write_groups(doc, document.entities, range(len(document)))
    doc.user_data[OURS] = document.to_json()
    return doc


def write_groups(doc: Any, entities: Iterable[Entity], places: Sequence[int]) -> None:
    """Replace the span groups of entities; ``places`` are the ``Doc``'s tokens at which the words stand."""
    from spacy.tokens import Span

    for key in list_groups(doc):
        del doc.spans[key]
    for number, entity in enumerate(entities, start=1):
        ends = ((places[mention.start], places[mention.end - 1] + 1) for mention in entity.mentions)
        doc.spans[f"{GROUP_PREFIX}_{number}"] = [Span(doc, *span, label=entity.type or "") for span in ends]


def list_groups(doc: Any) -> dict[str, int]:
    """List the names of the entities' span groups with their numbers, sorted by number."""
    found = {str(key): int(match[1][:18]) for key in doc.spans if (match := GROUP.fullmatch(str(key)))}
    return dict(sorted(found.items(), key=lambda pair: (pair[1], pair[0])))


def from_spacy(doc: Any, name: str | None = None) -> Document:
    """Make a document from a spaCy ``Doc`` without its white-space tokens.

    :param name: the document's id, if the ``Doc`` was not made by :func:`to_spacy`.
    """
    kept = _find_kept(doc)
    if kept is None:
        arguments, before = read_tokens(doc)
        kept = Document(name or "document", **arguments)
    else:
        before = list(range(len(doc) + 1))
    return kept.with_mentions(*_read_groups(doc, before, kept))


def _find_kept(doc: Any) -> Document | None:
    """Find the document that a ``Doc`` was made from, unless its words were changed since."""
    record = doc.user_data.get(OURS)
    if not isinstance(record, str):
        return None
    kept = Document.from_json(record)
    return kept if [token.text for token in doc] == list(kept.tokens) else None


def _read_groups(doc: Any, before: list[int], kept: Document) -> tuple[list[Mention], dict[str, str]]:
    """Read mentions and entity types; an entity whose group is unchanged is that of the kept document."""
    known = dict(enumerate(kept.entities, start=1))
    mentions: list[Mention] = []
    types: dict[str, str] = {}
    for key, number in list_groups(doc).items():
        spans = []
        for span in doc.spans[key]:
            start, end = max(span.start, 0), min(span.end, len(doc))
            if start < end and before[start] < before[end]:
                spans.append((before[start], before[end]))
        entity = known.get(number)
        if entity is not None and [mention.span for mention in entity.mentions] == spans:
            name, kind = entity.id, entity.type
            mentions += entity.mentions
        else:
            name = key if any(other.id == str(number) for other in kept.entities) else str(number)
            kind = next((span.label_ for span in doc.spans[key] if span.label_), None)
            mentions += [Mention(*span, name) for span in spans]
        if kind is not None:
            types[name] = kind
    return mentions, types


def _make_doc(spacy: Any, document: Document, vocab: Any) -> Any:
    """Make a ``Doc`` with the words, spaces, sentences and tags of a document."""
    spaces = [True] * (len(document) - 1) + [False]
    if document.offsets is not None and document.text is not None:
        starts = [start for start, _ in document.offsets[1:]] + [len(document.text)]
        spaces = [start > end for start, (_, end) in zip(starts, document.offsets, strict=True)]
    columns = {name: [value or "" for value in values] for name, values in document.columns.items()}
    arguments: dict[str, Any] = {"tags": columns.get("pos"), "lemmas": columns.get("lemma")}
    if all(value in spacy.parts_of_speech.IDS for value in columns.get("upos", ())):
        arguments["pos"] = columns.get("upos")
    first = {start for start, _ in document.sentences}
    arguments["sent_starts"] = [index in first for index in range(len(document))]
    words = list(document.tokens)
    return spacy.tokens.Doc(vocab, words=words, spaces=spaces[: len(words)], **arguments)


def read_tokens(doc: Any) -> tuple[dict[str, Any], list[int]]:
    """Read the arguments of ``Document`` from a ``Doc``, and the number of words before each token and before the end."""
    before = [0, *accumulate(int(not token.text.isspace()) for token in doc)]
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


def _find_head(token: Any, before: list[int]) -> int:
    """Return the index of the head, or -1; a white-space token is replaced by its own head."""
    while token.head.i != token.i:
        token = token.head
        if before[token.i] < before[token.i + 1]:
            return before[token.i]
    return -1
