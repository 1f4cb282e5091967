"""Check that a text is like those that a model was trained on: English, and in words that the model knows."""

import re
from typing import TYPE_CHECKING

from entitynlm.text.document import Document
from entitynlm.text.english import DETERMINERS, PREPOSITIONS, PRONOUNS

if TYPE_CHECKING:
    from entitynlm.model.encoding.encoder import Encoder

COMMON_WORDS = frozenset(
    (
        *PRONOUNS,
        *DETERMINERS,
        *PREPOSITIONS,
        *"and but or not is was are were be been had has have do did".split(),
    )
)
LEAST_COMMON = 0.15  # of the words of a text; about 0.45 of English prose, under 0.1 of German or French
MOST_UNKNOWN = 0.2
MOST_CAPITALS = 0.8  # of the words
TAG = re.compile(
    r"</?(?:html|head|body|div|p|span|a|b|i|em|br|h[1-6]|table|tr|td|li|ul|ol)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
FEWEST_WORDS = 20  # shares of fewer words mean nothing
FEWEST_SIGNS = 6  # words in capitals, or letters of other scripts, that are no abbreviation and no name
LOOKED_AT = 20_000  # tokens


def is_unspaced(document: Document) -> bool:
    """Recognise scripts that put no blanks between words, such as Chinese: a few tokens are then a whole text."""
    letters = [sign for word in document.tokens[:FEWEST_WORDS] for sign in word if sign.isalpha()]
    return len(letters) >= FEWEST_SIGNS and not any(letter.isascii() for letter in letters)


def find_doubt(document: Document, encoder: "Encoder") -> str | None:
    """Describe in a sentence why a text is unsuitable for this model, and the consequence; None if it is suitable."""
    words = [word for word in document.tokens[:LOOKED_AT] if word.isalpha()]
    if len(TAG.findall((document.text or "")[:LOOKED_AT])) > 1:
        return f"{document.id}: there are HTML tags in this text, which are read as words: give the text without them"
    if len(words) >= FEWEST_SIGNS and sum(word.isupper() for word in words) > MOST_CAPITALS * len(words):
        return (
            f"{document.id}: this text is in capitals, and the model tells names from other words by theirs: mentions, links "
            "and figures are less sure"
        )
    if len(words) < FEWEST_WORDS and not is_unspaced(document):
        return None
    common = sum(word.lower() in COMMON_WORDS for word in words) / max(len(words), 1)
    if common < LEAST_COMMON:
        return (
            f"{document.id}: this does not look like English ({100 * common:.0f} % of the words are common there), and the "
            "model has learnt from English alone: mentions, links and figures mean little"
        )
    lower = encoder.recipe.lowercase
    unknown = sum(encoder.tokenizer.is_unknown(word.lower() if lower else word) for word in words) / len(
        words
    )
    if unknown > MOST_UNKNOWN:
        return (
            f"{document.id}: the model does not know {100 * unknown:.0f} % of the words: it takes them all for one and the same "
            "unknown word, so what rests on them is less sure"
        )
    return None
