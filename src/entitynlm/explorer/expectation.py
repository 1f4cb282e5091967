"""Describe what a model expects at a word: whether a mention starts, of which entity, how long it is, and the next word."""

import time
from typing import Any

from entitynlm.api import SENTENCE_END, ExpectedNext, Walk, WordProbs, name_entities
from entitynlm.errors import Busy
from entitynlm.explorer.texts import By, Version

LONGEST_NAME = 4  # tokens, of a referent whose first mention is not marked
PATIENCE = 4.0  # seconds that a question about a far word may read on for
AT_ONCE = 32  # words that are read between two looks at the clock
MOST_OPEN = 3  # referents of an open mention that are shown
SHOWN_WORDS = {SENTENCE_END: "(end of sentence)", "<unk>": "(a rare word)", "<num>": "(a number)"}


def describe_expected(walk: Walk, version: Version, token: int, by: By) -> dict[str, Any]:
    """Describe the expectation at a token for the page; if the filter has many words to read before it, read for some seconds."""
    end = time.monotonic() + PATIENCE
    while (missing := walk.count_missing(token)) > AT_ONCE:
        if time.monotonic() > end:
            raise Busy(f"the model still reads {missing:,} words before this one")
        walk.read_towards(token, AT_ONCE)
    expected = walk.expect(token)
    if expected is None:
        return {"at": token, "by": by, "read": False}
    named = name_referents(expected, version, token, by)
    return {
        "at": token,
        "by": by,
        "read": True,
        "starts": expected.starts,
        "inside": expected.inside,
        "open": [
            {**named[first], "probability": min(1.0, weight)}
            for first, _, weight in expected.open[:MOST_OPEN]
        ],
        "referents": [
            {
                **named[one.first],
                "new": one.first is None,
                "first": one.first,
                "probability": one.probability,
                "length": one.length,
                "words": show_words(one.words),
            }
            for one in expected.referents
        ],
        "lengths": list(expected.lengths),
        "words": show_words(expected.words),
        "words_without": show_words(expected.words_without),
        "pieces": walk.on_pieces,
    }


def name_referents(
    expected: ExpectedNext, version: Version, token: int, by: By
) -> dict[int | None, dict[str, str | None]]:
    """Name referents by the words before a token, with their entities in the document where it marks them."""
    document = version.document
    before = [mention for mention in document.mentions if mention.start < token]
    names = {**name_entities(document, [m for m in before if m.end <= token]), **version.labels}
    named: dict[int | None, dict[str, str | None]] = {
        None: {"name": "someone or something new", "entity": None}
    }
    ends = {first: end for first, end, _ in expected.open}
    ends |= {
        one.first: one.end for one in expected.referents if one.first is not None and one.end is not None
    }
    for start, first_end in ends.items():
        around = [m for m in before if m.start <= start < m.end]
        mention = max(around, key=lambda m: (m.start == start, -len(m))) if around else None
        if mention is None:
            end = min(max(first_end, start + 1), start + LONGEST_NAME, token)
            named[start] = {"name": document.words(start, end), "entity": None}
            continue
        name = names.get(mention.entity) if by == "mentions" else None
        if name is None:  # what it was called first: which of these is meant is what the model is not sure of
            name = document.words(start, min(mention.end, token))
        named[start] = {"name": name, "entity": mention.entity}
    return named


def show_words(words: WordProbs) -> list[dict[str, Any]]:
    """Show words with their probabilities."""
    return [{"word": SHOWN_WORDS.get(word, word), "probability": probability} for word, probability in words]
