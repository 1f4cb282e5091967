"""Two analyses of one text beside each other: log P of both under one model, and where they differ."""

from __future__ import annotations

from typing import Any

from entitynlm.api import EntityNLM, measure_agreement
from entitynlm.explorer.texts import TextAnalysis
from entitynlm.explorer.views import name_shown
from entitynlm.text.document import Document, Mention, Span

MOST_DIFFERENCES = 500


def compare(model: EntityNLM, first: TextAnalysis, second: TextAnalysis) -> dict[str, Any]:
    """log P of both by the same model, their agreement, and the mentions that one alone has or links otherwise."""
    documents = first.document, second.document
    scores = [model.log_prob(document) for document in documents]
    differences = list_differences(*documents)
    names = [name_shown(analysis) for analysis in (first, second)]
    return {
        "log_p": [score.log_prob for score in scores],
        "log_p_parts": [score.parts for score in scores],
        "same": len({m.span for m in documents[0].mentions} & {m.span for m in documents[1].mentions}),
        "mentions": [len(document.mentions) for document in documents],
        "agreement": measure_agreement(*documents),
        "differences": [
            {
                "start": span[0],
                "end": span[1],
                "text": " ".join(documents[0].words(*span).split()),
                "kind": kind,
                "first": None if a is None else names[0][a.entity],
                "second": None if b is None else names[1][b.entity],
            }
            for span, kind, a, b in differences[:MOST_DIFFERENCES]
        ],
        "more": max(0, len(differences) - MOST_DIFFERENCES),
    }


def list_differences(
    first: Document, second: Document
) -> list[tuple[Span, str, Mention | None, Mention | None]]:
    """Spans that one alone has, and spans of both that are linked to another mention before them, in text order."""
    one, other = ({mention.span: mention for mention in document.mentions} for document in (first, second))
    common = sorted(one.keys() & other.keys())
    before: dict[Span, tuple[Span | None, Span | None]] = {}
    latest: tuple[dict[str, Span], dict[str, Span]] = ({}, {})
    for span in common:
        entities = one[span].entity, other[span].entity
        before[span] = latest[0].get(entities[0]), latest[1].get(entities[1])
        latest[0][entities[0]], latest[1][entities[1]] = span, span
    found: list[tuple[Span, str, Mention | None, Mention | None]] = []
    for span in sorted(one.keys() | other.keys()):
        a, b = one.get(span), other.get(span)
        if a is None or b is None:
            found.append((span, "only in the second" if a is None else "only in the first", a, b))
        elif before[span][0] != before[span][1]:
            found.append((span, "another entity", a, b))
    return found
