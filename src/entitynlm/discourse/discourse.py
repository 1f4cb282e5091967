"""The discourse structure of a text: paragraphs, quotations and common words, found once and passed on.

Coreference, speakers and characters all need to know which tokens are quoted and which capitals mark a name. Each text has one
:class:`Discourse`, so that no later step searches it for quotation marks again.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from entitynlm.discourse.letters import Letter, find_letters
from entitynlm.discourse.names import find_common_words, find_pronoun_genders
from entitynlm.discourse.quotation_marks import ENDS, MARKS, ends_clause, pair_inner_marks
from entitynlm.discourse.quotations import find_quotations
from entitynlm.discourse.records import MentionReader
from entitynlm.text.document import Document, Span

NARRATION = -1
"""The quotation number of a token that is not quoted."""
OTHER_VOICE = -2
"""The voice of a letter, a diary, or speech within speech."""
SHORTEST_INNER = 4
"""Tokens of speech within speech, marks included, at least."""
BLANK_LINE = re.compile(r"\n[^\S\n]*\n|\f|\u2029")
BEFORE_ADDRESS = MARKS | ENDS | {","}
ADDRESSES = frozenset(
    "my dear old sir madam ma'am m'am miss mister monsieur madame mademoiselle papa mamma father mother".split()
)
"""Words in lower case with which an address begins."""
LONG_LINE = 160
"""Mean length of a line in characters from which each line is a paragraph, in a text without blank lines."""


@dataclass(frozen=True)
class Discourse:
    """A document with the first token of each paragraph and the span of each quotation, in text order."""

    document: Document
    paragraphs: Sequence[int]
    quotations: Sequence[Span]

    @cached_property
    def quotation_of(self) -> list[int]:
        """The number of the quotation that each token stands in, from 0 on; :data:`NARRATION` in the narration."""
        numbers = [NARRATION] * len(self.document)
        for number, (start, end) in enumerate(self.quotations):
            numbers[start:end] = [number] * (end - start)
        return numbers

    @cached_property
    def letters(self) -> Sequence[Letter]:
        """The letters and diaries in the text, in text order."""
        return find_letters(self.document, self.paragraphs)

    @cached_property
    def inner_quotations(self) -> Sequence[Span]:
        """Speech within speech, in marks of the other kind, in text order."""
        tokens, offsets = self.document.tokens, self.document.offsets
        return [
            (start, end)
            for start, end in pair_inner_marks(self.document, self.paragraphs, self.quotations)
            if end - start >= SHORTEST_INNER
            and ends_clause(tokens[end - 2])
            and (offsets is None or offsets[start][1] == offsets[start + 1][0])
        ]

    @cached_property
    def voice_of(self) -> list[int]:
        """The number of the quotation whose speaker is "I" at each token; :data:`NARRATION` or :data:`OTHER_VOICE` elsewhere."""
        voices = list(self.quotation_of)
        for letter in self.letters:
            for token in range(*letter.span):
                voices[token] = OTHER_VOICE if voices[token] == NARRATION else voices[token]
        for start, end in self.inner_quotations:
            voices[start:end] = [OTHER_VOICE] * (end - start)
        return voices

    @cached_property
    def common_words(self) -> frozenset[str]:
        """Words of this text whose capital does not mark a name (:func:`~entitynlm.discourse.names.find_common_words`)."""
        return find_common_words(self.document)

    @cached_property
    def reader(self) -> MentionReader:
        """The reader of the text's mentions: pronouns, names and genders."""
        quoted = [number != NARRATION for number in self.quotation_of]
        genders = find_pronoun_genders(self.document, quoted, self.common_words)
        return MentionReader(self.document, self.common_words, genders)

    @property
    def has_paragraphs(self) -> bool:
        """Tell whether the text has several paragraphs; tokenised corpora have lost theirs."""
        return len(self.paragraphs) > 1

    def paragraph_of(self, token: int) -> int:
        """The number of the paragraph that a token stands in, from 1 on."""
        return bisect_right(self.paragraphs, token)

    def is_address(self, span: Span) -> bool:
        """Tell whether a mention is an address: a name (or "sir", "my dear") between commas, marks and ends of sentences."""
        tokens, (start, end) = self.document.tokens, span
        before, first = tokens[start - 1] if start else ".", tokens[start]
        after = tokens[end] if end < len(tokens) else "."
        if first.lower() in ("the", "a", "an", "his", "her", "their"):
            return False
        plain = before in BEFORE_ADDRESS or before.lower() in ("oh", "o", "dear", "well")
        addressing = first[0].isupper() or first in ADDRESSES
        return addressing and plain and (ends_clause(after) or after in MARKS)


def read_discourse(document: Document, quotations: Sequence[Span] | None = None) -> Discourse:
    """Find the discourse structure of a text.

    :param quotations: annotated quotations, which are kept instead of those that would be found.
    """
    paragraphs = find_paragraphs(document)
    if quotations is None:
        quotations = find_quotations(document, paragraphs) if paragraphs else []
    return Discourse(document, paragraphs, quotations)


def find_paragraphs(document: Document) -> list[int]:
    """List the first token of each paragraph; a document without raw text or without breaks is one paragraph."""
    if not len(document):
        return []
    if document.text is None or document.offsets is None:
        return [0]
    text = document.text.replace("\r\n", " \n").replace("\r", "\n")
    by_lines = not BLANK_LINE.search(text) and len(text) > LONG_LINE * max(1, text.count("\n"))
    starts = [0]
    for token, ((_, before), (after, _)) in enumerate(pairwise(document.offsets), start=1):
        gap = text[before:after]
        if ("\n" in gap and (by_lines or BLANK_LINE.search(gap))) or "\f" in gap or "\u2029" in gap:
            starts.append(token)
    return starts
