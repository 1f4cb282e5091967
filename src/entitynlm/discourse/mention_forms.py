"""The form of a referring expression (pronoun, name, definite, indefinite), and the mention that names an entity best.

By the document's part-of-speech tags where it has them, and by word lists and capitals otherwise. English, and coarse by
intention: a factor with four levels, as studies of reference use it.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from entitynlm.text.document import Document, Mention
from entitynlm.text.english import DETERMINERS, FUNCTION_WORDS, PRONOUNS

Form = Literal["pronoun", "name", "definite", "indefinite"]

PROPER = frozenset({"NNP", "NNPS", "PROPN"})
TITLES = frozenset("mr mr. mrs mrs. ms ms. miss dr dr. sir lady lord king queen saint st. captain".split())
POSSESSIVES = frozenset({"'s", "’s", "'", "’"})


class FormReader:
    """Reads off the forms of one document's mentions.

    :param known: whether all of the document's words may be looked at; or, where nothing after a mention is to matter, none but
        its own.
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
        if any(word in POSSESSIVES for word in words[1:-1]):  # Anna's house
            return "definite"
        return "name" if any(map(self.is_proper, range(mention.start, mention.end))) else "indefinite"

    def is_proper(self, index: int) -> bool:
        """By its tag; without one, by a capital that is not just that of a sentence's first word."""
        token = self.document.tokens[index]
        if self._tags is not None and self._tags[index] is not None:
            return self._tags[index] in PROPER
        if not token[0].isupper():
            return False
        opens = index == self.document.sentences[self.document.sentence_of[index]][0]
        return token.lower() in TITLES or not opens or token.lower() not in self._seen


LONGEST_NAME = 60  # characters; a longer description is cut where it is shown


def choose_names(document: Document, mentions: Iterable[Mention] | None = None) -> dict[str, Mention]:
    """Each entity's best mention: with a name, or no pronoun; of equals the commonest words, then the first."""
    mentions = tuple(document.mentions if mentions is None else mentions)
    known = frozenset(document.tokens)
    uses = Counter((m.entity, _fold(document, m)) for m in mentions)
    best: dict[str, tuple[tuple[int, int], Mention]] = {}
    for mention in mentions:
        rating = (rate_name(document, mention, known), uses[mention.entity, _fold(document, mention)])
        if mention.entity not in best or rating > best[mention.entity][0]:
            best[mention.entity] = (rating, mention)
    return {entity: mention for entity, (_, mention) in best.items()}


def show_name(document: Document, mention: Mention) -> str:
    """A naming mention's words on one line, cut if they are many."""
    words = " ".join(document.words(*mention.span).split())
    return words if len(words) <= LONGEST_NAME else words[: LONGEST_NAME - 1] + "…"


def rate_name(document: Document, mention: Mention, known: frozenset[str]) -> int:
    """2: with a name, 1: without one, 0: a pronoun. A name's capital is not just that of a sentence's first word."""
    words = document.tokens[mention.start : mention.end]
    if " ".join(words).lower() in PRONOUNS:
        return 0
    capitals = (word.lower() for word in words if word[0].isupper())
    return 2 if any(word not in known and word not in FUNCTION_WORDS for word in capitals) else 1


def _fold(document: Document, mention: Mention) -> str:
    return " ".join(document.tokens[mention.start : mention.end]).lower()
