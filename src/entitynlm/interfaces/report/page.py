"""A report as one page that needs nothing else: no network, no fonts, no library. All that comes from the text is escaped."""

from __future__ import annotations

import json
import math
import re
from html import escape
from itertools import pairwise
from pathlib import Path
from string import Formatter, Template
from typing import Any

from entitynlm import __version__
from entitynlm.config import load_toml
from entitynlm.interfaces.report.contents import SHOWN_ENTITIES, Report
from entitynlm.interfaces.report.drawings import colour_of, draw_movement, draw_network, draw_timeline
from entitynlm.lm.surprisal import TokenRow
from entitynlm.prediction.referents import NEW
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document

RESOURCES = Path(__file__).parents[2] / "resources" / "report"
PARTS = load_toml(RESOURCES / "parts.toml")

MOST_TOKENS = 20_000
"""Tokens of the text that a page shows; figures and drawings are of all of it."""

LEVELS = 8
FIRST_LEVEL, STEP = 3.0, 1.8  # bits: where the shading begins, and how far apart its levels are
SURPRISING = 6.0  # bits
PARAGRAPH = re.compile(r"\n[^\S\n]*\n|\f|\u2029")


def write_page(report: Report, *, title: str, model: str) -> str:
    """The whole page."""
    factor = math.log(2) / math.log(report.tables.base)  # bits → the report's unit
    tables = report.tables
    mean = f"{tables.total / tables.words:.2f}" if tables.words else "–"
    facts = {
        "tokens": f"{len(report.document):,}",
        "mentions": f"{len(report.mentions):,}",
        "entities": f"{len(report.characters):,}",
        f"{report.unit} per word": mean,
    }
    low, high = FIRST_LEVEL * factor, (FIRST_LEVEL + STEP * (LEVELS - 1)) * factor
    boxes = "".join(f'<i class="h{level}"></i>' for level in range(LEVELS + 1))
    sampled = "mentions found by the model, surprisal summed over samples"
    how = "the text's own mentions" if tables.given else sampled
    origin = (
        f"Made by entitynlm {__version__} with the model {model}; {how}; without entities: {tables.source}."
    )
    values = {
        "version": escape(__version__),
        "title": escape(title),
        "style": _load("style.css"),
        "script": _load("script.js"),
        "facts": " · ".join(_fill("fact", name=name, value=value) for name, value in facts.items()),
        "scale": _fill("scale", boxes, low=low, high=high, unit=report.unit),
        "text": write_text(report, factor),
        "cast": _list_cast(report),
        "surprising": f"{SURPRISING * factor:.0f} {report.unit}",
        "timeline": draw_timeline(report, SURPRISING * factor),
        "surprises": _list_surprises(report),
        "network": draw_network(report.characters, report.cooccurrences),
        "movements": _list_movements(report),
        "footer": escape(origin),
        "data": _list_data(report),
    }
    return Template(_load("page.html")).substitute(values)


def _load(name: str) -> str:
    return (RESOURCES / name).read_text(encoding="utf-8")


class _Html(str):
    """Needs no escaping."""


