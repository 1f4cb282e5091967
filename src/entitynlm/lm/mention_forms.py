"""The form of a referring expression: pronoun, name, definite or indefinite description.

It is read from the document's part-of-speech tags, or else from word lists and capitals (English): a factor with four levels, as
studies of reference use it.
"""

from collections.abc import Collection
from typing import Literal

from entitynlm.text.document import Document, Mention
from entitynlm.text.english import DETERMINERS, FUNCTION_WORDS, PRONOUNS

Form = Literal["pronoun", "name", "definite", "indefinite"]

PROPER_TAGS = frozenset({"NNP", "NNPS", "PROPN"})
POSSESSIVE_MARKS = frozenset({"'s", "’s", "'", "’"})


def read_form(document: Document, mention: Mention, ordinary: Collection[str] = FUNCTION_WORDS) -> Form:
    """Read the form of a mention.

    :param ordinary: lower-case words of the text, which are no names at the start of a sentence.
    """
    tokens = document.tokens[mention.start : mention.end]
    words = [token.lower() for token in tokens]
    if " ".join(words) in PRONOUNS:
        return "pronoun"
    if words[0] in DETERMINERS:
        return "indefinite" if DETERMINERS[words[0]] == "indefinite" else "definite"
    if any(word in POSSESSIVE_MARKS for word in words[1:-1]):  # Anna's house
        return "definite"
    proper = any(is_proper(document, index, ordinary) for index in range(mention.start, mention.end))
    return "name" if proper else "indefinite"


def is_proper(document: Document, index: int, ordinary: Collection[str]) -> bool:
    """Recognise a proper noun by its tag; without one, by a capital that is not due to the start of a sentence."""
    token, tags = document.tokens[index], document.columns.get("pos") or document.columns.get("upos")
    if tags is not None and tags[index] is not None:
        return tags[index] in PROPER_TAGS
    opens = index == document.sentences[document.sentence_of[index]][0]
    return token[0].isupper() and not (opens and token.lower() in ordinary)
