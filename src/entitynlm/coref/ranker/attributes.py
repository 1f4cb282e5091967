"""Mentions as the linker compares them: a row of the table of mentions for each."""

from collections.abc import Sequence
from dataclasses import dataclass

from entitynlm.coref.mention_table import MentionTable
from entitynlm.coref.ranker.mentions import CandidateMention
from entitynlm.text.document import Document


@dataclass(frozen=True)
class MentionAttributes:
    """What the words of a mention say of it; two mentions are compared by this."""

    candidate: CandidateMention
    kind: str
    form: str
    text: str
    head: str
    lemma: str
    content: frozenset[str]
    gender: str
    number: str
    speaker: str | None
    sentence: int
    governor: int
    relation: str
    initials: str
    quote: int


def describe_mentions(document: Document, candidates: Sequence[CandidateMention]) -> list[MentionAttributes]:
    """Describe candidates by the columns of their table."""
    heads = [candidate.head for candidate in candidates]
    table = MentionTable(document, [candidate.span for candidate in candidates], heads=heads)
    columns = (table.sentence.tolist(), table.governor.tolist(), table.quote.tolist())
    return [
        MentionAttributes(candidate, **words._asdict(), sentence=sentence, governor=governor, quote=quote)
        for candidate, words, sentence, governor, quote in zip(candidates, table.words, *columns, strict=True)
    ]
