"""Chapters of a book: headings, and the text up to the next one."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from entitynlm.discourse.discourse import Discourse
from entitynlm.text.document import Span

LONGEST_HEADING = 90
"""Characters of a heading's line."""
ROMAN = r"[IVXLCDM]+"
CHAPTER_NUMBER = (
    rf"(?:\d+|{ROMAN}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty)(?:[- ](?:one|two|three|four|five|six|"
    r"seven|eight|nine))?|the (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)|"
    r"first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last)"
)
NAMED = re.compile(
    rf"(?:chapter|letter|stave|scene|canto|phase)\s+(?:the\s+)?{CHAPTER_NUMBER}\b", re.IGNORECASE
)
UNNUMBERED = re.compile(
    r"(?:prologue|epilogue|preface|introduction|conclusion|postscript|finale)\W*", re.IGNORECASE
)
NUMBERED = re.compile(rf"(?:{ROMAN}|\d{{1,3}})(?:\.|\s*$)(?:\s+\S.*)?")
BARE_NUMBER = re.compile(rf"{ROMAN}\.?|\d{{1,3}}\.?")
FEWEST_HEADINGS = 3
"""Headings that are a number alone must be this many, in order, to be taken for chapters."""
SHORTEST_CHAPTER = 40
"""Tokens of a chapter; headings that follow each other more closely are a table of contents."""
SHORTEST_SECTION = 12
"""Tokens of a chapter whose heading its file marks: no table of contents, but perhaps a title page."""


@dataclass(frozen=True)
class Chapter:
    """A span of tokens that includes the chapter's heading; ``number`` counts from 1."""

    number: int
    title: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return (self.start, self.end)


def find_chapters(discourse: Discourse) -> list[Chapter]:
    """Find the chapters of a text by the headings that its file marks, else by the wording of short paragraphs.

    A text without headings is one chapter. Text before the first heading is left out.
    """
    document = discourse.document
    if not len(document):
        return []
    lines = list(_list_lines(discourse))
    marked = [
        (start, title) for start, title in lines if str(start) in document.meta.get("headings", "").split()
    ]
    headings = marked or [
        (start, title) for start, title in lines if NAMED.match(title) or UNNUMBERED.fullmatch(title)
    ]
    if not marked and sum(bool(NAMED.match(title)) for _, title in headings) < 2:
        numbered = _find_counted(lines)
        headings = numbered if len(numbered) >= FEWEST_HEADINGS else headings
    ends = [*(start for start, _ in headings[1:]), len(document)][: len(headings)]
    kept = [
        (start, end, title)
        for (start, title), end in zip(headings, ends, strict=True)
        if end - start >= (SHORTEST_SECTION if marked else SHORTEST_CHAPTER)
    ]
    if len(kept) < 2:
        return [Chapter(1, document.meta.get("title", ""), 0, len(document))]
    return [Chapter(number, title, start, end) for number, (start, end, title) in enumerate(kept, start=1)]


def _list_lines(discourse: Discourse) -> Iterator[tuple[int, str]]:
    """List short paragraphs, each with its first token; sentences where paragraphs are not known."""
    document = discourse.document
    if not discourse.has_paragraphs:
        for start, _ in document.sentences:
            words = " ".join(document.tokens[start : start + 2])
            if NAMED.match(words) and words[0].isupper():
                yield start, words
        return
    for start, end in pairwise((*discourse.paragraphs, len(document))):
        title = " ".join(document.words(start, min(end, start + 40)).split())
        if len(title) <= LONGEST_HEADING:
            yield start, title
        elif title.split(" ")[0].isupper() and NAMED.match(title):  # the heading runs into the text
            yield start, " ".join(title.split(" ")[:2])


def _find_counted(lines: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Find headings such as "I.", "II. The Mill" that count from one upwards."""
    found: list[tuple[int, str]] = []
    for start, title in lines:
        if NUMBERED.fullmatch(title) and _read_number(title) == len(found) + 1:
            found.append((start, title))
    return found


def _read_number(title: str) -> int:
    """Read the number of a heading, in digits or Roman numerals."""
    match = BARE_NUMBER.match(title)
    word = match[0].rstrip(".") if match else ""
    if word.isdigit():
        return int(word)
    values = [{"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}[letter] for letter in word]
    return sum(-value if value < following else value for value, following in pairwise((*values, 0)))
