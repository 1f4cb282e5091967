"""Actions of characters: the verbs that their mentions are subjects of.

With a syntactic analysis in the document, by it. Without one, by the words beside the mention: the verb after a subject ("Ida
slowly opened …"), or a verb of speech before it ("…," said Ida).
"""

from __future__ import annotations

from pathlib import Path

from entitynlm.config import load_toml
from entitynlm.discourse.quotation_marks import MARKS
from entitynlm.text.document import Document, Mention
from entitynlm.text.english import (
    OBJECTIVE_PRONOUNS,
    POSSESSIVE_PRONOUNS,
    PREPOSITIONS,
    QUOTATION_VERBS,
)
from entitynlm.text.word_forms import find_past, list_lemmas

_LISTS = load_toml(Path(__file__).parents[1] / "resources" / "characters" / "verbs.toml")
SUBJECT_TO_VERB = frozenset(_LISTS["between"].split())
VERB_REACH = 4
"""Tokens after a mention in which its verb stands."""
SUBJECTS = frozenset(("nsubj", "SBJ", "nsubj:outer"))


class ActionReader:
    """Read the verbs of one document's mentions, in their base form."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._lemmas, self._relations = document.column("lemma"), document.column("deprel")
        self._tags = document.columns.get("upos") or document.columns.get("pos")

    def read(self, mention: Mention) -> str | None:
        """Find the verb that a mention is subject of; None if it is no subject or no verb is found."""
        document = self.document
        if document.heads is not None and "deprel" in document.columns:
            return self._read_tree(mention)
        start, end = mention.span
        first = document.tokens[start].lower()
        alone = end - start == 1
        if alone and (first in OBJECTIVE_PRONOUNS or first in POSSESSIVE_PRONOUNS):
            return None
        before = document.tokens[start - 1].lower() if start else ""
        if before in PREPOSITIONS and before != "before":
            return None
        if start > 1 and before in QUOTATION_VERBS and document.tokens[start - 2] in MARKS:
            return find_past(before) or before
        return self._read_after(end)

    def _read_after(self, end: int) -> str | None:
        tokens, helped = self.document.tokens, False
        for place in range(end, min(end + VERB_REACH, len(tokens))):
            word = tokens[place].lower()
            if word in SUBJECT_TO_VERB or (word.endswith("ly") and len(word) > 4):
                helped = helped or "AUX" in list_lemmas(word)
            elif helped:  # "had gone", "would go"
                return next(iter(list_lemmas(word).get("VERB", ())), None)
            else:
                return find_past(word)
        return None

    def _read_tree(self, mention: Mention) -> str | None:
        heads = self.document.heads or ()
        for token in range(mention.start, mention.end):
            head = heads[token]
            if self._relations[token] in SUBJECTS and not mention.start <= head < mention.end:
                verbal = self._tags is None or (self._tags[head] or "").startswith("V")
                word = self.document.tokens[head].lower()
                return (self._lemmas[head] or find_past(word) or word).lower() if verbal else None
        return None
