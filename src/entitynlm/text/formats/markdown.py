"""Markdown without its syntax, by markdown-it, with the position in the file that every character comes from.

Headings, list items and table rows are set apart by blank lines, so that no sentence runs across them.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from itertools import accumulate

from markdown_it import MarkdownIt
from markdown_it.token import Token

from entitynlm.text.document import Span

FRONT_MATTER = re.compile(r"---[^\S\n]*\n(?:[^\n]*\S[^\n]*\n){0,198}?(?:---|\.\.\.)[^\S\n]*(?:\n|\Z)")
INVISIBLE = (("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"))
LINE_BREAKS = frozenset(("softbreak", "hardbreak", "html_inline"))
LONGEST_BLOCK = 100_000  # characters; markdown-it takes quadratic time for some longer ones


@functools.cache
def _load_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).disable("text_join")


@dataclass
class StrippedText:
    """Words of a Markdown text, with the range of the file that each character stands for."""

    original: str
    pieces: list[str] = field(default_factory=list)
    places: list[Span] = field(default_factory=list)
    _at: int = 0

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    def go_to(self, place: int) -> None:
        """Look for what comes next from this place of the file on."""
        self._at = max(self._at, place)

    def separate(self, gap: str) -> None:
        self.pieces.append(gap)
        self.places += [(self._at, self._at)] * len(gap)

    def add(self, piece: str, written: str | None = None) -> None:
        """Append characters that stand in the file, or are written in another way there (``&amp;``)."""
        start = self.original.find(written or piece, self._at)
        if start < 0 and len(words := piece.split()) > 1:  # markdown-it changed it: a table's \\| is |
            for word in words:
                self.add(word)
                self.separate(" ")
        if start < 0 or not piece:
            return
        self.pieces.append(piece)
        if written:
            self.places += [(start, start + len(written))] * len(piece)
        else:
            self.places += [(place, place + 1) for place in range(start, start + len(piece))]
        self._at = self.places[-1][1]

    def locate(self, start: int, end: int) -> Span:
        """Find the range of the file that holds the characters from ``start`` to ``end``."""
        return self.places[start][0], self.places[end - 1][1]


def strip_markdown(text: str) -> StrippedText:
    """Strip the syntax of a Markdown text."""
    matter = FRONT_MATTER.match(text)
    work = _blank(text, 0, matter.end()) if matter else text
    for begin, finish in INVISIBLE:
        at = 0
        while (start := work.find(begin, at)) >= 0 and (at := work.find(finish, start)) >= 0:
            work = _blank(work, start, at + len(finish))
    starts = [0, *accumulate(len(line) for line in re.findall(r"[^\n]*\n|[^\n]+\Z", work))]
    found, gap = StrippedText(work), ""
    for token in _load_parser().parse(work.replace("\r\n", " \n").replace("\r", "\n")):
        if token.map:
            found.go_to(starts[token.map[0]])
        if token.nesting == 1 and token.type not in ("td_open", "th_open"):
            gap = "\n\n"
        elif token.type in ("inline", "fence", "code_block"):
            found.separate(gap if token.type == "inline" else "\n\n")
            _add_block(found, token)
            gap = " "
    return found


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]


def _add_block(found: StrippedText, block: Token) -> None:
    if block.type != "inline" or len(block.content) > LONGEST_BLOCK:
        for line in block.content.splitlines():
            found.add(line)
            found.separate("\n")
        return
    for token in block.children or ():
        if token.type in LINE_BREAKS:
            if token.type != "html_inline" or token.content.lower().startswith("<br"):
                found.separate("\n")
        elif token.type == "text_special":
            found.add(token.content, token.markup)
        elif token.type in ("text", "code_inline"):
            found.add(token.content)
