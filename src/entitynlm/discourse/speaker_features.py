"""What speaks for an entity as the speaker of a quotation: tags, who is mentioned beside it, turns, who is called by name.

Every feature is true or false of a quotation and an entity. Words of a quotation that depend on who speaks ("I", "you") are not
looked at, because they are resolved by the speaker later.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from entitynlm.discourse.paragraphs import find_paragraphs
from entitynlm.discourse.quotation_marks import ENDS, MARKS, ends_clause
from entitynlm.discourse.quotations import strip_marks
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.english import POSSESSIVE_PRONOUNS, PREPOSITIONS, PRONOUNS, QUOTATION_VERBS

REACH = 60
"""Tokens before and after a quotation in which a speaker is looked for."""
TAG, INTRODUCTION = 4, 14
"""Tokens from a quotation to the speaker in a tag after it, and in an introduction before it."""
TURNS = 6
"""Quotations back whose speakers may speak again."""
PERSON = re.compile(r"(?:^|_)(?:per|person|character|animate|animal|PER|Person)(?:$|_|-)", re.IGNORECASE)
FIRST = frozenset(("i", "me", "my", "myself", "mine"))


def may_speak(type: str | None) -> bool:
    """Whether an entity of this type can be a speaker; an entity without a type can."""
    return type is None or bool(PERSON.search(type)) or type == "Mention"


@dataclass(frozen=True)
class _Gap:
    """What lies between a quotation and the one before it."""

    kind: str
    same_paragraph: bool


class Dialogue:
    """The quotations of a document and the mentions outside of them, indexed."""

    def __init__(self, document: Document, quotations: Sequence[Span]) -> None:
        self.document, self.quotations = document, quotations
        self.tokens = document.tokens
        borders = find_paragraphs(document)
        self.paragraphs = borders if len(borders) > 1 else []
        self.quote_of = [-1] * len(document)
        for number, (start, end) in enumerate(quotations):
            self.quote_of[start:end] = [number] * (end - start)
        speaking = [m for m in document.mentions if may_speak(document.entity_types.get(m.entity))]
        self.outside = [m for m in speaking if self.quote_of[m.start] < 0]
        self._starts = [mention.start for mention in self.outside]
        self.counts = Counter(mention.entity for mention in self.outside)
        self.called = self._find_called(speaking)
        self.gaps = [self._describe_gap(number) for number in range(len(quotations))]

    def _find_called(self, mentions: Sequence[Mention]) -> list[dict[str, bool]]:
        """For each quotation the entities that are named in it, and whether they are addressed by the name."""
        called: list[dict[str, bool]] = [{} for _ in self.quotations]
        for mention in mentions:
            number = self.quote_of[mention.start]
            if number >= 0 and " ".join(self.tokens[mention.start : mention.end]).lower() not in PRONOUNS:
                names = called[number]
                names[mention.entity] = names.get(mention.entity, False) or self.is_vocative(mention)
        return called

    def is_vocative(self, mention: Mention) -> bool:
        """Whether somebody is addressed: a name (or "sir", "my dear") between commas, marks and ends of sentences."""
        before = self.tokens[mention.start - 1] if mention.start else "."
        after = self.tokens[mention.end] if mention.end < len(self.tokens) else "."
        words = self.tokens[mention.start : mention.end]
        first = words[0].lower()
        addressing = words[0][0].isupper() or first in ("my", "dear", "old", "sir", "madam")
        plain = (
            before == ","
            or before in MARKS
            or before in ENDS
            or before.lower() in ("oh", "o", "dear", "well")
        )
        return (
            addressing
            and plain
            and first not in ("the", "a", "an", "his", "her", "their")
            and (ends_clause(after) or after in MARKS)
        )

    def _describe_gap(self, number: int) -> _Gap:
        if number == 0:
            return _Gap("first", False)
        start, end = self.quotations[number - 1][1], self.quotations[number][0]
        same = not self.paragraphs or self.paragraph_of(start - 1) == self.paragraph_of(end)
        between = self.tokens[start:end]
        last = self.tokens[strip_marks(self.document, self.quotations[number - 1])[1] - 1]
        if not between:
            return _Gap("none", same and bool(self.paragraphs))
        if not ENDS & set(between) and not (last in ENDS and len(between) > 12):
            return _Gap("inside", same)
        sentences = sum(token in ENDS for token in between)
        if sentences == 1 and len(between) <= 20:
            return _Gap("sentence", same)
        return _Gap("short" if len(between) <= REACH else "long", same)

    def paragraph_of(self, token: int) -> int:
        return bisect_left(self.paragraphs, token + 1)

    def list_near(self, low: int, high: int) -> list[Mention]:
        """Mentions outside of quotations that start from ``low`` to before ``high``."""
        return self.outside[bisect_left(self._starts, low) : bisect_left(self._starts, high)]


class SpeakerFeatures:
    """The candidates of one quotation after the other, each with the names of its features."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue = dialogue

    def list(self, number: int, speakers: Sequence[str | None]) -> dict[str, set[str]]:
        """The candidates of a quotation; ``speakers`` are those of the quotations before it."""
        found: dict[str, set[str]] = {}
        tagged = False
        for entity, feature in (*self._look_after(number), *self._look_before(number)):
            found.setdefault(entity, set()).add(feature)
            tagged = tagged or feature.startswith(("after: tag", "before: introduced"))
        for entity, feature in self._follow_turns(number, speakers):
            found.setdefault(entity, set()).add(f"{feature}{', tagged' if tagged else ''}")
        dialogue = self.dialogue
        if number:
            for entity, addressed in dialogue.called[number - 1].items():
                if addressed:
                    found.setdefault(entity, set())
            start, before = dialogue.quotations[number][0], dialogue.quotations[number - 1][0]
            for mention in dialogue.list_near(max(0, start - REACH), before):
                found.setdefault(mention.entity, set()).add("before: the last quotation")
        spoken = Counter(speaker for speaker in speakers if speaker is not None)
        for entity, features in found.items():
            if entity in dialogue.called[number]:
                features.add("addressed in it" if dialogue.called[number][entity] else "named in it")
            if number and dialogue.called[number - 1].get(entity):
                features.add(f"addressed before: {dialogue.gaps[number].kind}")
            features |= {f"mentions > {least}" for least in (2, 8) if dialogue.counts[entity] > least}
            features |= {f"speaks > {least}" for least in (0, 4) if spoken[entity] > least}
        return found

    # -- mentions beside the quotation -----------------------------------------------------------------------------------------

    def _describe(self, mention: Mention) -> str:
        """The mention's form, which tells how likely its entity acts here."""
        words = self.dialogue.tokens[mention.start : mention.end]
        first = words[0].lower()
        if len(words) == 1 and first in PRONOUNS:
            after = self.dialogue.tokens[mention.end : mention.end + 1]
            owns = first in POSSESSIVE_PRONOUNS or (first == "her" and bool(after) and after[0][0].isalpha())
            if owns:
                return "possessive"
            return "object" if first in ("him", "her", "them", "me", "us") else "pronoun"
        if mention.start and self.dialogue.tokens[mention.start - 1].lower() in PREPOSITIONS:
            return "object"
        if mention.end < len(self.dialogue.tokens) and self.dialogue.tokens[mention.end] in ("'s", "’s"):
            return "possessive"
        return "name" if any(word[0].isupper() for word in words[-2:]) else "noun"

    def _look_after(self, number: int) -> Iterator[tuple[str, str]]:
        dialogue, tokens = self.dialogue, self.dialogue.tokens
        end = dialogue.quotations[number][1]
        following = (
            dialogue.quotations[number + 1][0] if number + 1 < len(dialogue.quotations) else len(tokens)
        )
        limit = min(end + REACH, following)
        for rank, mention in enumerate(dialogue.list_near(end, limit)):
            form = self._describe(mention)
            between = [token.lower() for token in tokens[end : mention.start]]
            same = not dialogue.paragraphs or dialogue.paragraph_of(end - 1) == dialogue.paragraph_of(
                mention.start
            )
            ended = bool(ENDS & set(between))
            after = [token.lower() for token in tokens[mention.end : mention.end + 3]]
            if same and not ended and form != "possessive" and rank < 2:
                if len(between) <= TAG and any(word in QUOTATION_VERBS for word in between):
                    yield mention.entity, f"after: tag, verb first {rank}"
                    continue
                verb = next((place for place, word in enumerate(after) if word in QUOTATION_VERBS), None)
                if verb is not None and not between:
                    yield mention.entity, f"after: tag, verb last{' but one' if verb else ''}"
                    continue
                if len(between) == 1 and between[0].isalpha() and form in ("name", "noun"):
                    yield mention.entity, "after: tag, other verb first"
                if (
                    not between
                    and tokens[strip_marks(dialogue.document, dialogue.quotations[number])[1] - 1] == ","
                ):
                    yield mention.entity, "after: tag, other verb last"
            place = "paragraph after" if not same else "sentences after" if ended else "sentence after"
            yield mention.entity, f"after: {place} {min(rank, 2)}"
            yield mention.entity, f"after: {place} {form} {min(rank, 1)}"

    def _look_before(self, number: int) -> Iterator[tuple[str, str]]:
        dialogue, tokens = self.dialogue, self.dialogue.tokens
        start = dialogue.quotations[number][0]
        before = dialogue.quotations[number - 1][1] if number else 0
        near = dialogue.list_near(max(start - REACH, before), start)
        colon = start > 0 and tokens[start - 1] in (":", ",")
        for rank, mention in enumerate(reversed(near)):
            form = self._describe(mention)
            between = [token.lower() for token in tokens[mention.end : start]]
            same = not dialogue.paragraphs or dialogue.paragraph_of(mention.start) == dialogue.paragraph_of(
                start
            )
            ends = sum(token in ENDS for token in between)
            spoken = [place for place, word in enumerate(between) if word in QUOTATION_VERBS]
            opens = (
                mention.start == dialogue.document.sentences[dialogue.document.sentence_of[mention.start]][0]
            )
            if colon and spoken and not ends and len(between) <= INTRODUCTION and form != "possessive":
                direct = "directly" if spoken[0] <= 1 else "later"
                yield mention.entity, f"before: introduced {direct}{', object' if form == 'object' else ''}"
                continue
            if not same:
                place = "paragraph before"
            elif not ends:
                place = "sentence before, colon" if colon else "sentence before"
            else:
                place = "last sentence before" if ends == 1 else "sentences before"
            yield mention.entity, f"before: {place} {min(rank, 2)}"
            yield mention.entity, f"before: {place} {form}"
            if opens:
                yield mention.entity, f"before: {place} opens it"

    # -- turns -----------------------------------------------------------------------------------------------------------------

    def _follow_turns(self, number: int, speakers: Sequence[str | None]) -> Iterator[tuple[str, str]]:
        """The last speakers: whoever spoke last but one answers, unless the speech goes on."""
        gap = self.dialogue.gaps[number]
        where = f"{gap.kind}{', same paragraph' if gap.same_paragraph and self.dialogue.paragraphs else ''}"
        order: list[str] = []
        for speaker in reversed(speakers[-TURNS:]):
            if speaker is not None and speaker not in order:
                order.append(speaker)
        for rank, speaker in enumerate(order[:3]):
            if rank < 2:
                yield speaker, f"turn {rank}: {where}"
            else:
                yield speaker, f"turn {rank}"
