"""Markdown without its syntax, with the position in the file that every character comes from.

Headings, list items and table rows are set apart by blank lines, so that no sentence runs across them. Inside of a paragraph
this follows CommonMark where a reader would notice. It is linear in the length of the text.
"""

from __future__ import annotations

import html
import re
import unicodedata
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from entitynlm.text.document import Span

DEFINITION = re.compile(r" {0,3}\[([^\[\]\n]{1,999})\]:[ \t]*(?=\S)")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`\n]*)$")
HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)")
UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
QUOTE = re.compile(r"(?: {0,3}> ?)+")
ITEM = re.compile(r"[ \t]*(?:[-*+]|(\d{1,9})[.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?")
TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
HIDDEN = (("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"))
LINE = re.compile(r"([^\n]*)(?:\n|\Z)")
FRONT_MATTER = re.compile(
    r"---[^\S\n]*\n(?:(?!---[^\S\n]*\n|\.\.\.[^\S\n]*\n)[^\n]*\S[^\n]*\n){0,198}(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)"
)

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
class View:
    """A text made of characters of another one, with the range of the original that each of them stands for."""

    pieces: list[str] = field(default_factory=list)
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def add(self, piece: str, start: int, end: int) -> None:
        """Append ``piece``; each of its characters stands for the characters ``start`` to ``end`` of the original."""
        self.pieces.append(piece)
        self.starts.extend([start] * len(piece))
        self.ends.extend([end] * len(piece))

    def copy(self, piece: str, places: list[int]) -> None:
        """Append characters of the original that stand at these places."""
        self.pieces.append(piece)
        self.starts.extend(places)
        self.ends.extend(place + 1 for place in places)

    def locate(self, start: int, end: int) -> Span:
        """The range of the original that holds the characters from ``start`` to ``end`` of the view."""
        return self.starts[start], self.ends[end - 1]


@dataclass
class _Block:
    """Lines that belong together, as ranges of the file; ``raw`` ones (code) have no syntax in them."""

    ranges: list[Span] = field(default_factory=list)
    raw: bool = False


def strip_markdown(text: str) -> View:
    """The words of a Markdown text, with the positions in the file that they come from."""
    work = _hide_invisible(text.replace("\r\n", " \n").replace("\r", "\n"))  # as long as ``text`` is
    labels = {normalise_label(match[1]) for line in work.split("\n") if (match := DEFINITION.match(line))}
    view = View()
    for block in _find_blocks(work):
        _add_block(view, work, block, labels)
    return view


def _hide_invisible(text: str) -> str:
    """Replace comments, scripts and style sheets by blanks."""
    for begin, finish in HIDDEN:
        pieces, at = [], 0
        lowered = text.lower() if len(text.lower()) == len(text) else text
        while (start := lowered.find(begin, at)) >= 0 and (end := lowered.find(finish, start)) >= 0:
            end += len(finish)
            pieces += [text[at:start], " " * (end - start)]
            at = end
        text = "".join([*pieces, text[at:]])
    return text


def _add_block(view: View, work: str, block: _Block, labels: set[str]) -> None:
    if view.starts:
        view.add("\n\n", block.ranges[0][0], block.ranges[0][0])
    text = "\n".join(work[start:end] for start, end in block.ranges)
    places = [place for start, end in block.ranges for place in range(start, end + 1)]
    at = 0
    for start, end, replacement in [] if block.raw else find_syntax(text, labels):
        view.copy(text[at:start], places[at:start])
        view.add(replacement, places[start], places[end - 1] + 1)
        at = end
    view.copy(text[at:], places[at : len(text)])


def _find_blocks(work: str) -> Iterator[_Block]:
    front = FRONT_MATTER.match(work)
    lines = [line.span(1) for line in LINE.finditer(work, front.end() if front else 0)]
    number = 0
    block, in_item = _Block(), False
    while number < len(lines):
        start, end = lines[number]
        if quote := QUOTE.match(work, start, end):
            start = quote.end()
        line = work[start:end]
        apart: list[_Block] | None = None
        following = number + 1
        if not line.strip() or RULE.match(line) or (block.ranges and UNDERLINE.match(line)):
            apart = []
        elif fence := FENCE.match(line):
            code, following = _take_code(work, lines, following, fence[1])
            apart = [code]
        elif heading := HEADING.match(line):
            content = line[heading.end() :].rstrip()
            bare = content.rstrip("#")
            content = bare.rstrip() if bare != bare.rstrip() or not bare else content
            apart = [_Block([(start + heading.end(), start + heading.end() + len(content))])]
        elif "|" in line and _is_table_rule(work, lines, following):
            apart, following = _take_table(work, lines, number)
        elif definition := DEFINITION.match(line):
            footnote = definition[1].startswith("^")
            apart = [_Block([(start + definition.end(), end)])] if footnote else []
        if apart is not None:
            yield from (each for each in (block, *apart) if each.ranges)
            block, in_item = _Block(), False
        else:
            item = ITEM.match(line)
            if item and (item[1] in (None, "1") or not block.ranges or in_item):
                if block.ranges:
                    yield block
                in_item = item.end() < len(line)
                block = _Block([(start + item.end(), end)] if in_item else [])
            else:
                block.ranges.append((start, end))
        number = following
    if block.ranges:
        yield block


def _take_code(work: str, lines: list[Span], number: int, fence: str) -> tuple[_Block, int]:
    code = _Block(raw=True)
    while number < len(lines):
        start, end = lines[number]
        number += 1
        mark = work[start:end].strip().removeprefix("> ").strip()
        if len(mark) >= len(fence) and mark == fence[0] * len(mark):
            break
        if start < end:
            code.ranges.append((start, end))
    return code, number


def _is_table_rule(work: str, lines: list[Span], number: int) -> bool:
    line = work[slice(*lines[number])] if number < len(lines) else ""
    return "|" in line and TABLE_RULE.match(line) is not None


def _take_table(work: str, lines: list[Span], number: int) -> tuple[list[_Block], int]:
    """One block per row, its cells as ranges."""
    rows: list[_Block] = []
    header = number
    while number < len(lines) and "|" in work[slice(*lines[number])]:
        start, end = lines[number]
        if number != header + 1:
            cells = re.finditer(r"(?:\\.|[^|\\\n]|\\$)+", work[start:end])
            rows.append(_Block([(start + c.start(), start + c.end()) for c in cells if c[0].strip()]))
        number += 1
    return rows, number


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
    """What was found in a paragraph so far."""

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
    sign_before, sign_after = (unicodedata.category(character)[0] in "PS" for character in (before, after))
    opens = not after.isspace() and (not sign_after or before.isspace() or sign_before)
    closes = not before.isspace() and (not sign_before or after.isspace() or sign_after)
    if text[start] == "_":
        opens, closes = opens and (not closes or sign_before), closes and (not opens or sign_after)
    return _Marks(text[start], start, end, opens, closes)


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
