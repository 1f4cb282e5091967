"""The form of a referring expression: pronoun, name, definite or indefinite description.

By the document's part-of-speech tags where it has them, and by word lists and capitals otherwise. English, and coarse by
intention: a factor with four levels, as studies of reference use it.
"""

from __future__ import annotations

from typing import Literal

from entitynlm.text.document import Document, Mention
from entitynlm.text.english import DETERMINERS, PRONOUNS

Form = Literal["pronoun", "name", "definite", "indefinite"]

PROPER = frozenset({"NNP", "NNPS", "PROPN"})
TITLES = frozenset("mr mr. mrs mrs. ms ms. miss dr dr. sir lady lord king queen saint st. captain".split())
POSSESSIVES = frozenset({"'s", "’s", "'", "’"})


class FormReader:
    """Reads off the forms of one document's mentions."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._seen = frozenset(document.tokens)
        self._tags = document.columns.get("pos") or document.columns.get("upos")

    def describe(self, mention: Mention) -> Form:
        tokens = self.document.tokens[mention.start : mention.end]
        words = [token.lower() for token in tokens]
        if " ".join(words) in PRONOUNS:
            return "pronoun"
        if words[0] in DETERMINERS:
            return "indefinite" if DETERMINERS[words[0]] == "indefinite" else "definite"
        if any(word in POSSESSIVES for word in words[1:-1]):  # Anna's house
            return "definite"
        return "name" if any(map(self._is_proper, range(mention.start, mention.end))) else "indefinite"

    def _is_proper(self, index: int) -> bool:
        """By its tag; without one, by a capital that is not just that of a sentence's first word."""
        token = self.document.tokens[index]
        if self._tags is not None and self._tags[index] is not None:
            return self._tags[index] in PROPER
        if not token[0].isupper():
            return False
        opens = index == self.document.sentences[self.document.sentence_of[index]][0]
        return token.lower() in TITLES or not opens or token.lower() not in self._seen
