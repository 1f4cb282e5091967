"""Attributes of a mention (head, gender, number, determiner …), as words and as the hashes that feature templates combine.

With hashes no dictionary of features is needed: what was never seen in training simply has no weight.
"""

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from entitynlm.coref.mention_table import MentionTable
from entitynlm.coref.ranker.mentions import CandidateMention
from entitynlm.text.document import Document
from entitynlm.text.english import (
    DETERMINERS,
)

ATTRIBUTES = (
    "form",  # the pronoun's citation form, or name or noun
    "kind",  # pronoun, name or noun
    "text", "head", "lemma", "first", "last", "before", "after", "length", "relation", "governor", "determiner", "gender",
    "number", "type",
    "place",  # how far into the document
    "opening",  # whether it opens its sentence
    "nested", "genre", "variant",
    "seen_text",  # how recently the same words were mentioned
    "seen_head", "head_count", "tag", "governor_relation", "suffix", "quoted",
)  # fmt: skip
OWN_ATTRIBUTES = ("form", "kind", "text", "head", "lemma", "relation", "gender", "number")


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


def hash_text(text: str) -> int:
    """A stable hash (Python's own changes from run to run)."""
    return zlib.crc32(text.encode("utf-8"))


def describe_mentions(document: Document, candidates: Sequence[CandidateMention]) -> list[MentionAttributes]:
    """Describe candidates by the columns of their table."""
    heads = [candidate.head for candidate in candidates]
    table = MentionTable(document, [candidate.span for candidate in candidates], heads=heads)
    columns = (table.sentence.tolist(), table.governor.tolist(), table.quote.tolist())
    return [
        MentionAttributes(candidate, **words._asdict(), sentence=sentence, governor=governor, quote=quote)
        for candidate, words, sentence, governor, quote in zip(candidates, table.words, *columns, strict=True)
    ]


def hash_attributes(
    document: Document, mentions: Sequence[MentionAttributes], types: Mapping[str, str]
) -> NDArray[np.int64]:
    """Hashes of all attributes, shape (mentions, attributes). ``types`` maps a lemma to its entity type."""
    table = np.zeros((len(mentions), len(ATTRIBUTES)), dtype=np.int64)
    texts: dict[str, int] = {}  # the last sentence with these words, and with this head
    heads: dict[str, int] = {}
    counts: Counter[str] = Counter()
    for row, mention in enumerate(mentions):
        values = {
            **_list_attributes(document, mention, types),
            "genre": document.meta.get("genre", ""),
            "nested": _find_nesting(mentions, row),
            "seen_text": _bucket_distance(texts.get(mention.text), mention.sentence),
            "seen_head": _bucket_distance(heads.get(mention.lemma), mention.sentence),
            "head_count": str(min(counts[mention.lemma], 6)),
        }
        texts[mention.text] = heads[mention.lemma] = mention.sentence
        counts[mention.lemma] += 1
        table[row] = [hash_text(values[name]) for name in ATTRIBUTES]
    return table


def _list_attributes(
    document: Document, mention: MentionAttributes, types: Mapping[str, str]
) -> dict[str, str]:
    tokens, relations = document.tokens, document.column("deprel")
    tags, lemmas = document.column("pos"), document.column("lemma")
    start, end = mention.candidate.span
    first = tokens[start].lower()
    sentence, governor = mention.sentence, mention.governor
    return {
        **{name: getattr(mention, name) for name in OWN_ATTRIBUTES},
        "first": first,
        "last": tokens[end - 1].lower(),
        "before": tokens[start - 1].lower() if start else "",
        "after": tokens[end].lower() if end < len(tokens) else "",
        "length": str(min(end - start, 8)),
        "governor": (lemmas[governor] or tokens[governor]).lower() if governor >= 0 else "",
        "governor_relation": (relations[governor] or "") if governor >= 0 else "",
        "determiner": DETERMINERS.get(first, "none") if end - start > 1 else "bare",
        "type": types.get(mention.lemma) or types.get(mention.head) or "",
        "place": str(sentence if sentence < 4 else 4 + min(sentence // 20, 4)),
        "opening": str(start == document.sentences[sentence][0]),
        "variant": str(mention.candidate.variant),
        "tag": tags[mention.candidate.head] or "",
        "suffix": mention.head[-3:],
        "quoted": str(mention.quote > 0),
    }


def _bucket_distance(last: int | None, now: int) -> str:
    if last is None:
        return "never"
    return str(min(now - last, 3)) if now - last < 10 else "far"


def _find_nesting(mentions: Sequence[MentionAttributes], index: int) -> str:
    """Whether a mention lies in one of the six before it (then, whether they share the head)."""
    inner = mentions[index].candidate
    for other in reversed(mentions[max(0, index - 6) : index]):
        outer = other.candidate
        if outer.start <= inner.start and inner.end <= outer.end:
            return "head" if outer.head == inner.head else "inside"
    return "free"
