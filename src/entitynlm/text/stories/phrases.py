"""Phrases: the words of mentions on their way into a sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Token:
    """A word on its way into a document; ``head`` counts from the start of its phrase, -1 is the phrase's own head."""

    form: str
    pos: str
    lemma: str
    head: int
    relation: str


@dataclass(slots=True)
class Phrase:
    """The words of a mention, its head, and the mentions in it (the whole one first)."""

    tokens: list[Token]
    head: int
    spans: list[tuple[int, int, str, int]]
    agreement: str


def append_phrase(phrase: Phrase, part: Phrase, relation: str) -> int:
    """Put a mention into a larger one; its head is still to be attached. Returns where it starts."""
    start = len(phrase.tokens)
    for token in part.tokens:
        if token.head >= 0:
            token.head += start
    part.tokens[part.head].relation = relation
    phrase.tokens += part.tokens
    phrase.spans += [(start + a, start + b, key, start + head) for a, b, key, head in part.spans]
    return start
