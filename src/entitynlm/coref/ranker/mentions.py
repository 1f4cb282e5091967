"""Where the ranker's mentions come from: given spans, syntax, or the learned finder."""

from __future__ import annotations

from enum import Enum

from entitynlm.coref.ranker.spans import SpanFinder
from entitynlm.coref.ranker.syntax import (
    CandidateMention,
    find_by_constituents,
    find_by_dependencies,
    guess_head,
)
from entitynlm.errors import DataError
from entitynlm.text.document import Document

LIKELY = -1.0  # log-odds from which a span is worth ranking where the ranker may still drop it


class MentionSource(str, Enum):
    """``syntax``: from dependencies or constituents; ``learned``: by the finder; ``given``: those of the document."""

    given = "given"
    syntax = "syntax"
    learned = "learned"


def has_syntax(document: Document) -> bool:
    """Whether mentions can be found by rule: a dependency tree with tags, or a column of constituents with tags."""
    has_tree = document.heads is not None and any(head >= 0 for head in document.heads)
    has_tags = "pos" in document.columns or "upos" in document.columns
    return has_tags and (has_tree or "parse" in document.columns)


def find_mentions(
    document: Document, source: MentionSource, finder: SpanFinder | None = None, *, threshold: float = LIKELY
) -> list[CandidateMention]:
    """The document's candidate mentions in text order, each span once."""
    if source is MentionSource.given:
        spans = sorted({mention.span for mention in document.mentions})
        return [CandidateMention(start, end, guess_head(document, start, end)) for start, end in spans]
    if source is MentionSource.learned:
        if finder is None:
            raise DataError(
                f"document {document.id!r}: mentions are to be found by a finder, and none was trained"
            )
        return finder.find(document, threshold=threshold)
    if not has_syntax(document):
        raise DataError(
            f"document {document.id!r} has no syntax (part-of-speech tags with dependencies or constituents)",
            hint="Train a ranker with learned mentions for such documents, or give the mentions",
        )
    has_tree = document.heads is not None and any(head >= 0 for head in document.heads)
    return find_by_dependencies(document) if has_tree else find_by_constituents(document)
