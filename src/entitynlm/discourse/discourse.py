"""The discourse structure of a text: paragraphs, quotations and common words, found once and passed on.

Coreference, speakers and characters all ask which tokens are quoted and which capitals mark a name. One :class:`Discourse` per
text answers them, so that no later step searches the text for quotation marks again.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from entitynlm.discourse.names import find_common_words
from entitynlm.discourse.paragraphs import find_paragraphs
from entitynlm.discourse.quotations import find_quotations
from entitynlm.text.document import Document, Span

NARRATION = -1
"""The quotation number of a token that is not quoted."""


@dataclass(frozen=True)
class Discourse:
    """A document with the first token of each paragraph and the span of each quotation, both in text order."""

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
    def common_words(self) -> frozenset[str]:
        """Words of this text whose capitals do not mark a name (:func:`~entitynlm.discourse.names.find_common_words`)."""
        return find_common_words(self.document)

    @property
    def has_paragraphs(self) -> bool:
        """Whether the text has paragraphs: tokenised corpora have lost them."""
        return len(self.paragraphs) > 1

    def paragraph_of(self, token: int) -> int:
        """The number of the paragraph that a token stands in, from 1 on."""
        return bisect_right(self.paragraphs, token)


def read_discourse(document: Document, quotations: Sequence[Span] | None = None) -> Discourse:
    """Find the discourse structure of a text.

    :param quotations: annotated quotations, which are kept instead of those that would be found.
    """
    paragraphs = find_paragraphs(document)
    if quotations is None:
        quotations = find_quotations(document, paragraphs) if paragraphs else []
    return Discourse(document, paragraphs, quotations)
