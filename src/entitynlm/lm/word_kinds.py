"""Sort words by kind, for breakdowns of a perplexity: which words does a model predict better than another?

A word in an annotated mention (the outermost one, as the model sees it) is a pronoun, a part of a name or another word, and its
mention is the entity's first or a later one. Kinds are for counting only: no model gets to see them.
"""

from collections.abc import Sequence

import numpy as np

from entitynlm.lm.mention_forms import FormReader
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.text.document import Document
from entitynlm.text.english import PRONOUNS

OUTSIDE_MENTIONS = "outside of mentions"
WORD_KINDS = (
    OUTSIDE_MENTIONS,
    *(f"{form}, {when} mention" for form in ("pronoun", "name", "other word") for when in ("first", "later")),
)


def find_kinds(document: Document, encoded: EncodedDocument) -> np.ndarray:
    """(T,) the kind of each word, as an index into WORD_KINDS; sentence ends are outside."""
    forms, kinds = FormReader(document), np.zeros(len(encoded), dtype=np.int64)
    introduced: set[int] = set()
    entity, later, ends = 0, 0, 0
    for t in np.flatnonzero(encoded.r).tolist():
        if t >= ends:  # a mention starts
            entity, ends = int(encoded.e[t]), t + int(encoded.l[t])
            later = int(entity in introduced)
            introduced.add(entity)
        token = int(encoded.origin[t])
        form = 2
        if token >= 0 and document.tokens[token].lower() in PRONOUNS:
            form = 0
        elif token >= 0 and forms.is_proper(token):
            form = 1
        kinds[t] = 1 + 2 * form + later
    return kinds


def sum_kinds(log_probs: np.ndarray, kinds: np.ndarray | None) -> dict[str, tuple[int, float]]:
    """By kind, how many words there are and the sum of their log-probabilities; nothing where kinds are not known."""
    if kinds is None:
        return {}
    counts = np.bincount(kinds, minlength=len(WORD_KINDS))
    sums = np.bincount(kinds, weights=log_probs, minlength=len(WORD_KINDS))
    return {name: (int(counts[n]), float(sums[n])) for n, name in enumerate(WORD_KINDS) if counts[n]}


def select_kind(found: Sequence[dict[str, tuple[int, float]]], kind: str) -> tuple[np.ndarray, np.ndarray]:
    """(documents,) words of one kind, and the sums of their log-probabilities."""
    pairs = [by_kind.get(kind, (0, 0.0)) for by_kind in found]
    return np.array([count for count, _ in pairs]), np.array([total for _, total in pairs])
