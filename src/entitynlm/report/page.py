"""A report as one page that needs nothing else: no network, no fonts, no library."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from entitynlm.characters.character import list_characters
from entitynlm.characters.tables import name_companions, show_counts
from entitynlm.discourse.participants import add_quotations
from entitynlm.lm.surprisal import TokenRow
from entitynlm.prediction.referents import NEW_REFERENT
from entitynlm.report.contents import SHOWN_ENTITIES, Movement, Report, show_context
from entitynlm.report.drawings import lay_out_movement, lay_out_network, lay_out_timeline
from entitynlm.report.templates import render_page
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document, Mention

PAGE_BLOCK = 400  # tokens, about: a browser lays out a block of a long text when it comes into view
LONG = 2_000  # tokens: a longer text has a frame of its own to scroll in, so that the drawings below it can be reached
SHADING_LEVELS = 8
FIRST_LEVEL, STEP = 3.0, 1.8  # bits: where the shading begins, and how far apart its levels are
SURPRISING = 6.0  # bits
PARAGRAPH = re.compile(r"\n[^\S\n]*\n|\f|\u2029")


def write_page(report: Report, *, title: str, model: str) -> str:
    """The whole page: what the template ``page.html`` makes of these values."""
    factor = math.log(2) / math.log(report.tables.base)  # bits → the report's unit
    opened, closed = nest_mentions(report.mentions)
    gaps = find_gaps(report.document)
    return render_page(
        "page.html",
        report=report,
        tables=report.tables,
        title=title,
        model=model,
        factor=factor,
        levels=[(FIRST_LEVEL + STEP * level) * factor for level in range(SHADING_LEVELS)],
        surprising=SURPRISING * factor,
        coloured=SHOWN_ENTITIES,
        is_long=len(report.document) > LONG,
        gaps=gaps,
        opened=opened,
        closed=closed,
        blocks=cut_blocks(report.document, gaps, opened, closed),
        timeline=lay_out_timeline(report, SURPRISING * factor),
        network=lay_out_network(report.characters, report.cooccurrences),
        ranks=rank_movements(report.movements),
        show_context=show_context,
        data={"unit": report.unit, "rows": list_mentions(report)},
        **describe_characters(report.document),
        lay_out_movement=lay_out_movement,
        find_level=find_level,
        list_figures=list_figures,
    )


def nest_mentions(mentions: Sequence[Mention]) -> tuple[dict[int, list[int]], Counter[int]]:
    """List the mentions that begin before each token, the outermost first, and count those that end before it.

    Of two that cross, the second is shown as far as the first one goes: elements of a page can't cross.
    """
    opened: dict[int, list[int]] = {}
    closed: Counter[int] = Counter()
    ends: list[int] = []
    for place in sorted(range(len(mentions)), key=lambda at: (mentions[at].start, -mentions[at].end)):
        mention = mentions[place]
        while ends and ends[-1] <= mention.start:
            ends.pop()
        ends.append(min(mention.end, *ends[-1:]) if ends else mention.end)
        opened.setdefault(mention.start, []).append(place)
        closed[ends[-1]] += 1
    return opened, closed


def cut_blocks(
    document: Document, gaps: Sequence[str], opened: Mapping[int, Sequence[int]], closed: Mapping[int, int]
) -> list[tuple[int, int]]:
    """The text in blocks: cut between paragraphs, or between sentences of a very long one, and never inside of a mention."""
    starts = {start for start, _ in document.sentences}
    bounds, depth = [0], 0
    for token in range(len(document)):
        depth -= closed.get(token, 0)
        size = token - bounds[-1]
        if (
            depth == 0
            and size >= PAGE_BLOCK
            and (gaps[token] == "\n" or (size >= 2 * PAGE_BLOCK and token in starts))
        ):
            bounds.append(token)
        depth += len(opened.get(token, ()))
    return list(pairwise([*bounds, len(document)]))


def rank_movements(movements: Sequence[Movement]) -> list[int]:
    """Rank entities by how much their vectors move: 1 moves most."""
    return [sum(other.moved >= movement.moved for other in movements) for movement in movements]


def describe_characters(document: Document) -> dict[str, Any]:
    """The values of the section about characters."""
    quoted = document if document.quotations else add_quotations(document)
    return {
        "cast": list_characters(quoted),
        "attributed": sum(quotation.speaker is not None for quotation in quoted.quotations),
        "companions": lambda cast, who, most: show_counts(name_companions(cast, who), most),
    }


def find_gaps(document: Document) -> list[str]:
    """Find the white space before each token: none, a space, or a line break for a new paragraph; by rule without a raw text."""
    text, offsets = document.text, document.offsets
    if text is None or offsets is None:
        text, offsets = join_tokens(document.tokens)
    gaps = [""]
    for (_, before), (after, _) in pairwise(offsets):
        gap = text[before:after].replace("\r\n", "\n").replace("\r", "\n")
        gaps.append("\n" if PARAGRAPH.search(gap) else " " if gap else "")
    return gaps


def list_figures(row: TokenRow) -> str:
    """Describe a token, for readers who point at it."""
    expected = None if row.mention_expected is None else 100 * row.mention_expected
    figures = (row.surprisal, 2), (row.error, 2), (row.without_entities, 2), (expected, 0), (row.spelling, 1)
    return ",".join("" if value is None else f"{value:.{digits}f}" for value, digits in figures)


def find_level(bits: float) -> int:
    """The depth of the shading, 0 to 8."""
    return int(min(SHADING_LEVELS, max(0, math.ceil((bits - FIRST_LEVEL) / STEP))))


def list_mentions(report: Report) -> list[dict[str, Any]]:
    """Describe mentions, for readers who point at them; of one that P does not see, only the entity."""
    who = [report.characters[number - 1].name for number in report.owner]
    pairs = zip(report.referents, who, strict=True)
    names = {found.entity: name for found, name in pairs if found is not None} | {
        NEW_REFERENT: "somebody new"
    }
    return [
        {"who": name}
        if row is None or found is None
        else {
            "who": name,
            "form": row.form,
            "since": row.since_words,
            "surprisal": f"{row.known_surprisal:.2f}",
            "entropy": f"{row.known_entropy:.2f}",
            "ranked": [(names[entity], round(100 * p)) for entity, p in found.ranked[:3]],
        }
        for row, found, name in zip(report.rows, report.referents, who, strict=True)
    ]
