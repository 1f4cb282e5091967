"""A report as one self-contained page: no network, no fonts, no library."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from entitynlm.characters.character import Cast, list_characters
from entitynlm.characters.tables import (
    CharacterRow,
    QuotationRow,
    list_character_rows,
    list_quotation_rows,
    name_companions,
    show_counts,
)
from entitynlm.lm.surprisal import TokenRow
from entitynlm.prediction.referents import NEW_REFERENT
from entitynlm.report.contents import SHOWN_ENTITIES, Report, show_context
from entitynlm.report.drawings import (
    SURPRISING,
    lay_out_movement,
    lay_out_network,
    lay_out_timeline,
    render_page,
)
from entitynlm.text.detokenization import join_tokens
from entitynlm.text.document import Document, Mention

BLOCK_TOKENS = 300  # at least: a browser lays out a block of a long text when it comes into view
LONG = 2_000  # tokens: a longer text has a frame of its own to scroll in, so that the drawings below it can be reached
SHADING_LEVELS = 8
FIRST_LEVEL, STEP = 3.0, 1.8  # bits: where the shading begins, and how far apart its levels are
PARAGRAPH = re.compile(r"\n[^\S\n]*\n|\f|\u2029")


def write_page(report: Report, *, title: str, model: str, measured: str = "") -> str:
    """Write the whole page by the template ``page.html``.

    :param measured: what its figures have to be cited with.
    """
    factor = math.log(2) / math.log(report.tables.base)  # bits → the report's unit
    document, length = report.document, len(report.document)
    gaps = find_gaps(document)
    starts = cut_blocks(document, gaps)
    breaks = sorted({*starts, *(token for token, gap in enumerate(gaps) if gap == "\n"), length})
    opened, closed = nest_mentions(report.mentions, breaks)
    return render_page(
        "page.html",
        report=report,
        tables=report.tables,
        title=title,
        model=model,
        measured=measured,
        factor=factor,
        levels=[(FIRST_LEVEL + STEP * level) * factor for level in range(SHADING_LEVELS)],
        surprising=SURPRISING * factor,
        is_long=length > LONG,
        gaps=gaps,
        opened=opened,
        closed=closed,
        blocks=list(pairwise([*starts, length])),
        timeline=lay_out_timeline(
            document,
            report.characters,
            (0, length),
            tokens=report.tables.tokens,
            surprisal=report.surprisal_of_referents,
            unit=report.unit,
            surprising=SURPRISING * factor,
        ),
        network=lay_out_network(report.characters, report.cooccurrences),
        by_entity={who.entity: who for who in report.characters},
        show_context=show_context,
        data={"unit": report.unit, "rows": list_mentions(report)},
        **describe_characters(document, {}),
        lay_out_movement=lay_out_movement,
        find_level=find_level,
        list_figures=list_figures,
    )


def nest_mentions(
    mentions: Sequence[Mention], breaks: Sequence[int]
) -> tuple[dict[int, list[int]], Counter[int]]:
    """List the mentions that begin before each token, the outermost first, and count those that end before it.

    Elements of a page can't cross: of two crossing mentions the second is shown up to the end of the first, and a mention is cut
    at the end of its paragraph.

    :param breaks: tokens that begin a paragraph or a block, and the end of the text.
    """
    opened: dict[int, list[int]] = {}
    closed: Counter[int] = Counter()
    ends: list[int] = []
    for place in sorted(range(len(mentions)), key=lambda at: (mentions[at].start, -mentions[at].end)):
        mention = mentions[place]
        while ends and ends[-1] <= mention.start:
            ends.pop()
        ends.append(min(mention.end, breaks[bisect_right(breaks, mention.start)], *ends[-1:]))
        opened.setdefault(mention.start, []).append(place)
        closed[ends[-1]] += 1
    return opened, closed


def cut_blocks(document: Document, gaps: Sequence[str]) -> list[int]:
    """List the tokens at which blocks of a text begin: at a paragraph, or at a sentence where paragraphs are very long."""
    starts = [0]
    for first, _ in document.sentences[1:]:
        size = first - starts[-1]
        if size >= BLOCK_TOKENS and (gaps[first] == "\n" or size >= 3 * BLOCK_TOKENS):
            starts.append(first)
    return starts


def make_cast(document: Document, labels: Mapping[str, str]) -> Cast:
    """List the characters of a document.

    :param labels: names that people gave to entities, by entity id.
    """
    cast = list_characters(document)
    named = (replace(who, name=labels.get(who.id, who.name)) for who in cast.characters)
    return replace(cast, characters=tuple(named))


def tabulate_cast(document: Document, labels: Mapping[str, str]) -> dict[str, tuple[type, list[Any]]]:
    """Return the tables ``cast`` and ``quotations``: the type of their rows, and the rows."""
    cast = make_cast(document, labels)
    people, said = list(list_character_rows(cast)), list(list_quotation_rows(cast))
    return {"cast": (CharacterRow, people), "quotations": (QuotationRow, said)}


def describe_characters(document: Document, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the section about characters, ``characters.html``."""
    cast = make_cast(document, labels)
    return {
        "cast": cast,
        "coloured": SHOWN_ENTITIES,
        "attributed": sum(quotation.speaker is not None for quotation in cast.document.quotations),
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
    """Return the depth of the shading, 0 to 8."""
    return int(min(SHADING_LEVELS, max(0, math.ceil((bits - FIRST_LEVEL) / STEP))))


def list_mentions(report: Report) -> list[dict[str, Any]]:
    """Describe mentions, for readers who point at them; mentions that P does not see by their entity only."""
    called = {who.entity: who.name for who in report.characters}
    who = [called[mention.entity] for mention in report.mentions]
    pairs = zip(report.referents, who, strict=True)
    names = {found.entity: name for found, name in pairs if found is not None} | {
        NEW_REFERENT: "a new entity"
    }
    return [
        {"who": name}
        if row is None or found is None
        else {
            "who": name,
            "form": row.form,
            "since": row.since_words,
            "surprisal": f"{row.referent_surprisal:.2f}",
            "entropy": f"{row.entropy:.2f}",
            "ranked": [(names[entity], round(100 * p)) for entity, p in found.ranked[:3]],
        }
        for row, found, name in zip(report.rows, report.referents, who, strict=True)
    ]
