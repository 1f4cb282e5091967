"""What to leave out of a document before it is scored, where annotation schemes differ from what a system gives."""

from __future__ import annotations

from collections import Counter

from entitynlm.text.document import Document, Mention, Span


def drop_singletons(document: Document) -> Document:
    """The document without entities of one mention (OntoNotes doesn't annotate them, systems drop them)."""
    sizes = Counter(mention.entity for mention in document.mentions)
    return document.with_mentions(m for m in document.mentions if sizes[m.entity] > 1)


def drop_repetitions(document: Document) -> Document:
    """The document with every span mentioned once, by the first of its entities; a second one is an annotator's oversight."""
    kept: dict[tuple[Span, tuple[Span, ...]], Mention] = {}
    for entity in document.entities:
        for mention in entity.mentions:
            kept.setdefault((mention.span, mention.parts), mention)
    return document.with_mentions(kept.values())


def clean_key(document: Document) -> Document:
    """The key that coreference figures are reported against: no repeated spans, then no singletons."""
    return drop_singletons(drop_repetitions(document))
