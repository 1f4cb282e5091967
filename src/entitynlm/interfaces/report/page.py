"""A report as one page that needs nothing else: no network, no fonts, no library."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import Any

from entitynlm.characters.character import list_characters
from entitynlm.characters.speech import add_quotations
from entitynlm.characters.tables import name_companions, show_counts
from entitynlm.interfaces.report.contents import SHOWN_ENTITIES, Report
from entitynlm.interfaces.report.drawings import lay_out_movement, lay_out_network, lay_out_timeline
from entitynlm.interfaces.templates import render_page
from entitynlm.lm.surprisal import TokenRow
from entitynlm.prediction.referents import NEW
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document

MOST_TOKENS = 20_000  # of the text that a page shows; figures and drawings are of all of it
LEVELS = 8
FIRST_LEVEL, STEP = 3.0, 1.8  # bits: where the shading begins, and how far apart its levels are
SURPRISING = 6.0  # bits
PARAGRAPH = re.compile(r"\n[^\S\n]*\n|\f|\u2029")


def write_page(report: Report, *, title: str, model: str) -> str:
    """The whole page: what the template ``page.html`` makes of these values."""
    factor = math.log(2) / math.log(report.tables.base)  # bits → the report's unit
    shown = min(len(report.document), MOST_TOKENS)
    return render_page(
        "page.html",
        report=report,
        tables=report.tables,
        title=title,
        model=model,
        factor=factor,
        levels=[(FIRST_LEVEL + STEP * level) * factor for level in range(LEVELS)],
        surprising=SURPRISING * factor,
        coloured=SHOWN_ENTITIES,
        shown=shown,
        gaps=find_gaps(report.document),
        starts={mention.start: place for place, mention in enumerate(report.mentions)},
        ends={mention.end for mention in report.mentions},
        cut=any(mention.start < shown < mention.end for mention in report.mentions),
        timeline=lay_out_timeline(report, SURPRISING * factor),
        network=lay_out_network(report.characters, report.cooccurrences),
        data={"unit": report.unit, "rows": list_mentions(report)},
        **describe_characters(report.document),
        lay_out_movement=lay_out_movement,
        find_level=find_level,
        list_figures=list_figures,
    )


def describe_characters(document: Document) -> dict[str, Any]:
    """The values of the section about characters."""
    quoted = document if document.quotations else add_quotations(document)
    return {
        "cast": list_characters(quoted),
        "attributed": sum(quotation.speaker is not None for quotation in quoted.quotations),
        "companions": lambda cast, who, most: show_counts(name_companions(cast, who), most),
    }


def find_gaps(document: Document) -> list[str]:
    """What stands before each token: nothing, a space, or a line break for a new paragraph; by rule without a raw text."""
    text, offsets = document.text, document.offsets
    if text is None or offsets is None:
        text, offsets = join_tokens(document.tokens)
    gaps = [""]
    for (_, before), (after, _) in pairwise(offsets):
        gap = text[before:after].replace("\r\n", "\n").replace("\r", "\n")
        gaps.append("\n" if PARAGRAPH.search(gap) else " " if gap else "")
    return gaps


def list_figures(row: TokenRow) -> str:
    """What is shown about a token on pointing at it."""
    expected = None if row.mention_expected is None else 100 * row.mention_expected
    figures = (row.surprisal, 2), (row.error, 2), (row.without_entities, 2), (expected, 0), (row.spelling, 1)
    return ",".join("" if value is None else f"{value:.{digits}f}" for value, digits in figures)


def find_level(bits: float) -> int:
    """The depth of the shading, 0 to 8."""
    return int(min(LEVELS, max(0, math.ceil((bits - FIRST_LEVEL) / STEP))))


def list_mentions(report: Report) -> list[dict[str, Any]]:
    """What is shown about mentions on pointing at them."""
    referents = report.tables.trace.referents
    who = [report.characters[number - 1].name for number in report.owner]
    names = {found.entity: name for found, name in zip(referents, who, strict=True)} | {NEW: "somebody new"}
    shown = sum(mention.start < MOST_TOKENS for mention in report.mentions)
    return [
        {
            "who": name,
            "form": row.form,
            "since": row.since_words,
            "surprisal": f"{row.known_surprisal:.2f}",
            "entropy": f"{row.known_entropy:.2f}",
            "ranked": [(names[entity], round(100 * p)) for entity, p in found.ranked[:3]],
        }
        for row, found, name in list(zip(report.rows, referents, who, strict=True))[:shown]
    ]
