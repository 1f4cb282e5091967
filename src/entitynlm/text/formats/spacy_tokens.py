"""The words of a document as the tokens of a spaCy ``Doc`` and back, with the columns that spaCy knows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from entitynlm.extras import require
from entitynlm.text.document import Document, Span

COLUMNS = {"pos": "tag_", "upos": "pos_", "lemma": "lemma_", "feats": "morph", "deprel": "dep_"}
FEATURES = re.compile(r"[^\s|=]+=[^\s|=]+(?:\|[^\s|=]+=[^\s|=]+)*")


@dataclass
class Tokens:
    """What the tokens of a ``Doc`` say, as arguments of ``Document``, and how spaCy's counting maps to ours."""

    arguments: dict[str, Any]
    before: list[int]
    """For each token of the ``Doc``, and for its end, the number of tokens kept before it."""


def make_doc(document: Document, vocab: Any) -> Any:
    """A ``Doc`` with the words, spaces, sentences and syntax of a document, as far as spaCy takes them."""
    spacy = require("spacy", extra="spacy", purpose="Making spaCy documents")
    words = list(document.tokens)
    columns = {name: [value or "" for value in values] for name, values in document.columns.items()}
    arguments: dict[str, Any] = {"spaces": _find_spaces(document)}
    if "pos" in columns:
        arguments["tags"] = columns["pos"]
    if "lemma" in columns:
        arguments["lemmas"] = columns["lemma"]
    if all(value in spacy.parts_of_speech.IDS for value in columns.get("upos", ())):
        arguments["pos"] = columns.get("upos")
    if all(not value or FEATURES.fullmatch(value) for value in columns.get("feats", ())):
        arguments["morphs"] = columns.get("feats")
    if any(columns.get("deprel", ())) and _has_tree_per_sentence(document):
        arguments["deps"] = columns["deprel"]
        arguments["heads"] = [i if head < 0 else head for i, head in enumerate(document.heads or ())]
    else:
        starts = {start for start, _ in document.sentences}
        arguments["sent_starts"] = [index in starts for index in range(len(words))]
    return spacy.tokens.Doc(vocab, words=words, **arguments)


def read_tokens(doc: Any, *, keep_spaces: bool) -> Tokens:
    """Words, places, sentences and columns of a ``Doc``, with or without the white space that is a token."""
    before = [0]
    for token in doc:
        before.append(before[-1] + (keep_spaces or not token.text.isspace()))
    kept = [token for token in doc if before[token.i] < before[token.i + 1]]
    columns = {}
    for name, attribute in COLUMNS.items():
        values = tuple(str(getattr(token, attribute)) or None for token in kept)
        if any(value is not None for value in values):
            columns[name] = values
    arguments: dict[str, Any] = {
        "tokens": tuple(token.text for token in kept),
        "sentences": _find_sentences(doc, before),
        "columns": columns,
        "text": doc.text,
        "offsets": tuple((token.idx, token.idx + len(token)) for token in kept),
    }
    if kept and doc.has_annotation("DEP"):
        arguments["heads"] = tuple(_find_head(token, before) for token in kept)
    return Tokens(arguments, before)


def _find_spaces(document: Document) -> list[bool]:
    if document.offsets is None or document.text is None:
        return [index < len(document) - 1 for index in range(len(document))]
    starts = [start for start, _ in document.offsets[1:]] + [len(document.text)]
    return [start > end for start, (_, end) in zip(starts, document.offsets, strict=True)]


def _has_tree_per_sentence(document: Document) -> bool:
    """spaCy's sentences are its trees, so that any other shape of the heads would move the sentence ends."""
    if document.heads is None:
        return False
    for start, end in document.sentences:
        roots = [index for index in range(start, end) if document.heads[index] < 0]
        if len(roots) != 1:
            return False
        connected = set(roots)
        for index in range(start, end):
            path: list[int] = []
            while index not in connected:
                if index in path[-1:] or not start <= index < end or len(path) > end - start:
                    return False
                path.append(index)
                index = document.heads[index]
            connected.update(path)
    return True


def _find_sentences(doc: Any, before: list[int]) -> tuple[Span, ...]:
    edges = sorted({before[token.i] for token in doc if token.is_sent_start} | {0, before[-1]})
    return tuple(pairwise(edges))


def _find_head(token: Any, before: list[int]) -> int:
    """The head's place, or -1; a head that is white space passes its own head on."""
    while token.head.i != token.i:
        token = token.head
        if before[token.i] < before[token.i + 1]:
            return before[token.i]
    return -1
