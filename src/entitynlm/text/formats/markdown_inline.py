"""Markdown inside of a paragraph: which characters are syntax, and what stands in their place.

Follows CommonMark where a reader would notice (flanking rules of ``*`` and ``_``, code spans, links,
entities) and is linear where CommonMark's own algorithm is: every search either succeeds, and its range is
never looked at again, or is remembered as hopeless.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field

Edit = tuple[int, int, str]
"""A range of characters and what replaces it."""

SPECIAL = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~]|\\\n)"
    r"|(?P<code>`+)"
    r"|(?P<autolink><(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\s]*|[^<>\s@/]{1,64}@[^<>\s]*)>)"
    r"|(?P<tag></?[A-Za-z][^<>]*>)"
    r"|(?P<entity>&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)"
    r"|(?P<open>!?\[)"
    r"|(?P<close>\])"
    r"|(?P<mark>\*+|_+|~~)"
)
DESTINATION = re.compile(
    r"\(\s{0,9}(?:<[^<>\n]{0,2000}>|[^\s()<>]{0,2000}(?:\([^\s()]{0,2000}\)[^\s()]{0,2000}){0,8})"
    r"(?:\s{1,9}(?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|\([^()]{0,2000}\)))?\s{0,9}\)"
)
REFERENCE = re.compile(r"\[([^\[\]]{0,999})\]")
# Tags that stand within a word or sentence; any other one parts what is before it from what is after it.
WITHIN = frozenset(
    "a abbr b bdi bdo cite code del dfn em font i ins kbd mark q s samp small span strong sub sup u".split()
)


@dataclass
class _Marks:
    """A run of ``*``, ``_`` or ``~``: where what is left of it begins and ends."""

    sign: str
    start: int
    end: int
    opens: bool
    closes: bool


@dataclass
class _Scan:
    """What one paragraph has shown so far."""

    text: str
    labels: Set[str]
    edits: list[Edit] = field(default_factory=list)
    marks: list[_Marks] = field(default_factory=list)
    brackets: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Open brackets: begin, end, and how many edits and marks there were before them."""


def find_syntax(text: str, labels: Set[str] = frozenset()) -> list[Edit]:
    """The syntax in one paragraph as edits in order; ``labels`` are the link definitions of the document."""
    scan = _Scan(text, labels)
    fences: dict[int, list[int]] = {}
    for run in re.finditer(r"`+", text):
        fences.setdefault(len(run[0]), []).append(run.start())
    at = 0
    while match := SPECIAL.search(text, at):
        start, at = match.span()
        if match.lastgroup == "escape":
            scan.edits.append((start, start + 1, ""))
        elif match.lastgroup == "code":
            at = _close_code(scan, start, at, fences)
        elif match.lastgroup == "autolink":
            scan.edits += [(start, start + 1, ""), (at - 1, at, "")]
        elif match.lastgroup == "tag":
            name = re.match(r"</?([A-Za-z]+)", match[0])
            scan.edits.append((start, at, "" if name and name[1].lower() in WITHIN else " "))
        elif match.lastgroup == "entity":
            if (character := html.unescape(match[0])) != match[0]:
                scan.edits.append((start, at, character))
        elif match.lastgroup == "open":
            scan.brackets.append((start, at, len(scan.edits), len(scan.marks)))
        elif match.lastgroup == "close":
            at = _close_bracket(scan, start)
        else:
            scan.marks.append(_judge_marks(text, start, at))
    scan.edits += _pair_marks(scan.marks)
    return sorted(scan.edits)


def _close_code(scan: _Scan, start: int, end: int, fences: dict[int, list[int]]) -> int:
    same = fences.get(end - start, [])
    index = bisect_right(same, start)
    if index == len(same):
        return end
    close = same[index]
    scan.edits += [(start, end, ""), (close, close + end - start, "")]
    return close + end - start


def _close_bracket(scan: _Scan, start: int) -> int:
    """Decide what a ``]`` ends: a link, an image, a footnote mark, or nothing."""
    end = start + 1
    if not scan.brackets:
        return end
    open_start, open_end, edits, marks = scan.brackets.pop()
    label = normalise_label(scan.text[open_end:start]) if start - open_end <= 999 else ""
    if target := DESTINATION.match(scan.text, end):
        end = target.end()
    elif (reference := REFERENCE.match(scan.text, end)) and (
        (normalise_label(reference[1]) or label) in scan.labels
    ):
        end = reference.end()
    elif label not in scan.labels:
        return end
    if scan.text[open_start] == "!" or label.startswith("^"):
        del scan.edits[edits:], scan.marks[marks:]
        scan.edits.append((open_start, end, ""))
    else:
        scan.edits += [(open_start, open_end, ""), (start, end, "")]
    return end


def normalise_label(label: str) -> str:
    """Link labels are the same if they differ in case and white space only."""
    return " ".join(label.casefold().split())


def _judge_marks(text: str, start: int, end: int) -> _Marks:
    """CommonMark's flanking rules: can this run begin emphasis, can it end it?"""
    before = text[start - 1] if start else " "
    after = text[end] if end < len(text) else " "
    left = not after.isspace() and (not _is_punctuation(after) or before.isspace() or _is_punctuation(before))
    right = not before.isspace() and (
        not _is_punctuation(before) or after.isspace() or _is_punctuation(after)
    )
    sign = text[start]
    if sign == "_":
        opens = left and (not right or _is_punctuation(before))
        closes = right and (not left or _is_punctuation(after))
        return _Marks(sign, start, end, opens, closes)
    return _Marks(sign, start, end, left, right)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"


def _pair_marks(marks: list[_Marks]) -> list[Edit]:
    edits: list[Edit] = []
    openers: list[_Marks] = []
    waiting: Counter[str] = Counter()
    for mark in marks:
        while mark.closes and mark.start < mark.end and waiting[mark.sign]:
            opener = openers.pop()
            waiting[opener.sign] -= 1
            if opener.sign != mark.sign:
                continue
            size = min(opener.end - opener.start, mark.end - mark.start)
            edits += [(opener.end - size, opener.end, ""), (mark.start, mark.start + size, "")]
            opener.end -= size
            mark.start += size
            if opener.start < opener.end:
                openers.append(opener)
                waiting[opener.sign] += 1
        if mark.opens and mark.start < mark.end:
            openers.append(mark)
            waiting[mark.sign] += 1
    return edits