class _Escaping(Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        return value if isinstance(value, _Html) else escape(format(value, format_spec))


def _fill(part: str, content: str = "", /, **values: object) -> str:
    """A part of the page with its values, which are escaped; ``content`` is HTML already."""
    return _Escaping().format(PARTS[part], content=_Html(content), **values)


def write_text(report: Report, factor: float) -> str:
    """Paragraphs of tokens; a mention is an element around its tokens."""
    document = report.document
    starts = {mention.start: number for number, mention in enumerate(report.mentions)}
    ends = {mention.end for mention in report.mentions}
    shown = min(len(document), MOST_TOKENS)
    gaps = find_gaps(document)
    parts = ["<p>"]
    seen: set[int] = set()
    for index in range(shown):
        parts.append(gaps[index])
        if index in starts:
            parts.append(_open_mention(report, starts[index], seen))
        parts.append(_write_token(report.tables.tokens[index], factor))
        if index + 1 in ends:
            parts.append("</span>")
    cut = [mention for mention in report.mentions if mention.start < shown < mention.end]
    parts.append("</span>" * len(cut) + "</p>")
    if left := len(document) - shown:
        note = f"… {left:,} more tokens, which the figures and drawings below include."
        parts.append(_fill("empty", text=note))
    return "".join(parts)


def find_gaps(document: Document) -> list[str]:
    """What stands before each token: nothing, a space, or the end of a paragraph; by rule where the raw text is not known."""
    text, offsets = document.text, document.offsets
    if text is None or offsets is None:
        text, offsets = join_tokens(document.tokens)
    gaps = [""]
    for (_, before), (after, _) in pairwise(offsets):
        gap = text[before:after].replace("\r\n", "\n").replace("\r", "\n")
        gaps.append("</p>\n<p>" if PARAGRAPH.search(gap) else " " if gap else "")
    return gaps


def _open_mention(report: Report, place: int, seen: set[int]) -> str:
    number = report.owner[place]
    classes = "m rest" if number > SHOWN_ENTITIES else "m second" if number > SHOWN_ENTITIES // 2 else "m"
    if number not in seen and number <= SHOWN_ENTITIES:
        classes += " first"
    seen.add(number)
    return _fill("mention", classes=classes, colour=colour_of(number), number=number, place=place)


def _write_token(row: TokenRow, factor: float) -> str:
    word = escape(row.token)
    if row.surprisal is None:
        return f'<i class="t">{word}</i>'
    level = find_level(row.surprisal / factor)
    figures = [row.surprisal, row.error, row.without_entities]
    cells = ["" if value is None else f"{value:.2f}" for value in figures]
    cells.append("" if row.mention_expected is None else f"{100 * row.mention_expected:.0f}")
    cells.append("" if row.spelled is None else f"{row.spelled:.1f}")
    return f'<i class="t h{level}" data-v="{",".join(cells)}">{word}</i>'


def find_level(bits: float) -> int:
    """The depth of the shading, 0 to 8."""
    return int(min(LEVELS, max(0, math.ceil((bits - FIRST_LEVEL) / STEP))))


def _list_cast(report: Report) -> str:
    if not report.characters:
        return _fill("empty", text="Nobody was found.")
    rows = []
    for character in report.characters[:SHOWN_ENTITIES]:
        type_ = _fill("type", type=character.type) if character.type else ""
        rows.append(_fill("character", type_, c=character, colour=colour_of(character.number)))
    more = len(report.characters) - SHOWN_ENTITIES
    return f"<ol>{''.join(rows)}</ol>" + (_fill("more", count=more) if more > 0 else "")


def _list_surprises(report: Report) -> str:
    if not report.surprises:
        return _fill("empty", text="There are no mentions.")
    rows = []
    for found in report.surprises:
        row, who = found.row, report.characters[found.number - 1].name
        note = "new" if row.is_new else f"{row.since_words:,} words after its last mention"
        gap = "" if found.after[:1] in tuple(",.;:!?)”’") else " "
        style = {"colour": colour_of(found.number), "gap": gap, "percent": 100 * row.expected_probability}
        rows.append(_fill("surprise", found=found, row=row, who=who, note=note, **style))
    return _fill("surprises", "".join(rows), unit=report.unit)


def _list_movements(report: Report) -> str:
    cards = []
    for movement in report.movements:
        near = {"early": ", ".join(movement.early) or "–", "late": ", ".join(movement.late) or "–"}
        drawing, character = draw_movement(movement, len(report.document)), movement.character
        colour = colour_of(character.number)
        cards.append(_fill("movement", drawing, name=character.name, colour=colour, **near))
    return "".join(cards) or _fill("empty", text="Nobody is mentioned twice.")


def _list_data(report: Report) -> str:
    """What is shown about mentions on pointing at them, as JSON that is safe inside a page."""
    referents = report.tables.trace.referents
    who = [report.characters[number - 1].name for number in report.owner]
    names = {found.entity: name for found, name in zip(referents, who, strict=True)} | {NEW: "somebody new"}
    shown = sum(mention.start < MOST_TOKENS for mention in report.mentions)
    rows = [
        {
            "who": name,
            "form": row.form,
            "since": row.since_words,
            "surprisal": f"{row.referent_surprisal:.2f}",
            "entropy": f"{row.entropy:.2f}",
            "ranked": [(names[entity], round(100 * p)) for entity, p in found.ranked[:3]],
        }
        for row, found, name in list(zip(report.rows, referents, who, strict=True))[:shown]
    ]
    text = json.dumps({"unit": report.unit, "rows": rows}, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
