"""Detokenisation: words back into running text with its spaces, capitals and quotation marks, the inverse of ``segmentation``."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from entitynlm.text.document import Span
from entitynlm.text.segmentation import join_words

TIGHT_BEFORE = frozenset(", . ; : ! ? … ) ] } ” ’ » % …. ?! !? -RRB- -RSB- -RCB- '' 。 ， ！ ？ 、".split())
TIGHT_AFTER = frozenset("( [ { “ ‘ « $ £ € # -LRB- -LSB- -LCB- `` ¿ ¡".split())
TIGHT_AROUND = frozenset("- /".split())  # hyphens and slashes are tight on both sides; dashes stand free
STRAIGHT_QUOTES = frozenset({'"', "'"})
CONTRACTION = re.compile(r"(?:['’](?:s|m|d|re|ve|ll|t|em)|n['’]t)", re.IGNORECASE)
SPELLINGS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}", "``": "“", "''": "”",
}  # fmt: skip
PLAIN_QUOTES = str.maketrans({**dict.fromkeys("“”„‟", '"'), **dict.fromkeys("‘’‚‛", "'")})
FINAL = frozenset(". ! ? … ?! !? …. 。 ！ ？".split())
QUOTES_AND_BRACKETS = frozenset("” ’ \" ' ) ] » ''".split())
PAIRS = {"”": "“", "’": "‘", ")": "(", "]": "[", "}": "{", "»": "«", "''": "``"}


def join_tokens(tokens: Sequence[str]) -> tuple[str, tuple[Span, ...]]:
    """Join tokens to a text, and find the offsets of each token in it."""
    tight: list[bool] = []
    after_opening = True
    quoted: dict[str, bool] = {}  # within straight quotation marks of each kind
    for token in tokens:
        closes = is_attached(token)
        if token in STRAIGHT_QUOTES:
            closes = quoted.get(token, False)
            quoted[token] = not closes
        tight.append(after_opening or closes)
        after_opening = token in TIGHT_AFTER or token in TIGHT_AROUND or quoted.get(token, False)
    return join_words([SPELLINGS.get(token, token) for token in tokens], tight)


@lru_cache(maxsize=1 << 17)
def write_plainly(token: str) -> str:
    """Write a token as people type it: Penn's brackets and marks as characters, typographic quotation marks plain."""
    return "'" if token == "`" else SPELLINGS.get(token.upper(), token).translate(PLAIN_QUOTES)


def is_attached(token: str) -> bool:
    """Tell whether a token usually follows the word before it without a space: a comma, or the "'s" of "Anna's"."""
    return token in TIGHT_BEFORE or token in TIGHT_AROUND or CONTRACTION.fullmatch(token) is not None


def ends_sentence(tokens: Sequence[str]) -> bool:
    """Tell whether tokens end with sentence-final punctuation, closing quotes and brackets aside."""
    last = next((token for token in reversed(tokens) if token not in QUOTES_AND_BRACKETS), None)
    return last is None or last in FINAL


def list_unopened(tokens: Iterable[str]) -> frozenset[str]:
    """List closing quotes and brackets that these tokens do not open."""
    depth = dict.fromkeys(PAIRS.values(), 0)
    for token in tokens:
        if token in depth:
            depth[token] += 1
        elif token in PAIRS:
            depth[PAIRS[token]] = max(0, depth[PAIRS[token]] - 1)
    return frozenset(closing for closing, opening in PAIRS.items() if not depth[opening])


def capitalise_start(sentence: Sequence[str]) -> list[str]:
    """Write the first word of a sentence with a capital, opening quotes aside."""
    words = list(sentence)
    first = next((index for index, word in enumerate(words) if word[0].isalnum()), None)
    if first is not None and words[first].islower():
        words[first] = words[first][0].upper() + words[first][1:]
    return words
