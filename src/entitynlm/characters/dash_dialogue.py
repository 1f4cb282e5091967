"""Dialogue that is set off by dashes: a line that begins with a dash is spoken, but for "he said" and the like in it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from entitynlm.characters.actions import PAST
from entitynlm.characters.quotation_marks import DASHES, ENDS, STOPS
from entitynlm.text.document import Document, Span
from entitynlm.text.english import DETERMINERS, PRONOUNS, QUOTATION_VERBS

FEWEST = 3
"""Lines with a verb of speech that must begin with a dash before dashes are taken for dialogue."""
SPOKEN = frozenset("i you me my your we us our is are 'm ’m 're ’re 'll ’ll 've ’ve do does has have".split())
CLITICS = frozenset(("'s", "’s"))
"""After a pronoun, "is"; after a name, a possessive."""
SUBJECT = 4
"""Tokens of a speaker's name."""


def find_dash_dialogue(document: Document, borders: Sequence[int]) -> Iterator[Span]:
    """What is spoken after dashes, in text order: until the line ends or, where lines are not known, the narration goes on."""
    tokens = document.tokens
    known = len(borders) > 1
    starts = borders if known else [start for start, _ in document.sentences]
    if not known:
        after_colon = (
            place for place, token in enumerate(tokens) if token in DASHES and tokens[place - 1] == ":"
        )
        starts = sorted({*starts, *after_colon})
    ends = dict(zip(starts, (*starts[1:], len(tokens)), strict=True))
    lines = [start for start in starts if tokens[start] in DASHES and tokens[start] != "-"]
    tagged = 0
    for start in lines:
        end = ends[start] if known else ends.get(ends[start], ends[start])  # "Where? | he asked."
        tagged += any(word.lower() in QUOTATION_VERBS for word in tokens[start:end])
    if tagged < FEWEST:
        return
    following = dict(pairwise(lines))
    for start in lines:
        end = ends[start] if known else _find_line_end(document, start, following.get(start, len(tokens)))
        yield from _leave_out_tags(tokens, start, end)


def _find_line_end(document: Document, start: int, limit: int) -> int:
    """Without line breaks: until a sentence that begins with a dash or tells of somebody (by name, "he" or "she")."""
    sentence = document.sentence_of[start]
    for first, last in document.sentences[sentence + 1 :]:
        if first >= limit:
            break
        words = document.tokens[first : min(last, limit)]
        if words[-1] != ":" and _is_tag(
            document.tokens, first, last
        ):  # "Where? he asked." may go on with what he asks
            continue
        if words[0] in DASHES or _narrates(words):
            return first
    return limit


def _narrates(words: Sequence[str]) -> bool:
    """Whether a sentence tells and does not speak: in the past, of other people."""
    lowered = [word.lower() for word in words]
    pairs = list(pairwise(["", *lowered]))
    spoken = any(word in SPOKEN or (word in CLITICS and before in PRONOUNS) for before, word in pairs)
    past = any(_is_past(word) and before not in DETERMINERS for before, word in pairs)
    return not spoken and words[-1] not in ("?", "!") and past


def _is_past(word: str) -> bool:
    if word.endswith("s") and word != "was":  # "comes" is listed beside "came"
        return False
    return word in PAST or word in QUOTATION_VERBS or (word.endswith("ed") and len(word) > 4)


def _leave_out_tags(tokens: Sequence[str], start: int, end: int) -> Iterator[Span]:
    """The spoken parts of a line: a tag ("he said sternly.") begins after punctuation and ends with its sentence or comma."""
    begin, place = start, start + 1
    while place < end:
        if tokens[place - 1] in STOPS and place > begin + 1 and _is_tag(tokens, place, end):
            yield begin, place
            while (
                place < end and tokens[place] not in ENDS and not (tokens[place] == "," and place > begin + 1)
            ):
                place += 1
            begin = place = place + 1
        else:
            place += 1
    if begin < end:
        yield begin, end


def _is_tag(tokens: Sequence[str], place: int, end: int) -> bool:
    words = tokens[place : min(end, place + SUBJECT + 1)]
    lowered = [word.lower() for word in words]
    if lowered[0] in QUOTATION_VERBS:
        return len(words) > 1 and (words[1][0].isupper() or lowered[1] in ("the", "a", "he", "she", "they"))
    for word, low in zip(words, lowered, strict=True):
        if low in QUOTATION_VERBS:
            return True
        if not (word[0].isupper() or low in PRONOUNS or low in ("the", "a", "old")) or low in ("i", "you"):
            return False
    return False
