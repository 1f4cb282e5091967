"""The raw text in CoNLL-U, restored from ``SpaceAfter=No``, multiword tokens, ``SpacesBefore`` and ``SpacesAfter``."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from entitynlm.text.document import Document, Span

PARAGRAPH_GAP = "\n"
TEXT_KEYS = frozenset(("SpaceAfter", "SpacesAfter", "SpacesBefore"))

_ESCAPES = {" ": r"\s", "\t": r"\t", "\n": r"\n", "\r": r"\r", "|": r"\p", "\\": r"\\"}
_LETTERS = {written[1]: character for character, written in _ESCAPES.items()}
_TO_ESCAPE_IN_MISC = re.compile(r"[ \t\n\r|\\]")
_ESCAPED_MISC = re.compile(r"\\(.)", re.DOTALL)


def escape_misc(text: str) -> str:
    """Write a text as a value in the MISC column, in UDPipe's way."""
    return _TO_ESCAPE_IN_MISC.sub(lambda match: _ESCAPES[match[0]], text)


def unescape_misc(text: str) -> str:
    return _ESCAPED_MISC.sub(lambda match: _LETTERS.get(match[1], match[0]), text) if "\\" in text else text


def split_surface(surface: str, words: Sequence[str]) -> list[Span]:
    """Find each word's span in a multiword token: exact where they spell it (do + n't), else in proportion (de + le for "du")."""
    ends = [0, *accumulate(len(word) for word in words)]
    if "".join(words) != surface:
        ends = [len(surface) * end // ends[-1] for end in ends]
    return list(pairwise(ends))


@dataclass
class TextBuilder:
    """Builds a document's text word by word; ``known`` is true once the file has said anything about its text."""

    offsets: list[Span] = field(default_factory=list)
    known: bool = False
    _pieces: list[str] = field(default_factory=list)
    _position: int = 0
    _gap: str | None = None  # what follows the last word, where the file says so
    _sentence: int = 0  # the first piece of the current sentence, which is the gap before it

    def start_sentence(self, paragraph: bool) -> None:
        """Begin a sentence; a new paragraph is a new line, unless the file said what comes after the last word before it."""
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
        """Return the text since the start of the sentence, with single spaces, as ``# text`` has it."""
        return " ".join("".join(self._pieces[self._sentence + 1 :]).split())

    def finish(self) -> str | None:
        """Return the whole text, or ``None`` if the file does not give it."""
        return "".join([*self._pieces, self._gap or ""]) if self.known else None


def note_spaces(document: Document) -> tuple[list[list[str]], set[int]]:
    """Note white space other than one blank as MISC items of each word; the set has the first words of paragraphs."""
    notes: list[list[str]] = [[] for _ in document.tokens]
    paragraphs: set[int] = set()
    text, offsets = document.text, document.offsets
    if text is None or not offsets:
        return notes, paragraphs
    sentence_starts = {start for start, _ in document.sentences}
    if offsets[0][0] > 0:
        notes[0].append(f"SpacesBefore={escape_misc(text[: offsets[0][0]])}")
    for token, ((_, end), (following, _)) in enumerate(pairwise(offsets), start=1):
        gap = text[end:following]
        if token in sentence_starts and "\n" in gap:
            paragraphs.add(token)
        if gap != (PARAGRAPH_GAP if token in paragraphs else " "):
            notes[token - 1].append(f"SpacesAfter={escape_misc(gap)}" if gap else "SpaceAfter=No")
    if rest := text[offsets[-1][1] :]:
        notes[-1].append(f"SpacesAfter={escape_misc(rest)}")
    return notes, paragraphs
