"""Quotations by their marks, and the mention beside a verb of speech that names a quotation's speaker ("…," said Anne).

Pairs of mentions are compared before any entity is known, so these cues are about single mentions; the discourse layer finds
the speakers of all quotations afterwards, from the entities.
"""

from collections.abc import Mapping, Sequence

from entitynlm.text.english import SPEECH_VERBS

OPENING_QUOTES = ("“", "``", "«")
CLOSING_QUOTES = ("”", "''", "»")
BEFORE_SPEAKER = frozenset((",", "?", "!", "--", "—", "...", "-"))
"""Last tokens of a quotation whose sentence may go on with the speaker."""
AFTER_SPEAKER = frozenset((",", ":", "--", "—"))
REACH_AFTER = 4  # tokens from a quotation's end to its speaker
REACH_BEFORE = 6  # tokens from the speaker to a quotation's start


def number_quotes(tokens: Sequence[str]) -> list[int]:
    """Number the quotation of each token, 0 outside of quotations: the referent of "I" depends on it."""
    numbers: list[int] = []
    count, inside = 0, False
    for token in tokens:
        if token in OPENING_QUOTES or (token == '"' and not inside):
            count, inside = count + 1, True
        elif token in CLOSING_QUOTES or token == '"':
            inside = False
        numbers.append(count if inside else 0)
    return numbers


def find_named_speakers(
    tokens: Sequence[str], quotes: Sequence[int], spans: Sequence[tuple[int, int]]
) -> dict[int, int]:
    """Find for each quotation (by number) the mention outside of it that is said to speak, where there is one.

    :param quotes: the quotation of each token, from :func:`number_quotes`.  :param spans: of the mentions.
    """
    borders: dict[int, tuple[int, int]] = {}
    for token, quote in enumerate(quotes):
        if quote:
            borders[quote] = (borders.get(quote, (token, token))[0], token)
    starts: dict[int, tuple[int, int]] = {}  # mentions and their ends by their first tokens
    ends: dict[int, int] = {}
    for number, (start, end) in enumerate(spans):
        if not quotes[start]:
            starts.setdefault(start, (number, end))
            ends[end] = number
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
    """Find the speaker in "…," said Anne, and in "…," the old man cried; ``end`` is the last quoted token."""
    if tokens[end] not in BEFORE_SPEAKER:
        return None
    verb = False
    for token in range(end + 2, min(end + 2 + REACH_AFTER, len(tokens))):
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
    """Find the speaker in Anne said, "…"; ``start`` is the opening mark."""
    if start < 2 or tokens[start - 1] not in AFTER_SPEAKER:
        return None
    for token in range(start - 1, max(start - REACH_BEFORE, 0), -1):
        if quotes[token]:
            return None
        if token in ends and any(word.lower() in SPEECH_VERBS for word in tokens[token : start - 1]):
            return ends[token] if _speaks(tokens, token) else None
    return None


def _speaks(tokens: Sequence[str], end: int) -> bool:
    """Say whether a verb of speech follows a mention, at most an adverb between; not "said that"."""
    words = [word.lower() for word in tokens[end : end + 3]]
    return any(word in SPEECH_VERBS for word in words[:2]) and "that" not in words
