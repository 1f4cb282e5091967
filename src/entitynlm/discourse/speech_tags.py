"""Tags of quotations: "said Ida", "she asked", "Ida turned to him:", which give the speaker by a name or a pronoun.

Tags are read from the words, not from the mentions alone, because coreference may miss "she" in "she said", or link one "Ida"
wrongly. A name belongs to the entity that most mentions with this name belong to.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from entitynlm.discourse.names import PersonName
from entitynlm.discourse.quotation_marks import DASHES, ENDS
from entitynlm.discourse.quotations import strip_marks
from entitynlm.discourse.records import keep_gender
from entitynlm.discourse.speaker_features import Dialogue
from entitynlm.text.document import Mention
from entitynlm.text.english import (
    FEMALE,
    GENDERS,
    MALE,
    POSSESSIVE_PRONOUNS,
    PREPOSITIONS,
    QUOTATION_VERBS,
    THOUGHT_VERBS,
)

TAG_VERBS = QUOTATION_VERBS | THOUGHT_VERBS
SUBJECT_GENDERS = {"he": MALE, "she": FEMALE, "i": None, "they": None, "we": None, "who": None}
NAME, NOUN, PRONOUN, FIRST_PERSON, PLURAL = "name", "noun", "pronoun", "i", "plural"
TAG_TOKENS, INTRODUCTION_TOKENS = 16, 40
"""Tokens after a quotation in which its tag stands, and before it."""
SUBJECT_REACH = 14
"""Tokens from the subject of an introduction to its verb."""
LONGEST_NAME, LONGEST_SUBJECT = 4, 6
CLEAR_OWNER = 0.6
"""The share of the mentions with a name from which the name belongs to their entity."""


@dataclass(frozen=True)
class Tag:
    """The subject of a tag.

    :param kind: position: after the verb, before it, in an introduction, between two quotations.
    :param form: form of the subject: a name, a noun, a pronoun, "I", a plural.
    :param entity: speaker by the tag, if known.  :param gender: gender of the subject.  :param end: end of the subject.
    """

    kind: str
    form: str
    entity: str | None
    gender: str | None
    end: int = field(default=0, compare=False)


class TagReader:
    """Read the tag of each quotation of a dialogue."""

    def __init__(self, dialogue: Dialogue) -> None:
        self.dialogue, self.tokens = dialogue, dialogue.tokens
        self._lowered = ["i" if token == "I." else token.lower() for token in dialogue.tokens]
        self._starting: dict[int, list[Mention]] = defaultdict(list)
        for mention in dialogue.outside:
            self._starting[mention.start].append(mention)
        self._owners = self._find_owners()

    def _find_owners(self) -> dict[tuple[str | None, tuple[str, ...]], str]:
        """Find the entity that each name belongs to, with its title and without."""
        votes: dict[tuple[str | None, tuple[str, ...]], Counter[str]] = defaultdict(Counter)
        for mention in self.dialogue.speaking:
            name = self._parse(mention.start, mention.end) if len(mention) <= LONGEST_NAME + 1 else None
            if name is not None:
                for title in {name.title, None}:
                    votes[title, name.words][mention.entity] += 1
        found = {}
        for key, counts in votes.items():
            entity, count = max(sorted(counts.items()), key=lambda pair: pair[1])
            if count >= CLEAR_OWNER * counts.total():
                found[key] = entity
        return found

    def _parse(self, start: int, end: int) -> PersonName | None:
        return self.dialogue.discourse.reader.read((start, end)).name

    def read(self, number: int) -> Tag | None:
        """Read the tag after a quotation, or else the tag before it; None where there is neither."""
        return self._read_introduction(number) or self._read_after(number) or self._read_before(number)

    def _read_introduction(self, number: int) -> Tag | None:
        """Read the name with which a speaker introduces himself or herself ("My name is Ida")."""
        start, end = self.dialogue.quotations[number]
        for place in range(start + 3, end):
            if self._lowered[place - 3 : place - 1] == ["my", "name"] and self._lowered[place - 1] == "is":
                told = self._read_name(place, end, ())
                return None if told is None else replace(told, kind="after verb")
        return None

    def _read_after(self, number: int) -> Tag | None:
        tokens, lowered, quotations = self.tokens, self._lowered, self.dialogue.quotations
        start = quotations[number][1]
        limit = quotations[number + 1][0] if number + 1 < len(quotations) else len(tokens)
        limit = min(limit, start + TAG_TOKENS)
        while start < limit and tokens[start] not in ENDS and not tokens[start][0].isalnum():
            start += 1
        if start >= limit or not self.dialogue.share_paragraph(quotations[number][1] - 1, start):
            return None
        limit = next(
            (
                place
                for place in range(start, limit)
                if tokens[place] in ENDS or not self.dialogue.share_paragraph(start, place)
            ),
            limit,
        )
        place = self._skip_adverbs(start, limit)
        if place < limit and lowered[place] in TAG_VERBS:
            return self._read_inverted("after verb", place, limit)
        subject = self._read_subject(place, limit)
        if subject is None:
            return None
        for verb in range(subject.end, min(subject.end + 5, limit)):
            if lowered[verb] in TAG_VERBS:
                return replace(subject, kind="after subject")
            if lowered[verb] == ",":
                break
        last = strip_marks(self.dialogue.discourse.document, quotations[number])[1] - 1
        return replace(subject, kind="after other") if tokens[last] == "," else None

    def _skip_adverbs(self, place: int, limit: int) -> int:
        end = min(limit, place + 3)
        while place < end and (
            self._lowered[place].endswith("ly") or self._lowered[place] in ("and", "then", "but", "here")
        ):
            place += 1
        return place

    def _read_inverted(self, kind: str, verb: int, limit: int) -> Tag | None:
        """Read the subject after a verb: "said the old man"."""
        for place in range(verb + 1, min(verb + 4, limit)):
            subject = self._read_subject(place, limit)
            if subject is not None:
                return replace(subject, kind=kind)
            if self._lowered[place] in ("to", "with"):
                break
        return None

    def _read_before(self, number: int) -> Tag | None:
        tokens, lowered, quotations = self.tokens, self._lowered, self.dialogue.quotations
        end = quotations[number][0]
        low = max(quotations[number - 1][1] if number else 0, end - INTRODUCTION_TOKENS)
        if end <= low or not (tokens[end - 1] in (":", ",", ";", *DASHES) or lowered[end - 1] in TAG_VERBS):
            return None
        start = end - 1
        while start > low and tokens[start - 1] not in ENDS:
            start -= 1
        verb = next((place for place in range(end - 1, start - 1, -1) if lowered[place] in TAG_VERBS), None)
        if verb is None:
            return self._read_gesture(start, end)
        if number and self._goes_on(quotations[number - 1][1], start, verb, end):
            between = self._read_inverted("between", verb, end)
            if between is not None:
                return between
        for place in range(verb - 1, max(start, verb - SUBJECT_REACH) - 1, -1):
            subject = self._read_subject(place, verb) if self._may_begin(place, start) else None
            if subject is not None and (subject.form == NOUN or lowered[place] not in POSSESSIVE_PRONOUNS):
                return replace(subject, kind="before verb")
        return None

    def _goes_on(self, last: int, start: int, verb: int, end: int) -> bool:
        """Tell whether a tag with its verb first stands between two quotations: “No,” said Ida, “not today.”"""
        words = self._lowered[start:verb]
        return (
            start <= last + 1
            and self.dialogue.share_paragraph(last - 1, end)
            and all(word.endswith("ly") or not word[0].isalpha() or word in ("and", "then") for word in words)
        )

    def _may_begin(self, place: int, start: int) -> bool:
        """Tell whether a subject may begin here: not after a preposition, and not in the middle of a name."""
        if place and self._lowered[place - 1] in PREPOSITIONS:
            return False
        in_name = place > start and self.tokens[place][0].isupper() and self.tokens[place - 1][0].isupper()
        return not in_name or self._lowered[place - 1] in SUBJECT_GENDERS

    def _read_gesture(self, start: int, end: int) -> Tag | None:
        """Read an introduction without a verb of speech: "Ida turned to him:"."""
        if not self.dialogue.share_paragraph(start, end) and self.tokens[end - 1] != ":":
            return None
        for place in range(start, end):
            subject = self._read_subject(place, end) if self._may_begin(place, start) else None
            if subject is not None:
                return replace(subject, kind="before other")
        return None

    def _read_subject(self, place: int, limit: int) -> Tag | None:
        """Read the pronoun, name or mention that begins at a token, unless it is a possessor."""
        word = self._lowered[place]
        possessive = word in POSSESSIVE_PRONOUNS or word == "her"  # "her" in "her father" is no subject
        mentions = sorted((m for m in self._starting.get(place, ()) if len(m) > possessive), key=len)
        if word in SUBJECT_GENDERS:
            form = FIRST_PERSON if word == "i" else PLURAL if word in ("they", "we") else PRONOUN
            entity = next((mention.entity for mention in mentions if len(mention) == 1), None)
            return Tag("", form, entity, SUBJECT_GENDERS[word], place + 1)
        found = self._read_name(place, limit, mentions)
        if found is None and mentions and mentions[0].end <= limit and len(mentions[0]) <= LONGEST_SUBJECT:
            end = mentions[0].end
            named = any(token[0].isupper() for token in self.tokens[place:end][-2:])
            gender = GENDERS.get(self._lowered[end - 1])
            found = Tag("", NAME if named else NOUN, mentions[0].entity, keep_gender(gender), end)
        owns = found is not None and found.end < len(self.tokens) and self.tokens[found.end] in ("'s", "’s")
        return None if owns else found

    def _read_name(self, place: int, limit: int, mentions: Sequence[Mention]) -> Tag | None:
        end = place
        while end < min(limit, place + LONGEST_NAME) and self.tokens[end][0].isupper():
            end += 1
        for stop in range(end, place, -1):
            name = self._parse(place, stop)
            if name is not None:
                owner = self._owners.get((name.title, name.words)) or self._owners.get((None, name.words))
                entity = owner or next((m.entity for m in mentions if m.end == stop), None)
                if entity is not None:
                    return Tag("", NAME, entity, name.gender, stop)
        return None
