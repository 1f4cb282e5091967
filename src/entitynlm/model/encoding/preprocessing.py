"""From tokens to the model's words X: lowercase, punctuation, numbers, sentence ends.

One rule stands above all: **X is fixed per document before any mention is known**. Every sample and every
candidate analysis of a document is scored on the same words, otherwise their probabilities could not be
compared. The paper's own rule for punctuation (kept inside gold mentions, dropped elsewhere) breaks it and is not
here. See ``docs/decisions/001-x-is-fixed-before-mentions.md``.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from entitynlm.config import Positive
from entitynlm.text.document import Document

IntArray = npt.NDArray[np.int64]

UNK = "<unk>"  # a word outside the vocabulary
NUM = "<num>"  # any number
SENTENCE_END = "</s>"  # predicted after the last word of each sentence
START = "<s>"  # what the model has read before the first word; never predicted
SPECIALS = (START, UNK, SENTENCE_END, NUM)

Punctuation = Literal["keep", "drop"]


class Recipe(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The steps from a document's tokens to the model's words; every step is an option and is stored with the model.

    :param lowercase: fold words to lower case.
    :param punctuation: ``keep`` or ``drop`` tokens that are punctuation only (:func:`is_punctuation`).
    :param numbers: replace numbers (:func:`is_numeral`) by ``<num>``.
    :param sentence_ends: predict ``</s>`` after each sentence, and count it as a word.
    :param vocabulary_size: how many ordinary words the vocabulary may hold; the specials come on top.
    :param minimum_count: a word that is rarer than this in the training documents is unknown.
    """

    lowercase: bool = True
    punctuation: Punctuation = "drop"
    numbers: bool = True
    sentence_ends: bool = True
    vocabulary_size: Positive = 10_000
    minimum_count: Positive = 2


SUBWORD_RECIPE = Recipe(lowercase=False, punctuation="keep", numbers=False, sentence_ends=False)
"""Words as they stand, for language models that spell them by pieces and read running text."""


@dataclass(frozen=True, eq=False)
class WordSequence:
    """X of one document, fixed before any mention is known.

    :param words: the model's words; a corpus token that looks like a special word is escaped
        (:func:`escape_word`).
    :param origin: (T,) index of the token that a word comes from, -1 for ``</s>``.
    :param sentence: (T,) index of the document's sentence that a word belongs to; ``</s>`` belongs to the
        sentence that it ends. Sentences of which nothing is left are skipped, so that the numbers may have
        gaps.
    """

    words: tuple[str, ...]
    origin: IntArray
    sentence: IntArray

    def __len__(self) -> int:
        return len(self.words)


def prepare_words(document: Document, recipe: Recipe) -> WordSequence:
    """Make X of a document's tokens.

    A sentence of which no word is left gets no ``</s>`` either: there is nothing for it to end, and a run of
    bare sentence ends would be free words in every perplexity.
    """
    drop = recipe.punctuation == "drop"
    lowercase, numbers = recipe.lowercase, recipe.numbers
    words: list[str] = []
    origin: list[int] = []
    sentence: list[int] = []
    for number, (start, end) in enumerate(document.sentences):
        before = len(words)
        for index in range(start, end):
            token = document.tokens[index]
            if drop and is_punctuation(token):
                continue
            words.append(normalise_word(token, lowercase=lowercase, numbers=numbers))
            origin.append(index)
        if recipe.sentence_ends and len(words) > before:
            words.append(SENTENCE_END)
            origin.append(-1)
        sentence.extend([number] * (len(words) - before))
    return WordSequence(tuple(words), np.array(origin, dtype=np.int64), np.array(sentence, dtype=np.int64))


@lru_cache(maxsize=1 << 17)
def normalise_word(token: str, *, lowercase: bool, numbers: bool) -> str:
    """Make the model's word for a token: ``<num>``, or the token, folded if asked, escaped if it looks special."""
    if numbers and is_numeral(token):
        return NUM
    return escape_word(token.lower() if lowercase else token)


# -- what is a number, what is punctuation -------------------------------------------------------------------

_DIGITS = r"[\d¹²³¼-¾⅐-⅞]"
_NUMBER = re.compile(
    rf"""
    [+\-−–±]? [$£€¥#'’]? [+\-−–]? [.,]?    # a sign, a currency, the apostrophe of '90s, a bare point
    {_DIGITS}+
    (?: [.,:/'’\-−–⁄×]+ {_DIGITS}+ )*      # decimals, thousands, times, dates, fractions, ranges
    (?: st | nd | rd | th | ['’]?s )?      # ordinals and decades
    [%‰°]? [.]?                            # per cent, degrees, the point of a list number
    """,
    re.VERBOSE | re.IGNORECASE,
)


@lru_cache(maxsize=1 << 17)
def is_numeral(token: str) -> bool:
    """Tell whether a token is one number in digits.

    ``7``, ``1,000``, ``3.5``, ``-2``, ``1/2``, ``10:30``, ``1999-2001``, ``12%``, ``$5``, ``21st`` and
    ``1990s`` are numbers; numbers in letters (``seven``) and names with digits (``B-52``, ``MP3``) are words.
    """
    return _NUMBER.fullmatch(token) is not None


_PENN_BRACKETS = frozenset(f"-{side}{kind}-" for side in "LR" for kind in ("RB", "SB", "CB"))
_READ_ALOUD = frozenset("%‰&@")  # category P in Unicode, yet words to a reader: "5 %", "Smith & Sons"
_SEPARATORS = frozenset("|~<>")  # category Sm in Unicode, yet marks on a page to a reader
_MARK_CATEGORIES = frozenset("PZC")  # punctuation, spaces, control and format characters


@lru_cache(maxsize=1 << 17)
def is_punctuation(token: str) -> bool:
    """Tell whether a token is punctuation only: marks on the page that a reader does not say.

    All of its characters are of Unicode's categories P (less ``% ‰ & @``, which are read aloud), Sk (the
    backtick of Penn quotes), Z or C, or one of ``| ~ < >``; or it is one of Penn's brackets (``-LRB-``).
    Currency signs, ``+``, ``=`` and emoji are words.
    """
    if token.isalnum():
        return False
    return token.upper() in _PENN_BRACKETS or all(map(_is_mark, token))


def _is_mark(character: str) -> bool:
    if character in _READ_ALOUD:
        return False
    category = unicodedata.category(character)
    return category[0] in _MARK_CATEGORIES or category == "Sk" or character in _SEPARATORS


# -- words that look like specials ---------------------------------------------------------------------------

_LOOKS_SPECIAL = re.compile("|".join(rf"\\*{re.escape(special)}" for special in SPECIALS))


def escape_word(word: str) -> str:
    r"""Put a backslash before a corpus word that looks like a special one (``<unk>`` becomes ``\<unk>``).

    Words that look like an escaped one get another backslash, so that :func:`unescape_word` always finds the way
    back.
    """
    return "\\" + word if word[-1:] == ">" and _LOOKS_SPECIAL.fullmatch(word) else word


def unescape_word(word: str) -> str:
    r"""Return the corpus word of an escaped word (``\<unk>`` becomes ``<unk>``)."""
    return word[1:] if word[:1] == "\\" and _LOOKS_SPECIAL.fullmatch(word) else word
