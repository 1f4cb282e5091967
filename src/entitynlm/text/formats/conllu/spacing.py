"""The raw text in CoNLL-U, read back as it was: ``SpaceAfter=No``, multiword tokens, else ``SpacesAfter`` and ``Surface``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from entitynlm.text.document import Document, Span

PARAGRAPH_GAP = "\n"
TEXT_KEYS = frozenset(("SpaceAfter", "SpacesAfter", "SpacesBefore", "Surface"))

_ESCAPES = {" ": r"\s", "\t": r"\t", "\n": r"\n", "\r": r"\r", "|": r"\p", "\\": r"\\"}
_LETTERS = {written[1]: character for character, written in _ESCAPES.items()}
_TO_ESCAPE_IN_MISC = re.compile(r"[ \t\n\r|\\]")
_ESCAPED_MISC = re.compile(r"\\(.)", re.DOTALL)
_TO_FLATTEN = re.compile(r"[\t\n\r]")
_FIRST_OF_GROUP = re.compile(r"1/([1-9][0-9]{0,2})\Z")


def escape_misc(text: str) -> str:
    """Text as a value in the MISC column, in UDPipe's way."""
    return _TO_ESCAPE_IN_MISC.sub(lambda match: _ESCAPES[match[0]], text)


def unescape_misc(text: str) -> str:
    return _ESCAPED_MISC.sub(lambda match: _LETTERS.get(match[1], match[0]), text) if "\\" in text else text


def split_surface(surface: str, words: Sequence[str]) -> list[Span]:
    """The span of each word of a multiword token: exact where they spell it (do + n't), else in proportion (de + le for "du")."""
    ends = [0, *accumulate(len(word) for word in words)]
    if "".join(words) != surface:
        ends = [len(surface) * end // ends[-1] for end in ends]
    return list(pairwise(ends))


@dataclass
class TextBuilder:
    """Builds a document's text word by word; ``known`` is set once the file has any information about its text."""

    offsets: list[Span] = field(default_factory=list)
    known: bool = False
    _pieces: list[str] = field(default_factory=list)
    _position: int = 0
    _gap: str | None = None  # what follows the last word, where the file says so
    _sentence: int = 0  # the first piece of the current sentence, which is the gap before it

    def start_sentence(self, paragraph: bool) -> None:
        """A new paragraph is a new line, unless the file said what comes after the last word before it."""
        if paragraph and self.offsets and self._gap in (None, ""):
            self._gap = PARAGRAPH_GAP
        self._sentence = len(self._pieces)

    def add(self, surface: str, misc: dict[str, str], words: Sequence[str] = ()) -> None:
        if self.offsets:
            before = " " if self._gap is None else self._gap
        else:
            before = unescape_misc(misc.get("SpacesBefore", ""))
        self._gap = "" if misc.get("SpaceAfter") == "No" else None
        if "SpacesAfter" in misc:
            self._gap = unescape_misc(misc["SpacesAfter"])
        self.known = self.known or not TEXT_KEYS.isdisjoint(misc)
        start = self._position + len(before)
        self._pieces += [before, surface]
        self._position = start + len(surface)
        spans = split_surface(surface, words) if words else [(0, len(surface))]
        self.offsets += [(start + a, start + b) for a, b in spans]

    def sentence_text(self) -> str:
        """The text since the start of the sentence, with single spaces, as ``# text`` has it."""
        return " ".join("".join(self._pieces[self._sentence + 1 :]).split())

    def finish(self) -> str | None:
        """The whole text, or ``None`` if the file does not tell it."""
        return "".join([*self._pieces, self._gap or ""]) if self.known else None


@dataclass
class TextNotes:
    """Notes on a document's text that are written beside its words, so that the text can be restored."""

    misc: list[list[str]]  # MISC items of each word
    groups: dict[int, Multiword]  # multiword tokens by their first word
    paragraphs: set[int]  # first words of sentences that open a paragraph
    sentence_texts: list[str]


@dataclass
class Multiword:
    """A multiword token: the words up to ``end``, how they are written together, and its MISC items."""

    end: int
    surface: str
    misc: list[str] = field(default_factory=list)


def describe_text(document: Document, forms: Sequence[str]) -> TextNotes | None:
    """Notes on the text of a document whose words are written as ``forms``; ``None`` if it has no text."""
    text, offsets = document.text, document.offsets
    if text is None or not offsets:
        return None
    notes = TextNotes([[] for _ in forms], _find_groups(document, forms), set(), [])
    group_of = {token: group for first, group in notes.groups.items() for token in range(first, group.end)}
    sentence_ends = {end - 1 for _, end in document.sentences}
    for token, (start, end) in enumerate(offsets):
        group = group_of.get(token)
        items = notes.misc[token] if group is None else group.misc
        if token == 0 and start > 0:
            items.append(f"SpacesBefore={escape_misc(text[:start])}")
        if group is None and text[start:end] != forms[token]:
            items.append(f"Surface={escape_misc(text[start:end])}")
        if token == len(offsets) - 1:
            if text[end:]:
                items.append(f"SpacesAfter={escape_misc(text[end:])}")
        elif group is None or token == group.end - 1:
            gap = text[end : offsets[token + 1][0]]
            if token in sentence_ends and "\n" in gap:
                notes.paragraphs.add(token + 1)
            if gap != (PARAGRAPH_GAP if token + 1 in notes.paragraphs else " "):
                items.append(f"SpacesAfter={escape_misc(gap)}" if gap else "SpaceAfter=No")
    for first, end in document.sentences:
        notes.sentence_texts.append(" ".join(text[offsets[first][0] : offsets[end - 1][1]].split()))
    return notes


def _find_groups(document: Document, forms: Sequence[str]) -> dict[int, Multiword]:
    """The multiword tokens of the ``mwt`` column whose words the reader would find where they are."""
    groups: dict[int, Multiword] = {}
    column, text, offsets = document.columns.get("mwt"), document.text, document.offsets
    if column is None or text is None or offsets is None:
        return groups
    for first, mark in enumerate(column):
        opening = _FIRST_OF_GROUP.match(mark or "")
        end = first + int(opening[1]) if opening else first
        whole = opening is not None and column[first:end] == mark_group(end - first)
        if not whole or document.sentence_of[first] != document.sentence_of[end - 1]:
            continue
        origin = offsets[first][0]
        surface = text[origin : offsets[end - 1][1]]
        spans = [(a - origin, b - origin) for a, b in offsets[first:end]]
        if surface and not _TO_FLATTEN.search(surface) and spans == split_surface(surface, forms[first:end]):
            groups[first] = Multiword(end, surface)
    return groups


def mark_group(size: int) -> tuple[str, ...]:
    """Mark the words of one multiword token in the ``mwt`` column: 1/2, 2/2."""
    return tuple(f"{index}/{size}" for index in range(1, size + 1))


def flatten(text: str) -> str:
    return _TO_FLATTEN.sub(" ", text)
