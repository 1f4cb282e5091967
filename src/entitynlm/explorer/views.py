"""Views of an analysis for the explorer's page, as plain values: words of a stretch, entities, drawings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from entitynlm import api
from entitynlm.explorer.texts import Text, TextAnalysis, TextShelf
from entitynlm.report.contents import SHOWN_ENTITIES, count_cooccurrences
from entitynlm.report.drawings import average_in_bins, place_nodes
from entitynlm.report.page import find_gaps
from entitynlm.text.document import Document, Mention, Quotation

BLOCK_WORDS = 300  # of a stretch that the page loads and lays out at once, at least
CURVE_POINTS = 300
SHOWN_MOVES = 60
SHOWN_QUOTES = 3  # of an entity


def describe_open_text(shelf: TextShelf, text: Text) -> dict[str, Any]:
    """A text, its stretches and its analyses."""
    return {
        "id": text.id,
        "name": text.name,
        "parent": text.parent,
        "tokens": len(text.document),
        "blocks": list_block_starts(text),
        "analyses": [describe_analysis(analysis) for analysis in text.analyses.values()],
    }


def describe_analysis(analysis: TextAnalysis) -> dict[str, Any]:
    """Tell how far an analysis is, and which changes can be undone."""
    job, measured = analysis.job, analysis.measured
    fresh = measured is not None and measured.version == analysis.stamp
    score = measured.score if measured is not None and fresh else None
    return {
        "number": analysis.number,
        "model": analysis.model,
        "version": analysis.stamp,
        "state": job.state if job else "done",
        "stage": job.stage if job else "",
        "done": job.done if job else 0,
        "total": job.total if job else None,
        "message": job.message_ if job else "",
        "annotated": analysis.version.found or bool(analysis.document.mentions) or fresh,
        "measured": fresh,
        "corrected": not analysis.version.found and analysis.at > 0,
        "undo": analysis.version.what if analysis.at > 0 else None,
        "redo": analysis.versions[analysis.at + 1].what if analysis.at + 1 < len(analysis.versions) else None,
        "mentions": len(analysis.document.mentions),
        "entities": len(analysis.document.entities),
        "log_p": None if score is None else score.log_prob,
        "log_p_parts": None if score is None else score.parts,
        "surprisal_by": (
            None if measured is None else "mentions" if measured.report.tables.given else "words"
        ),
    }


def list_gaps(text: Text) -> list[str]:
    """Find the white space before each token once, because a long text is asked for in many stretches."""
    if not text.gaps:
        text.gaps = find_gaps(text.document)
    return text.gaps


def list_block_starts(text: Text) -> list[int]:
    """List the first tokens of stretches: a paragraph's, or a sentence's where paragraphs are very long."""
    if not text.blocks:
        gaps, starts = list_gaps(text), [0]
        for first, _ in text.document.sentences[1:]:
            size = first - starts[-1]
            if size >= BLOCK_WORDS and (gaps[first] == "\n" or size >= 3 * BLOCK_WORDS):
                starts.append(first)
        text.blocks = starts
    return text.blocks


def list_tokens(text: Text, analysis: TextAnalysis, start: int, stop: int) -> dict[str, Any]:
    """The tokens from … to …, with what was measured of them, and the mentions that touch them."""
    document, measured = analysis.document, analysis.measured
    fresh = measured is not None and measured.version == analysis.stamp
    rows = measured.report.tables.tokens[start:stop] if measured is not None else ()
    gaps = list_gaps(text)[start:stop]
    return {
        "start": start,
        "stop": start + len(gaps),
        "version": analysis.stamp,
        "tokens": list(document.tokens[start:stop]),
        "gaps": gaps,
        "surprisal": [_round(row.surprisal) for row in rows],
        "without": [_round(row.without_entities) for row in rows],
        "expected": [_round(row.mention_expected) for row in rows],
        "unknown": [index for index, row in enumerate(rows, start=start) if row.oov],
        "mentions": [
            {"start": m.start, "end": m.end, "entity": m.entity}
            for m in document.mentions
            if m.start < stop and m.end > start
        ],
        "measured": fresh,
    }


def name_shown(analysis: TextAnalysis) -> dict[str, str]:
    """Name an entity as people called it, else as the text calls it."""
    names = api.name_entities(analysis.document)
    return {entity: analysis.version.labels.get(entity, name) for entity, name in names.items()}


def rank_entities(analysis: TextAnalysis) -> list[dict[str, Any]]:
    """All entities, the most frequent first; numbers give colours and stay with the order of frequency."""
    names = name_shown(analysis)
    order = sorted(analysis.document.entities, key=lambda e: (-len(e.mentions), e.mentions[0].start))
    return [
        {
            "id": entity.id,
            "number": number,
            "name": names[entity.id],
            "type": entity.type,
            "mentions": len(entity.mentions),
            "first": entity.mentions[0].start,
            "last": entity.mentions[-1].start,
        }
        for number, entity in enumerate(order, start=1)
    ]


def describe_card(analysis: TextAnalysis, entity: str) -> dict[str, Any]:
    """A card: the mentions in order with their surprise, and how the vector moved."""
    document, measured = analysis.document, analysis.measured
    own = [mention for mention in document.mentions if mention.entity == entity]
    rows: dict[tuple[int, int], Any] = {}
    movement = None
    if measured is not None and measured.version == analysis.stamp:
        report = measured.report
        pairs = zip(report.mentions, report.rows, strict=True)
        rows = {mention.span: row for mention, row in pairs if mention.entity == entity}
        movement = next((m for m in report.movements if m.character.entity == entity), None)
    names = name_shown(analysis)
    return {
        "id": entity,
        "name": names[entity],
        "type": document.entity_types.get(entity),
        "mentions": [_describe_mention(document, mention, rows.get(mention.span), names) for mention in own],
        "movement": None
        if movement is None
        else {
            "points": _thin(
                [
                    [token, _round(gate), _round(away)]
                    for token, gate, away in zip(movement.tokens, movement.gates, movement.away, strict=True)
                ]
            ),
            "early": list(movement.early),
            "late": list(movement.late),
        },
    }


def _describe_mention(
    document: Document, mention: Mention, row: Any, names: dict[str, str]
) -> dict[str, Any]:
    text = " ".join(document.words(*mention.span).split())
    return {
        "start": mention.start,
        "end": mention.end,
        "text": text,
        "form": row and row.form,
        "surprisal": row and _round(row.known_surprisal),
        "expected": row and names.get(row.expected),
        "expected_probability": row and _round(row.expected_probability),
        "new": row and row.is_new,
    }


def list_said(analysis: TextAnalysis) -> tuple[Quotation, ...]:
    """List the document's own quotations with their speakers, else those that are found in it."""
    document = analysis.document
    if document.quotations:
        return document.quotations
    if analysis.quoted is None or analysis.quoted[0] != analysis.stamp:
        analysis.quoted = analysis.stamp, api.attribute_speech(document)
    return analysis.quoted[1]


