"""Dialogue set off by dashes: a line that begins with a dash is spoken, except for tags such as "he said" in it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from entitynlm.discourse.quotation_marks import DASHES, ENDS, STOPS
from entitynlm.text.document import Document, Span
from entitynlm.text.english import DETERMINERS, QUOTATION_VERBS, SPEECH_VERBS, TITLES, find_past

FEWEST_TAGS = 2
"""Least number of lines with a tag for dashes to count as dialogue."""
SPOKEN = frozenset(
    "i you me my your we us our is are 'm ’m 're ’re 'll ’ll 've ’ve n't n’t do does has have will can ca wo shall sir".split()
)
PAST_AUXILIARIES = frozenset(("was", "were", "had", "did"))
MODALS = frozenset(("should", "must", "might", "could"))
"""Verbs that the dictionary lists as past tenses, but that are used in any time: "They must be left here."."""
NOT_BEFORE_PAST = frozenset((*DETERMINERS, "be", "been", "being", "to"))
"""A participle or a noun follows: "be cured", "the put"."""
TAG_BEGINNING = 8
"""Tokens in which the subject and the verb of a tag stand."""
SPEAKERS = frozenset(("he", "she", "they", "one", "somebody", "someone"))
ARTICLES = frozenset("the a an his her their another one".split())
INVERTED = frozenset(("i", "we", "my", *SPEAKERS, *ARTICLES, *TITLES))

SUBORDINATING = frozenset("who whose as while when though after and".split())
MANNER = frozenset("with without his her their".split())
"""These words, and words in -ing, continue a tag after its comma: "he said, his hand on the gate."."""


def find_dash_dialogue(document: Document, borders: Sequence[int]) -> Iterator[Span]:
    """Find the speech after dashes, in text order: until the line ends or, where lines are not known, the narration goes on."""
    tokens = document.tokens
    known = len(borders) > 1
    starts = borders if known else _guess_lines(document)
    ends = dict(zip(starts, (*starts[1:], len(tokens)), strict=True))
    lines = [start for start in starts if opens_line(tokens[start])]
    after = (
        ends if known else {start: ends.get(end, end) for start, end in ends.items()}
    )  # "Where? | he asked."
    if sum(_is_told(tokens, start, after[start]) for start in lines) < FEWEST_TAGS:
        return
    following = dict(pairwise(lines))
    for start in lines:
        end = ends[start] if known else _find_line_end(document, start, following.get(start, len(tokens)))
        yield from _leave_out_tags(tokens, start, end)


def _is_told(tokens: Sequence[str], start: int, end: int) -> bool:
    """Tell whether a tag stands in or after a line, or "said:" and the like before it."""
    before = (word.lower() for word in tokens[max(0, start - TAG_BEGINNING) : start])
    introduced = start > 0 and tokens[start - 1] == ":" and not QUOTATION_VERBS.isdisjoint(before)
    return introduced or any(
        tokens[place - 1] in STOPS and find_tag(tokens, place, end) for place in range(start + 2, end)
    )


def opens_line(token: str) -> bool:
    """Tell whether a token is a dash or begins with one, as tokenisers leave them: "—", "--Yes", "-No"."""
    return token in DASHES or (token[0] in "-–—―" and token.strip("-–—―")[:1].isalpha())


def _guess_lines(document: Document) -> list[int]:
    """Guess where lines begin in a text without line breaks: at sentences, and at dashes after a colon or a sentence's end."""
    tokens = document.tokens
    inside = (
        place
        for place, token in enumerate(tokens)
        if place and (tokens[place - 1] == ":" or tokens[place - 1] in ENDS) and opens_line(token)
    )
    return sorted({*(start for start, _ in document.sentences), *inside})


def _find_line_end(document: Document, start: int, limit: int) -> int:
    """Find where a line ends in a text without line breaks: at a sentence that begins with a dash or narrates."""
    sentence = document.sentence_of[start]
    for number in range(sentence + 1, len(document.sentences)):
        first, last = document.sentences[number]
        if first >= limit:
            break
        words = document.tokens[first : min(last, limit)]
        if words[-1] != ":" and _has_tag(document.tokens, first, last):
            continue  # "Where? he asked." may go on with what he asks
        if words[-1] == ":" or _narrates(words):
            return first
    return limit


