"""The form of a referring expression: pronoun, name, definite or indefinite description.

By the document's part-of-speech tags where it has them, and by word lists and capitals otherwise. English, and coarse by
intention: a factor with four levels, as studies of reference use it.
"""

from typing import Literal

from entitynlm.text.document import Document, Mention
from entitynlm.text.english import DETERMINERS, FUNCTION_WORDS, PRONOUNS

Form = Literal["pronoun", "name", "definite", "indefinite"]

PROPER_TAGS = frozenset({"NNP", "NNPS", "PROPN"})
NAMING_TITLES = frozenset(
    "mr mr. mrs mrs. ms ms. miss dr dr. sir lady lord king queen saint st. captain".split()
)
POSSESSIVE_MARKS = frozenset({"'s", "’s", "'", "’"})


class FormReader:
    """Read off the forms of one document's mentions.

    :param known: whether all words of the document may be looked at; without them, only those of the mention, so that nothing
        after it matters.
    """

    def __init__(self, document: Document, *, known: bool = True) -> None:
        self.document = document
        self._seen = frozenset(document.tokens) if known else FUNCTION_WORDS
        self._tags = document.columns.get("pos") or document.columns.get("upos")

    def describe(self, mention: Mention) -> Form:
        tokens = self.document.tokens[mention.start : mention.end]
        words = [token.lower() for token in tokens]
        if " ".join(words) in PRONOUNS:
            return "pronoun"
        if words[0] in DETERMINERS:
            return "indefinite" if DETERMINERS[words[0]] == "indefinite" else "definite"
        if any(word in POSSESSIVE_MARKS for word in words[1:-1]):  # Anna's house
            return "definite"
        return "name" if any(map(self.is_proper, range(mention.start, mention.end))) else "indefinite"

    def is_proper(self, index: int) -> bool:
        """By its tag; without one, by a capital that is not just that of a sentence's first word."""
        token = self.document.tokens[index]
        if self._tags is not None and self._tags[index] is not None:
            return self._tags[index] in PROPER_TAGS
        if not token[0].isupper():
            return False
        opens = index == self.document.sentences[self.document.sentence_of[index]][0]
        return token.lower() in NAMING_TITLES or not opens or token.lower() not in self._seen