def draw(analysis: TextAnalysis, start: int, stop: int) -> dict[str, Any]:
    """Timeline, surprisal curve and network of a stretch of the text."""
    document = analysis.document
    entities = rank_entities(analysis)[:SHOWN_ENTITIES]
    numbers = {entity["id"]: entity["number"] for entity in entities}
    inside = [m for m in document.mentions if m.entity in numbers and m.start < stop and m.end > start]
    owner = [numbers[mention.entity] for mention in inside]
    pairs = count_cooccurrences(document, inside, owner)
    present = sorted({number for pair in pairs for number in (pair.first, pair.second)})
    index = {number: place for place, number in enumerate(present)}
    edges = [(index[pair.first], index[pair.second], pair.sentences) for pair in pairs]
    places = place_nodes(len(present), edges) if present else np.zeros((0, 2))
    said = [quotation for quotation in list_said(analysis) if start <= quotation.start < stop]
    counts = {number: owner.count(number) for number in set(owner)}
    return {
        "start": start,
        "stop": stop,
        "rows": [
            {
                **entity,
                "marks": [[m.start, m.end] for m in inside if m.entity == entity["id"]],
                "quoted": sum(quotation.speaker == entity["id"] for quotation in said),
                "quotes": [
                    {"start": quotation.start, "text": " ".join(document.words(*quotation.span).split())}
                    for quotation in said
                    if quotation.speaker == entity["id"]
                ][:SHOWN_QUOTES],
            }
            for entity in entities
            if entity["number"] in counts
        ],
        "nodes": [
            {"number": number, "mentions": counts[number], "x": round(float(x), 3), "y": round(float(y), 3)}
            for number, (x, y) in zip(present, places, strict=True)
        ],
        "edges": [{"first": p.first, "second": p.second, "sentences": p.sentences} for p in pairs],
        "curve": _curve(analysis, start, stop),
    }


def _curve(analysis: TextAnalysis, start: int, stop: int) -> dict[str, list[float | None]]:
    measured = analysis.measured
    if measured is None:
        return {"with": [], "without": []}
    rows = measured.report.tables.tokens[start:stop]
    found = {}
    for name, key in (("with", "surprisal"), ("without", "without_entities")):
        values = np.array([math.nan if getattr(row, key) is None else getattr(row, key) for row in rows])
        found[name] = (
            [_round(value) for value in average_in_bins(values, CURVE_POINTS).tolist()] if len(values) else []
        )
    return found


def describe_continuation(prompt: Document, whole: Document) -> dict[str, Any]:
    """Show a continuation, with its mentions by their place in it."""
    first = len(prompt.tokens)
    assert whole.text is not None and whole.offsets is not None
    start = whole.offsets[first - 1][1] if first else 0
    return {
        "text": whole.text[start:],
        "tokens": list(whole.tokens[first:]),
        "gaps": [
            "" if place == 0 else whole.text[whole.offsets[place - 1][1] : whole.offsets[place][0]]
            for place in range(first, len(whole.tokens))
        ],
        "mentions": [
            {"start": m.start - first, "end": m.end - first, "entity": m.entity}
            for m in whole.mentions
            if m.start >= first
        ],
    }


def _thin(points: Sequence[Any]) -> list[Any]:
    return list(points[:: max(1, len(points) // SHOWN_MOVES)])


def _round(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 3)