def _has_tag(tokens: Sequence[str], start: int, end: int) -> bool:
    """Tell whether a tag begins a sentence or stands in it: "Play fair, he said."; not "Ceasing, he began to …"."""
    last = start + 1 if tokens[start].endswith("ing") else end
    return any(tokens[place - 1] in STOPS and find_tag(tokens, place, end) for place in range(start, last))


def _narrates(words: Sequence[str]) -> bool:
    """Tell whether a sentence is narration: in the past tense, and about other people."""
    lowered = [word.lower() for word in words]
    if words[-1] in ("?", "!") or words[-1].startswith("..") or not SPOKEN.isdisjoint(lowered):
        return False
    pairs = pairwise(["", *lowered])
    return any(_is_past(word) and before not in NOT_BEFORE_PAST for before, word in pairs)


def _is_past(word: str) -> bool:
    if word in MODALS:
        return False
    return word in PAST_AUXILIARIES or word in QUOTATION_VERBS or find_past(word) is not None


def _leave_out_tags(tokens: Sequence[str], start: int, end: int) -> Iterator[Span]:
    """Return the spoken parts of a line, without the tags ("he said sternly.") between or after them."""
    begin, place = start, start + 1
    while place < end:
        after = find_tag(tokens, place, end) if tokens[place - 1] in STOPS and place > begin + 1 else 0
        if after:
            yield begin, place
            begin = place = after
        else:
            place += 1
    if begin < end:
        yield begin, end


def find_tag(tokens: Sequence[str], place: int, end: int) -> int:
    """Find the end of a tag that begins here, after its full stop, comma or colon; 0 if no tag begins here.

    After the end of a spoken sentence a tag begins with a small letter: "Where? he asked."
    """
    verb = _find_verb(tokens[place : min(end, place + TAG_BEGINNING)])
    before = tokens[place - 1]
    if not verb or before == ".":
        return 0
    place += verb
    while place < end and tokens[place] not in ENDS and tokens[place] not in (":", ";"):
        if tokens[place] == "," and not _describes_manner(tokens[place + 1 : end]):
            break
        place += 1
    return min(end, place + 1)


def _describes_manner(words: Sequence[str]) -> bool:
    """Tell whether a tag continues after its comma: "his hand on the gate", "who had come in", "slowly."."""
    first, *rest = words or [""]
    if first.endswith("ing") or first in MANNER:
        return True
    if first.endswith(("ly", "ed")) and rest[:1] and rest[0] in STOPS:
        return True
    length = next((place for place, word in enumerate(words) if word in ENDS), len(words) - 1)
    return first in SUBORDINATING and _narrates(words[: length + 1])


def _find_verb(words: Sequence[str]) -> int:
    """Find the place after the subject and the verb with which a tag begins, in either order; 0 if there are none."""
    lowered = [*(word.lower() for word in words), ""]
    if lowered[0] in QUOTATION_VERBS:
        inverted = lowered[1] in INVERTED or any(word[0].isupper() for word in words[1:3])
        return 2 if inverted else 0
    if lowered[0] == "i" and lowered[1] in QUOTATION_VERBS and find_past(lowered[1]) and words[2:3]:
        return 2 if words[2] in STOPS else 0
    described = lowered[0] in ARTICLES
    for place, (word, low) in enumerate(zip(words, lowered, strict=False)):
        if low in (SPEECH_VERBS if described else QUOTATION_VERBS):
            fits = low not in ("went", "put") or lowered[place + 1] in ("on", "in")
            told = low.endswith("s") or find_past(low)  # not "they say", "you know"
            return place + 1 if place and fits and told else 0
        described = described or low in ("'s", "’s")
        named = word[0].isupper() or low in TITLES or (not place and low in SPEAKERS)
        if low in ("i", "you") or not (named or (described and not _is_past(low) and low not in STOPS)):
            return 0
    return 0
