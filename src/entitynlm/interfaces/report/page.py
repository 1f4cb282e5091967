"""A report as one page that needs nothing else: no network, no fonts, no library. All that comes from the text is escaped."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sized
from html import escape
from importlib import resources
from itertools import pairwise
from string import Template

from entitynlm import __version__
from entitynlm.interfaces.report.contents import SHOWN_ENTITIES, Report, Surprise
from entitynlm.interfaces.report.drawings import colour_of, draw_movement, draw_network, draw_timeline
from entitynlm.lm.surprisal import TokenRow
from entitynlm.prediction.referents import NEW
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document

MOST_TOKENS = 20_000
"""Tokens of the text that a page shows; figures and drawings are of all of it."""

LEVELS = 8
FIRST_LEVEL, STEP = 3.0, 1.8  # bits: where the shading begins, and how far apart its levels are
SURPRISING = 6.0  # bits
PARAGRAPH = re.compile(r"\n[^\S\n]*\n|\f|\u2029")


def write_page(report: Report, *, title: str, model: str) -> str:
    """The whole page."""
    factor = math.log(2) / math.log(report.tables.base)  # bits → the report's unit
    values = {
        "version": escape(__version__),
        "title": escape(title),
        "style": _load("style.css"),
        "script": _load("script.js"),
        "facts": _list_facts(report),
        "scale": _show_scale(report, factor),
        "text": write_text(report, factor),
        "cast": _list_cast(report),
        "surprising": f"{SURPRISING * factor:.0f} {report.unit}",
        "timeline": draw_timeline(report, SURPRISING * factor),
        "surprises": _list_surprises(report),
        "network": draw_network(report.characters, report.cooccurrences),
        "movements": _list_movements(report),
        "footer": _describe_origin(report, model),
        "data": _list_data(report),
    }
    return Template(_load("page.html")).substitute(values)


def _load(name: str) -> str:
    return (resources.files("entitynlm") / "resources" / "report" / name).read_text(encoding="utf-8")


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
        parts.append(f'<p class="empty">{note}</p>')
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
    return f'<span class="{classes}" style="--c:{colour_of(number)}" data-e="{number}" data-m="{place}">'


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


def _list_facts(report: Report) -> str:
    tables = report.tables
    mean = f"{tables.total / tables.words:.2f}" if tables.words else "–"
    counts: dict[str, Sized] = {
        "tokens": report.document,
        "mentions": report.mentions,
        "entities": report.characters,
    }
    facts = [f"<b>{len(values):,}</b> {name}" for name, values in counts.items()]
    return " · ".join([*facts, f"<b>{mean}</b> {report.unit} per word"])


def _show_scale(report: Report, factor: float) -> str:
    low, high = FIRST_LEVEL * factor, (FIRST_LEVEL + STEP * (LEVELS - 1)) * factor
    boxes = "".join(f'<i class="h{level}"></i>' for level in range(LEVELS + 1))
    return f'{low:.0f} <span class="bar surprisal">{boxes}</span> {high:.0f} {report.unit}'


def _list_cast(report: Report) -> str:
    if not report.characters:
        return '<p class="empty">Nobody was found.</p>'
    rows = []
    for character in report.characters[:SHOWN_ENTITIES]:
        kind = f" <small>{escape(character.type)}</small>" if character.type else ""
        rows.append(
            f'<li><button type="button" data-e="{character.number}" aria-pressed="false" '
            f'style="--c:{colour_of(character.number)}"><span class="dot"></span>'
            f'<span class="who" title="{escape(character.name, quote=True)}">{character.number} {escape(character.name)}'
            f"{kind}</span><small>{character.mentions}</small></button></li>"
        )
    more = len(report.characters) - SHOWN_ENTITIES
    rest = f'<p class="note">and {more:,} more, underlined in grey</p>' if more > 0 else ""
    return f"<ol>{''.join(rows)}</ol>{rest}"


def _list_surprises(report: Report) -> str:
    if not report.surprises:
        return '<p class="empty">There are no mentions.</p>'
    head = f"<tr><th>in the text</th><th>is</th><th>expected</th><th>{escape(report.unit)}</th><th>entropy</th></tr>"
    return f"<table>{head}{''.join(_write_surprise(report, found) for found in report.surprises)}</table>"


def _write_surprise(report: Report, found: Surprise) -> str:
    row = found.row
    who = report.characters[found.number - 1].name
    note = "new" if row.is_new else f"{row.since_words:,} words after its last mention"
    tight = found.after[:1] in tuple(",.;:!?)”’")
    context = (
        f"… {escape(found.before)} <b>{escape(row.mention)}</b>{'' if tight else ' '}{escape(found.after)} …"
    )
    return (
        f'<tr style="--c:{colour_of(found.number)}"><td class="context">{context}</td>'
        f"<td>{escape(who)}<br><small>{row.form}, {note}</small></td>"
        f"<td>{escape(found.expected)} {100 * row.expected_probability:.0f}&nbsp;%</td>"
        f'<td class="n">{row.referent_surprisal:.1f}</td><td class="n">{row.entropy:.1f}</td></tr>'
    )


def _list_movements(report: Report) -> str:
    if not report.movements:
        return '<p class="empty">Nobody is mentioned twice.</p>'
    length = len(report.document)
    cards = []
    for movement in report.movements:
        early, late = (escape(", ".join(words)) or "–" for words in (movement.early, movement.late))
        cards.append(
            f'<div style="--c:{colour_of(movement.character.number)}"><h3>{escape(movement.character.name)}</h3>'
            f"{draw_movement(movement, length)}<p>first: <b>{early}</b></p><p>last: <b>{late}</b></p></div>"
        )
    return "".join(cards)


def _describe_origin(report: Report, model: str) -> str:
    sampled = "mentions found by the model, surprisal summed over samples"
    how = "the text's own mentions" if report.tables.given else sampled
    made = f"Made by entitynlm {__version__} with the model {model}"
    return escape(f"{made}; {how}; without entities: {report.tables.source}.")


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
