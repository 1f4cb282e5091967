"""Views of a text for the explorer's page, as plain values: words, entities, drawings."""

import math
from functools import lru_cache
from typing import Any

from entitynlm import api
from entitynlm.explorer.texts import Text, Version
from entitynlm.report.contents import SHOWN_ENTITIES, count_cooccurrences, list_shown
from entitynlm.report.drawings import (
    lay_out_movement,
    lay_out_network,
    lay_out_timeline,
    render_drawing,
    render_page,
)
from entitynlm.report.page import describe_characters
from entitynlm.text.document import Document


def describe_open_text(text: Text) -> dict[str, Any]:
    """Describe a text: its blocks, the progress of its analysis, and the corrections that can be undone."""
    job, measured = text.job, text.measured
    score = measured.score if measured is not None else None
    later = text.versions[text.at + 1 :]
    tokens, sentences = text.document.tokens, text.document.sentences
    ends = [end for start, end in sentences if {*".!?…"} & {*tokens[start:end]}] or [sentences[0][1]]
    return {
        "id": text.id,
        "name": text.name,
        "tokens": len(text.document),
        "begin": min(ends[0], len(tokens) - 1),  # after the first sentence, headings aside
        "blocks": text.blocks,
        "version": text.version.number,
        "state": job.state if job else "done",
        "stage": job.stage if job else "",
        "done": job.done if job else 0,
        "total": job.total if job else None,
        "failure": job.failure if job else "",
        "annotated": text.is_annotated,
        "measured": measured is not None,
        "undo": text.version.what if text.at > 0 else None,
        "redo": later[0].what if later else None,
        "log_p": None if score is None else score.log_prob,
    }


def list_tokens(text: Text, start: int, stop: int) -> dict[str, Any]:
    """List some tokens with their latest figures, and the mentions that overlap them."""
    document, measured = text.document, text.measured_last
    rows = measured.report.tables.tokens[start:stop] if measured is not None else ()
    tokens = document.tokens[start:stop]
    return {
        "start": start,
        "stop": start + len(tokens),
        "version": text.version.number,
        "tokens": tokens,
        "gaps": text.gaps[start:stop],
        "surprisal": [_round(row.surprisal) for row in rows],
        "without": [_round(row.without_entities) for row in rows],
        "unknown": [index for index, row in enumerate(rows, start=start) if row.oov],
        "mentions": [
            {"start": m.start, "end": m.end, "entity": m.entity}
            for m in document.mentions
            if m.start < stop and m.end > start
        ],
    }


def name_shown(version: Version) -> dict[str, str]:
    """Name an entity as people renamed it, else by its mentions."""
    return {**api.name_entities(version.document), **version.labels}


def rank_entities(text: Text) -> list[dict[str, Any]]:
    """List all entities, the most frequent first, with the numbers that select their colours."""
    document, names = text.document, name_shown(text.version)
    return [
        {
            "id": who.entity,
            "number": who.number,
            "colour": who.colour,
            "line": who.line,
            "name": names[who.entity],
            "type": who.type,
            "mentions": who.mentions,
            "first": document.mentions[who.places[0]].start,
        }
        for who in list_shown(document, names, text.numbers)
    ]


def describe_card(text: Text, entity: str) -> dict[str, Any]:
    """Describe an entity: its mentions in order with their surprisal, and the movement of its vector."""
    document, measured = text.document, text.measured
    rows: dict[tuple[int, int], Any] = {}
    movement = None
    if measured is not None:
        report = measured.report
        rows = {
            m.span: row for m, row in zip(report.mentions, report.rows, strict=True) if m.entity == entity
        }
        movement = next((m for m in report.movements if m.character.entity == entity), None)
    names = name_shown(text.version)
    return {
        "id": entity,
        "name": names[entity],
        "type": document.entity_types.get(entity),
        "mentions": [
            {
                "start": mention.start,
                "end": mention.end,
                "text": " ".join(document.words(*mention.span).split()),
                "surprisal": row and _round(row.referent_surprisal),
                "expected": row and names.get(row.expected),
                "expected_probability": row and _round(row.expected_probability),
                "new": row and row.is_new,
            }
            for mention, row in ((m, rows.get(m.span)) for m in document.mentions if m.entity == entity)
        ],
        "movement": movement
        and {
            "drawing": render_drawing(
                "movement", movement=movement, **lay_out_movement(movement, len(document))
            ),
            "moved": movement.moved,
        },
    }


def draw(text: Text, start: int, stop: int, width: int) -> dict[str, Any]:
    """Draw timeline, network and table of characters of a stretch of the text."""
    part, measured = cut_stretch(text.version, start, stop), text.measured_last
    shown = list_shown(part, name_shown(text.version), text.numbers)[:SHOWN_ENTITIES]
    known: dict[str, Any] = (
        {}
        if measured is None
        else {
            "tokens": measured.report.tables.tokens[start:stop],
            "surprisal": measured.report.surprisal_of_referents,
        }
    )
    timeline = lay_out_timeline(part, shown, (start, stop), width=width, **known)
    network = lay_out_network(shown, count_cooccurrences(part, shown), width=width)
    return {
        "timeline": render_drawing("timeline", **timeline),
        "network": render_drawing("network", **network),
        "characters": draw_characters(text.version, start, stop),
    }


def cut_stretch(version: Version, start: int, stop: int) -> Document:
    """Leave out the mentions and quotations outside of a stretch of the text."""
    document = version.document
    said = [quotation for quotation in document.quotations if start <= quotation.start < stop]
    inside = [mention for mention in document.mentions if mention.start < stop and mention.end > start]
    return document.with_quotations(said).with_mentions(inside)


@lru_cache(maxsize=8)
def draw_characters(version: Version, start: int, stop: int) -> str:
    """Render the report's section about the characters of a stretch; cached, because that of a novel takes seconds."""
    values = describe_characters(cut_stretch(version, start, stop), version.labels)
    return render_page("characters.html", linked=True, **values)


def _round(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else round(value, 3)
