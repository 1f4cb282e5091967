"""Who speaks: a quotation's speaker is often named right beside it ("…," said Anne).

Whoever says "I" in a quotation is its speaker, but the speaker's name mostly comes after the words. The linker therefore looks
ahead: when it enters a quotation, it first asks who the mention beside the verb of speech would be.
"""

from collections.abc import Mapping, Sequence

from entitynlm.coref.quoted_speech import number_quotes
from entitynlm.coref.ranker.attributes import MentionAttributes
from entitynlm.text.document import Document
from entitynlm.text.english import SPEECH_VERBS

BEFORE_SPEAKER = frozenset((",", "?", "!", "--", "—", "...", "-"))
"""How a quotation ends whose sentence may go on with the speaker."""
AFTER_SPEAKER = frozenset((",", ":", "--", "—"))
REACH = 4  # tokens from a quotation's end to its speaker
REACH_BEFORE = 6  # tokens from the speaker to a quotation's start


def find_speakers(document: Document, mentions: Sequence[MentionAttributes]) -> dict[int, int]:
    """For each quotation (by number) that has one, which mention outside of it is said to speak."""
    tokens, quotes = document.tokens, number_quotes(document.tokens)
    borders: dict[int, tuple[int, int]] = {}
    for token, quote in enumerate(quotes):
        if quote:
            borders[quote] = (borders.get(quote, (token, token))[0], token)
    starts: dict[int, tuple[int, int]] = {}  # mentions and their ends by their first tokens
    ends: dict[int, int] = {}
    for number, mention in enumerate(mentions):
        if not mention.quote:
            starts.setdefault(mention.candidate.start, (number, mention.candidate.end))
            ends[mention.candidate.end] = number
    found = {}
    for quote, (start, end) in borders.items():
        speaker = _look_after(tokens, quotes, end, starts)
        if speaker is None:
            speaker = _look_before(tokens, quotes, start, ends)
        if speaker is not None:
            found[quote] = speaker
    return found


def _look_after(
    tokens: Sequence[str], quotes: Sequence[int], end: int, starts: Mapping[int, tuple[int, int]]
) -> int | None:
    """The speaker in "…," said Anne, and in "…," the old man cried; ``end`` is the last token that is quoted."""
    if tokens[end] not in BEFORE_SPEAKER:
        return None
    verb = False
    for token in range(end + 2, min(end + 2 + REACH, len(tokens))):
        word = tokens[token].lower()
        if quotes[token] or not word[0].isalpha() or word == "and":
            return None
        if word in SPEECH_VERBS:
            verb = True
        elif token in starts:
            number, after = starts[token]
            return number if verb or _speaks(tokens, after) else None
    return None


def _look_before(
    tokens: Sequence[str], quotes: Sequence[int], start: int, ends: Mapping[int, int]
) -> int | None:
    """The speaker in Anne said, "…"; ``start`` is the opening mark."""
    if start < 2 or tokens[start - 1] not in AFTER_SPEAKER:
        return None
    for token in range(start - 1, max(start - REACH_BEFORE, 0), -1):
        if quotes[token]:
            return None
        if token in ends and any(word.lower() in SPEECH_VERBS for word in tokens[token : start - 1]):
            return ends[token] if _speaks(tokens, token) else None
    return None


def _speaks(tokens: Sequence[str], end: int) -> bool:
    """Whether a verb of speech follows a mention, at most an adverb between; not "said that"."""
    words = [word.lower() for word in tokens[end : end + 3]]
    return any(word in SPEECH_VERBS for word in words[:2]) and "that" not in words
