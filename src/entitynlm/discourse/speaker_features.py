"""Features of an entity as the speaker of a quotation: tags, mentions beside it, turns, names by which people are addressed.

Every feature is true or false of a quotation and an entity. Words of a quotation that depend on who speaks ("I", "you") are not
looked at, because they are resolved by the speaker later.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from entitynlm.discourse.discourse import Discourse
from entitynlm.discourse.quotation_marks import ENDS, MARKS, ends_clause
from entitynlm.discourse.quotations import strip_marks
from entitynlm.text.document import Document, Mention
from entitynlm.text.english import POSSESSIVE_PRONOUNS, PREPOSITIONS, PRONOUNS, QUOTATION_VERBS

SPEAKER_REACH = 60
"""Tokens before and after a quotation in which a speaker is looked for."""
TAG_LENGTH, INTRODUCTION = 4, 14
"""Tokens from a quotation to the speaker in a tag after it, and in an introduction before it."""
SPEAKER_MEMORY = 200
"""Quotations back in which the turns of each speaker are counted."""
TURNS = 6
"""Quotations back whose speakers may speak again."""
BEFORE_ADDRESS = MARKS | ENDS | {","}
PERSON = re.compile(r"(?:^|_)(?:per|person|character|animate|animal)(?:$|_|-)", re.IGNORECASE)


def may_speak(type: str | None) -> bool:
    """Tell whether an entity of this type can be a speaker; an entity without a type can."""
    return type is None or bool(PERSON.search(type)) or type == "Mention"


@dataclass(frozen=True)
class _Gap:
    """The text between a quotation and the one before it: its kind, and whether both stand in one paragraph."""

    kind: str
    same_paragraph: bool


class Dialogue:
    """Index the quotations of a text and the mentions of persons outside of them.

    :param mentions: those of the text, in text order.
    :param types: the type of each entity, where it is known; entities of other types than persons do not speak.
    """

    def __init__(self, discourse: Discourse, mentions: Sequence[Mention], types: Mapping[str, str]) -> None:
        self.discourse, self.mentions = discourse, mentions
        self.quotations, self.tokens = discourse.quotations, discourse.document.tokens
        speaking = [m for m in mentions if may_speak(types.get(m.entity))]
        self.outside = [m for m in speaking if discourse.quotation_of[m.start] < 0]
        self._starts = [mention.start for mention in self.outside]
        self.counts = Counter(mention.entity for mention in self.outside)
        self.called = self._find_called(speaking)
        self.gaps = [self._describe_gap(number) for number in range(len(self.quotations))]

    @classmethod
    def of_document(cls, discourse: Discourse, document: Document) -> "Dialogue":
        """Index the mentions of an annotated document."""
        return cls(discourse, document.mentions, document.entity_types)

    def _find_called(self, mentions: Sequence[Mention]) -> list[dict[str, bool]]:
        """Find for each quotation the entities that are named in it, and whether they are addressed by the name."""
        called: list[dict[str, bool]] = [{} for _ in self.quotations]
        for mention in mentions:
            number = self.discourse.quotation_of[mention.start]
            if number >= 0 and not self.is_pronoun(mention):
                names = called[number]
                names[mention.entity] = names.get(mention.entity, False) or self.is_vocative(mention)
        return called

    def is_pronoun(self, mention: Mention) -> bool:
        return self.find_form(mention) is not None

    def find_form(self, mention: Mention) -> str | None:
        """Find the citation form of a pronoun ("i" for "my"); None for other mentions."""
        return PRONOUNS.get(" ".join(self.tokens[mention.start : mention.end]).lower())

    def is_vocative(self, mention: Mention) -> bool:
        """Tell whether a mention is an address: a name (or "sir", "my dear") between commas, marks and ends of sentences."""
        before = self.tokens[mention.start - 1] if mention.start else "."
        after = self.tokens[mention.end] if mention.end < len(self.tokens) else "."
        first = self.tokens[mention.start]
        addressing = first[0].isupper() or first in ("my", "dear", "old", "sir", "madam")
        plain = before in BEFORE_ADDRESS or before.lower() in ("oh", "o", "dear", "well")
        if first.lower() in ("the", "a", "an", "his", "her", "their"):
            return False
        return addressing and plain and (ends_clause(after) or after in MARKS)

    def _describe_gap(self, number: int) -> _Gap:
        if number == 0:
            return _Gap("first", False)
        start, end = self.quotations[number - 1][1], self.quotations[number][0]
        same = self.share_paragraph(start - 1, end)
        between = self.tokens[start:end]
        last = self.tokens[strip_marks(self.discourse.document, self.quotations[number - 1])[1] - 1]
        if not between:
            return _Gap("none", same and self.discourse.has_paragraphs)
        if ENDS.isdisjoint(between) and not (last in ENDS and len(between) > 12):
            return _Gap("inside", same)
        sentences = sum(token in ENDS for token in between)
        if sentences == 1 and len(between) <= 20:
            return _Gap("sentence", same)
        return _Gap("short" if len(between) <= SPEAKER_REACH else "long", same)

    def share_paragraph(self, one: int, other: int) -> bool:
        """Tell whether two tokens stand in one paragraph, which is taken as true where paragraphs are not known."""
        discourse = self.discourse
        return not discourse.has_paragraphs or discourse.paragraph_of(one) == discourse.paragraph_of(other)

    def list_near(self, low: int, high: int) -> list[Mention]:
        """List the mentions outside of quotations that start from ``low`` to before ``high``."""
        return self.outside[bisect_left(self._starts, low) : bisect_left(self._starts, high)]


def list_candidates(dialogue: Dialogue, number: int, recent: Sequence[str | None]) -> dict[str, set[str]]:
    """List the entities that may speak a quotation, each with the names of its features.

    :param recent: the speakers of the quotations before it.
    """
    found: dict[str, set[str]] = {}
    tagged = False
    for entity, feature in (*_look_after(dialogue, number), *_look_before(dialogue, number)):
        found.setdefault(entity, set()).add(feature)
        tagged = tagged or feature.startswith(("after: tag", "before: introduced"))
    for entity, feature in _follow_turns(dialogue, number, recent):
        found.setdefault(entity, set()).add(f"{feature}{', tagged' if tagged else ''}")
    before = dialogue.called[number - 1] if number else {}
    for entity, addressed in before.items():
        if addressed:
            found.setdefault(entity, set()).add(f"addressed before: {dialogue.gaps[number].kind}")
    for entity, addressed in dialogue.called[number].items():
        if entity in found:
            found[entity].add("addressed in it" if addressed else "named in it")
    spoken = Counter(recent[-SPEAKER_MEMORY:])
    for entity, features in found.items():
        features |= {f"mentions > {least}" for least in (2, 8) if dialogue.counts[entity] > least}
        features |= {f"speaks > {least}" for least in (0, 4) if spoken[entity] > least}
    return found


def _describe(tokens: Sequence[str], mention: Mention) -> str:
    """Describe the form and the syntactic role of a mention, which tell how likely its entity acts here."""
    words = tokens[mention.start : mention.end]
    first = words[0].lower()
    if len(words) == 1 and first in PRONOUNS:
        after = tokens[mention.end : mention.end + 1]
        owns = first in POSSESSIVE_PRONOUNS or (first == "her" and bool(after) and after[0][0].isalpha())
        if owns:
            return "possessive"
        return "object" if first in ("him", "her", "them", "me", "us") else "pronoun"
    if mention.start and tokens[mention.start - 1].lower() in PREPOSITIONS:
        return "object"
    if mention.end < len(tokens) and tokens[mention.end] in ("'s", "’s"):
        return "possessive"
    return "name" if any(word[0].isupper() for word in words[-2:]) else "noun"


def _look_after(dialogue: Dialogue, number: int) -> Iterator[tuple[str, str]]:
    tokens = dialogue.tokens
    end = dialogue.quotations[number][1]
    following = dialogue.quotations[number + 1][0] if number + 1 < len(dialogue.quotations) else len(tokens)
    said = tokens[strip_marks(dialogue.discourse.document, dialogue.quotations[number])[1] - 1]
    for rank, mention in enumerate(dialogue.list_near(end, min(end + SPEAKER_REACH, following))):
        form = _describe(tokens, mention)
        between = [token.lower() for token in tokens[end : mention.start]]
        same = dialogue.share_paragraph(end - 1, mention.start)
        ended = not ENDS.isdisjoint(between)
        after = [token.lower() for token in tokens[mention.end : mention.end + 3]]
        if same and not ended and form != "possessive" and rank < 2:
            if len(between) <= TAG_LENGTH and any(word in QUOTATION_VERBS for word in between):
                yield mention.entity, f"after: tag, verb first {rank}"
                continue
            verb = next((place for place, word in enumerate(after) if word in QUOTATION_VERBS), None)
            if verb is not None and not between:
                yield mention.entity, f"after: tag, verb last{' but one' if verb else ''}"
                continue
            if len(between) == 1 and between[0].isalpha() and form in ("name", "noun"):
                yield mention.entity, "after: tag, other verb first"
            if not between and said == ",":
                yield mention.entity, "after: tag, other verb last"
        place = "paragraph after" if not same else "sentences after" if ended else "sentence after"
        yield mention.entity, f"after: {place} {min(rank, 2)}"
        yield mention.entity, f"after: {place} {form} {min(rank, 1)}"


def _look_before(dialogue: Dialogue, number: int) -> Iterator[tuple[str, str]]:
    tokens = dialogue.tokens
    start = dialogue.quotations[number][0]
    before = dialogue.quotations[number - 1][1] if number else 0
    near = dialogue.list_near(max(start - SPEAKER_REACH, before), start)
    colon = start > 0 and tokens[start - 1] in (":", ",")
    for rank, mention in enumerate(reversed(near)):
        form = _describe(tokens, mention)
        between = [token.lower() for token in tokens[mention.end : start]]
        ends = sum(token in ENDS for token in between)
        spoken = [place for place, word in enumerate(between) if word in QUOTATION_VERBS]
        if colon and spoken and not ends and len(between) <= INTRODUCTION and form != "possessive":
            direct = "directly" if spoken[0] <= 1 else "later"
            yield mention.entity, f"before: introduced {direct}{', object' if form == 'object' else ''}"
            continue
        if not dialogue.share_paragraph(mention.start, start):
            place = "paragraph before"
        elif not ends:
            place = "sentence before, colon" if colon else "sentence before"
        else:
            place = "last sentence before" if ends == 1 else "sentences before"
        yield mention.entity, f"before: {place} {min(rank, 2)}"
        yield mention.entity, f"before: {place} {form}"


def _follow_turns(dialogue: Dialogue, number: int, recent: Sequence[str | None]) -> Iterator[tuple[str, str]]:
    """Rank the last speakers: the last but one answers, unless the speech goes on."""
    gap = dialogue.gaps[number]
    known = gap.same_paragraph and dialogue.discourse.has_paragraphs
    where = f"{gap.kind}{', same paragraph' if known else ''}"
    order = dict.fromkeys(speaker for speaker in reversed(recent[-TURNS:]) if speaker is not None)
    for rank, speaker in enumerate([*order][:3]):
        yield speaker, f"turn {rank}: {where}"
