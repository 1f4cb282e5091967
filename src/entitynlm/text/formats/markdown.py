"""Markdown as its reader sees it: the words without the syntax, and the way back to every character of the
file.

What a rendered page would show stays (link texts, code, table cells), what it would not show goes (marks,
addresses, comments, front matter). Blocks that a page would set apart (headings, list items, table rows) are
parted by blank lines here, so that no sentence runs across them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from entitynlm.text.document import Span
from entitynlm.text.formats.markdown_inline import find_syntax, normalise_label

DEFINITION = re.compile(r" {0,3}\[([^\[\]\n]{1,999})\]:[ \t]*(?=\S)")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`\n]*)$")
HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+|$)")
UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
QUOTE = re.compile(r"(?: {0,3}> ?)+")
ITEM = re.compile(r"[ \t]*(?:[-*+]|(\d{1,9})[.)])(?:[ \t]+|$)(?:\[[ xX]\][ \t]+)?")
TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
HIDDEN = (("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"))


@dataclass
class View:
    """A text made of pieces of another one, able to say where each of its characters comes from."""

    pieces: list[str] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    """Where each piece begins in the view."""
    origins: list[tuple[int, int, bool]] = field(default_factory=list)
    """Where each piece comes from, and whether it was copied character by character."""
    length: int = 0

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def add(self, piece: str, start: int, end: int) -> None:
        """Append ``piece``, which stands for the characters from ``start`` to ``end`` of the original."""
        if piece:
            self.pieces.append(piece)
            self.places.append(self.length)
            self.origins.append((start, end, len(piece) == end - start))
            self.length += len(piece)

    def locate(self, start: int, end: int) -> Span:
        """The range of the original that holds the characters from ``start`` to ``end`` of the view."""
        return self._locate(start, 0), self._locate(end - 1, 1)

    def _locate(self, at: int, side: int) -> int:
        index = bisect_right(self.places, at) - 1
        start, end, copied = self.origins[index]
        if copied:
            return start + at - self.places[index] + side
        return end if side else start


@dataclass
class _Block:
    """Lines that belong together, as ranges of the file; ``raw`` ones (code) have no syntax in them."""

    ranges: list[Span] = field(default_factory=list)
    raw: bool = False


def strip_markdown(text: str) -> View:
    """The words of a Markdown text, with the way back."""
    work = _hide_invisible(text.replace("\r\n", " \n").replace("\r", "\n"))  # as long as ``text`` is
    labels = {normalise_label(match[1]) for line in work.split("\n") if (match := DEFINITION.match(line))}
    view = View()
    for block in _find_blocks(work):
        _add_block(view, work, block, labels)
    return view


def _hide_invisible(text: str) -> str:
    """Blank comments, scripts and style sheets out."""
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
    if view.length:
        view.add("\n\n", block.ranges[0][0], block.ranges[0][0])
    joined = "\n".join(work[start:end] for start, end in block.ranges)
    source = View()
    for index, (start, end) in enumerate(block.ranges):
        if index:
            source.add("\n", start, start)
        source.add(work[start:end], start, end)
    at = 0
    for start, end, replacement in [] if block.raw else find_syntax(joined, labels):
        _copy(view, source, joined, at, start)
        if replacement:
            view.add(replacement, *source.locate(start, end))
        at = end
    _copy(view, source, joined, at, len(joined))


def _copy(view: View, source: View, joined: str, start: int, end: int) -> None:
    """Carry characters over, line by line because line ends need not be neighbours in the file."""
    while start < end:
        stop = joined.find("\n", start, end)
        stop = end if stop < 0 else max(stop, start + 1)
        view.add(joined[start:stop], *source.locate(start, stop))
        start = stop


def _find_lines(work: str) -> Iterator[Span]:
    start = 0
    while start < len(work):
        end = work.find("\n", start)
        end = len(work) if end < 0 else end
        yield start, end
        start = end + 1


def _skip_front_matter(work: str, lines: list[Span]) -> int:
    """The number of lines of a YAML head at the beginning of the file."""
    if not lines or work[slice(*lines[0])].rstrip() != "---":
        return 0
    for number, (start, end) in enumerate(lines[1:200], start=1):
        line = work[start:end].rstrip()
        if line in ("---", "..."):
            return number + 1
        if not line:
            return 0
    return 0


def _find_blocks(work: str) -> Iterator[_Block]:
    lines = list(_find_lines(work))
    number = _skip_front_matter(work, lines)
    block = _Block()
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
            rows, following = _take_table(work, lines, number)
            apart = rows
        elif definition := DEFINITION.match(line):
            footnote = definition[1].startswith("^")
            apart = [_Block([(start + definition.end(), end)])] if footnote else []
        if apart is not None:
            yield from (each for each in (block, *apart) if each.ranges)
            block = _Block()
        else:
            item = ITEM.match(line)
            if item and (item[1] in (None, "1") or not block.ranges or _is_item(work, block)):
                if block.ranges:
                    yield block
                block = _Block([(start + item.end(), end)] if item.end() < len(line) else [])
            else:
                block.ranges.append((start, end))
        number = following
    if block.ranges:
        yield block


def _is_item(work: str, block: _Block) -> bool:
    """Whether a block began as a list item: its content begins behind a mark, not at its line's beginning."""
    start = block.ranges[0][0]
    line_start = work.rfind("\n", 0, start) + 1
    return bool(ITEM.match(work, line_start, start))


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
            row = _Block()
            for cell in re.finditer(r"(?:\\.|[^|\\\n]|\\$)+", work[start:end]):
                if cell[0].strip():
                    row.ranges.append((start + cell.start(), start + cell.end()))
            rows.append(row)
        number += 1
    return rows, number
