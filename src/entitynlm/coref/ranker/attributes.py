"""Each mention as a row of numbers: what the feature templates combine.

A value is the hash of a short string, so that no dictionary of features is needed: what was never seen in
training simply has no weight. The columns are named in :data:`ATTRIBUTES`.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from entitynlm.coref.ranker.syntax import CandidateMention, is_pronoun
from entitynlm.text.document import Document
from entitynlm.text.english import (
    DETERMINERS,
    FUNCTION_WORDS,
    GENDERS,
    NUMBERS,
    PLURAL,
    PRONOUNS,
    SINGULAR,
    UNKNOWN,
)

OPENING_QUOTES = ("“", "``", "«")
CLOSING_QUOTES = ("”", "''", "»")
PRONOUN, NAME, NOUN = "pronoun", "name", "noun"

ATTRIBUTES = (
    "form",  # the pronoun's citation form, or name or noun
    "kind",  # pronoun, name or noun
    "text",
    "head",
    "lemma",
    "first",
    "last",
    "before",
    "after",
    "length",
    "relation",
    "governor",
    "determiner",
    "gender",
    "number",
    "type",
    "place",  # how far into the document
    "opening",  # whether it opens its sentence
    "nested",
    "genre",
    "variant",
    "seen_text",  # how recently the same words were mentioned
    "seen_head",
    "head_count",
    "tag",
    "governor_relation",
    "suffix",
    "quoted",
)
COLUMN = {name: index for index, name in enumerate(ATTRIBUTES)}


@dataclass(frozen=True)
class MentionView:
    """A mention as words, for the relations between two of them."""

    mention: CandidateMention
    kind: str
    form: str
    text: str
    head: str
    lemma: str
    content: frozenset[str]
    gender: str
    number: str
    speaker: str | None
    sentence: int
    governor: int
    relation: str
    initials: str
    quote: int


def hash_text(text: str) -> int:
    """A stable hash (Python's own changes from run to run)."""
    return zlib.crc32(text.encode("utf-8"))


def view_mentions(document: Document, mentions: Sequence[CandidateMention]) -> list[MentionView]:
    """Look at each mention's words once."""
    quotes = number_quotes(document.tokens)
    forms = frozenset(document.tokens)
    return [_view(document, mention, quotes[mention.start], forms) for mention in mentions]


def number_quotes(tokens: Sequence[str]) -> list[int]:
    """For each token the number of the quotation that it stands in, 0 outside; who says "I" depends on it."""
    numbers: list[int] = []
    count, inside = 0, False
    for token in tokens:
        if token in OPENING_QUOTES or (token == '"' and not inside):
            count, inside = count + 1, True
        elif token in CLOSING_QUOTES or token == '"':
            inside = False
        numbers.append(count if inside else 0)
    return numbers


def _view(document: Document, mention: CandidateMention, quote: int, forms: frozenset[str]) -> MentionView:
    tags, lemmas = document.column("pos"), document.column("lemma")
    words = [token.lower() for token in document.tokens[mention.start : mention.end]]
    head = document.tokens[mention.head].lower()
    lemma = (lemmas[mention.head] or head).lower()
    if is_pronoun(document, mention):
        kind, form = PRONOUN, PRONOUNS[" ".join(words)]
    else:
        kind = NAME if _is_name(document.tokens[mention.head], tags[mention.head], forms) else NOUN
        form = kind
    heads, speakers = document.heads, document.column("speaker")
    content = frozenset(word for word in words if word not in FUNCTION_WORDS and word[0].isalnum())
    capitals = (t for t in document.tokens[mention.start : mention.end] if t[0].isupper())
    return MentionView(
        mention=mention,
        kind=kind,
        form=form,
        text=" ".join(word for word in words if word not in FUNCTION_WORDS) or " ".join(words),
        head=head,
        lemma=lemma,
        content=content,
        gender=_find_gender(kind, form, head, lemma, words),
        number=_find_number(kind, form, head, words, tags[mention.head]),
        speaker=speakers[mention.start],
        sentence=document.sentence_of[mention.start],
        governor=heads[mention.head] if heads is not None else -1,
        relation=document.column("deprel")[mention.head] or "",
        initials="".join(token[0] for token in capitals).lower(),
        quote=quote,
    )


def _is_name(head: str, tag: str | None, forms: frozenset[str]) -> bool:
    """By its tag; without one, a capital that is not just that of a sentence's first word."""
    if tag is not None:
        return tag in ("NNP", "NNPS")
    return head[0].isupper() and head.lower() not in forms


def _find_gender(kind: str, form: str, head: str, lemma: str, words: Sequence[str]) -> str:
    if kind == PRONOUN:
        return GENDERS.get(form, UNKNOWN)
    for word in (words[0], lemma, head):
        if word in GENDERS:
            return GENDERS[word]
    return UNKNOWN


def _find_number(kind: str, form: str, head: str, words: Sequence[str], tag: str | None) -> str:
    if kind == PRONOUN:
        return PLURAL if words[0] in ("these", "those") else NUMBERS.get(form, UNKNOWN)
    if "and" in words:
        return PLURAL
    if tag is not None:
        return PLURAL if tag in ("NNS", "NNPS") else SINGULAR
    return PLURAL if head.endswith("s") and not head.endswith("ss") else SINGULAR


def code_attributes(
    document: Document, views: Sequence[MentionView], types: Mapping[str, str]
) -> NDArray[np.int64]:
    """The rows of numbers; shape (mentions, attributes). ``types`` tells an entity type by lemma."""
    table = np.zeros((len(views), len(ATTRIBUTES)), dtype=np.int64)
    history = _History()
    covering = _find_nesting(views)
    genre = document.meta.get("genre", "")
    for row, view in enumerate(views):
        values = _describe(document, view, types)
        values.update(history.describe(view), nested=covering[row], genre=genre)
        history.add(view)
        for column, name in enumerate(ATTRIBUTES):
            table[row, column] = hash_text(values[name])
    return table


def _describe(document: Document, view: MentionView, types: Mapping[str, str]) -> dict[str, str]:
    mention, tokens = view.mention, document.tokens
    tags, lemmas = document.column("pos"), document.column("lemma")
    start, end = mention.span
    first = tokens[start].lower()
    sentence_start, _ = document.sentences[view.sentence]
    governor = view.governor
    return {
        "form": view.form,
        "kind": view.kind,
        "text": view.text,
        "head": view.head,
        "lemma": view.lemma,
        "first": first,
        "last": tokens[end - 1].lower(),
        "before": tokens[start - 1].lower() if start else "",
        "after": tokens[end].lower() if end < len(tokens) else "",
        "length": str(min(end - start, 8)),
        "relation": view.relation,
        "governor": (lemmas[governor] or tokens[governor]).lower() if governor >= 0 else "",
        "governor_relation": (document.column("deprel")[governor] or "") if governor >= 0 else "",
        "determiner": DETERMINERS.get(first, "none") if end - start > 1 else "bare",
        "gender": view.gender,
        "number": view.number,
        "type": types.get(view.lemma) or types.get(view.head) or "",
        "place": str(min(view.sentence, 3) if view.sentence < 4 else 4 + min(view.sentence // 20, 4)),
        "opening": str(start == sentence_start),
        "variant": str(mention.variant),
        "tag": tags[mention.head] or "",
        "suffix": view.head[-3:],
        "quoted": str(view.quote > 0),
    }


class _History:
    """What was mentioned before: for the decision that a mention is new."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._heads: dict[str, int] = {}
        self._counts: dict[str, int] = {}

    def describe(self, view: MentionView) -> dict[str, str]:
        return {
            "seen_text": self._tell_distance(self._texts.get(view.text), view.sentence),
            "seen_head": self._tell_distance(self._heads.get(view.lemma), view.sentence),
            "head_count": str(min(self._counts.get(view.lemma, 0), 6)),
        }

    def add(self, view: MentionView) -> None:
        self._texts[view.text] = view.sentence
        self._heads[view.lemma] = view.sentence
        self._counts[view.lemma] = self._counts.get(view.lemma, 0) + 1

    @staticmethod
    def _tell_distance(last: int | None, now: int) -> str:
        if last is None:
            return "never"
        return str(min(now - last, 3)) if now - last < 10 else "far"


def _find_nesting(views: Sequence[MentionView]) -> list[str]:
    """Whether a mention lies in an earlier one (then, whether they share the head)."""
    found = []
    for index, view in enumerate(views):
        state = "free"
        for other in reversed(views[max(0, index - 6) : index]):
            if other.mention.end >= view.mention.end and other.mention.start <= view.mention.start:
                state = "head" if other.mention.head == view.mention.head else "inside"
                break
        found.append(state)
    return found
