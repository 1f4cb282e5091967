"""Referring expressions: how a participant is mentioned, given who was mentioned before, when and how.

New ones are introduced; old ones get a pronoun while they are recent and salient, else a name or a description with properties
that they were introduced with. Where two would fit a pronoun it becomes rare, unless the script tells who is meant.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from entitynlm.stories.cast import Participant, StoryCast
from entitynlm.stories.lexicon import has_word, list_words
from entitynlm.stories.templates import POSSESSIVE, SUBJECT

MODIFIER, COORDINATED = "modifier", "coordinated"


@dataclass(slots=True)
class Phrase:
    """Words with the mentions among them (start, end, role and head); the first mention of a phrase is all of it."""

    words: list[str] = field(default_factory=list)
    mentions: list[tuple[int, int, str, int]] = field(default_factory=list)
    head: int = 0
    agreement: str = "3s"

    def append(self, part: Phrase) -> int:
        """Append another phrase, and return where its head is now."""
        start = len(self.words)
        self.words += part.words
        self.mentions += [(start + a, start + b, key, start + head) for a, b, key, head in part.mentions]
        return start + part.head


@dataclass(slots=True)
class LastMention:
    """When and in which grammatical relation a participant was last mentioned."""

    sentence: int
    relation: str


@dataclass(frozen=True, slots=True)
class MentionContext:
    """The place of a mention: its grammatical relation, the form that the template asks for, who speaks to whom."""

    relation: str
    form: str = ""
    speaker: str | None = None
    hearer: str | None = None
    clear: bool = False

    def within(self, relation: str, form: str) -> MentionContext:
        """Make the context of a mention inside of this one."""
        return MentionContext(relation, form, self.speaker, self.hearer, self.clear)


@dataclass
class StoryDiscourse:
    """Participants and mentions of a story so far, and the random generator by which it goes on."""

    cast: StoryCast
    random: Random
    mentions: dict[str, LastMention] = field(default_factory=dict)
    sentence: int = 0

    def flip(self, probability: float) -> bool:
        return self.random.random() < probability

    def refer(self, key: str, context: MentionContext) -> Phrase:
        """Mention a participant, and remember it."""
        participant = self.cast[key]
        person = find_person(participant, context)
        if person[0] == "3" and not self._wants_pronoun(participant, context):
            phrase = self._describe(participant, context)
            if context.form == "poss":
                phrase.words.append("'s")
        else:
            phrase = use_pronoun(person, context)
        phrase.mentions.insert(0, (0, len(phrase.words), key, phrase.head))
        self.mentions[key] = LastMention(self.sentence, context.relation)
        return phrase

    def _describe(self, participant: Participant, context: MentionContext) -> Phrase:
        """Mention a participant by members, name or noun."""
        role, again = participant.role, participant.role.key in self.mentions
        if role.members:
            return self._join_members(role.members, context)
        if role.type == "time":  # a fixed phrase: the first day of May
            noun = participant.nouns[0]
            core = next((i for i, word in enumerate(noun) if has_word(word, "prepositions")), len(noun))
            return Phrase(list(noun), head=core - 1)
        if role.type == "place" and role.intro == "name":
            return Phrase(list(participant.nouns[0]))
        by_name = 1.0 if role.intro == "name" or context.form == "poss" else 0.1
        if again:
            by_name = 0.7 if role.type == "animal" else 1.0
        if participant.name and self.flip(by_name):
            return Phrase([participant.name])
        if not again:
            return self._make_noun_phrase(participant, role.intro, context, new=True)
        owned = role.bound or (role.owner is not None and self.flip(0.35))
        return self._make_noun_phrase(participant, "own" if owned else "the", context, new=False)

    def _join_members(self, members: tuple[str, ...], context: MentionContext) -> Phrase:
        """Name each member: Anna and Ben; her brother, Ben and Carla."""
        joined = Phrase(agreement="pl")
        for index, key in enumerate(members):
            if index:
                joined.words.append("and" if index == len(members) - 1 else ",")
            head = joined.append(self.refer(key, context.within(COORDINATED, "full")))
            joined.head = joined.head if index else head
        return joined

    def _make_noun_phrase(
        self, participant: Participant, determiner: str, context: MentionContext, *, new: bool
    ) -> Phrase:
        """Put together determiner, number, adjectives, noun, name and modifier; later mentions have fewer of them."""
        noun = participant.nouns[-1 if not new and self.flip(0.35) else 0]
        adjectives = participant.adjectives if new else participant.adjectives[-1:] * self.flip(0.3)
        words = [participant.count] if new and participant.count else []
        words += [*adjectives, *noun]
        phrase = Phrase(agreement="pl" if participant.plural else "3s")
        if determiner == "own" and participant.role.owner is not None:
            phrase.append(self.refer(participant.role.owner, context.within(POSSESSIVE, "poss")))
        elif determiner == "a" and words[0] != participant.count:
            phrase.words.append("some" if participant.uncounted else choose_article(words[0]))
        elif determiner == "the":
            phrase.words.append("the")
        phrase.words += words
        phrase.head = len(phrase.words) - 1
        if new and participant.name:
            phrase.words.append(participant.name)
        elif new and participant.modifier is not None and context.form != "poss":
            preposition, key = participant.modifier
            phrase.words.append(preposition)
            phrase.append(self.refer(key, context.within(MODIFIER, "full")))
        return phrase

    def _wants_pronoun(self, participant: Participant, context: MentionContext) -> bool:
        """Draw whether a third-person pronoun is used."""
        role, last = participant.role, self.mentions.get(participant.role.key)
        fixed = role.type in ("time", "place") and role.intro in ("bare", "name")
        if last is None or context.form == "full" or fixed:
            return False
        return context.form == "pro" or self.flip(self._weigh_pronoun(participant, last, context))

    def _weigh_pronoun(self, participant: Participant, last: LastMention, context: MentionContext) -> float:
        """Weigh a pronoun by distance, competitors, animacy and grammatical parallelism."""
        gap = self.sentence - last.sentence
        animate = participant.role.type in ("person", "animal")
        rivals = self._list_rivals(participant, min(last.sentence, self.sentence - 1))
        if gap > 1:
            return 0.3 if gap == 2 and animate and not rivals else 0.0
        if not rivals:
            return 1.0 if gap == 0 else 0.85 if animate else 0.55
        if gap == 0 and context.form == "poss" and last.relation == SUBJECT:
            return 0.97
        salient = last.relation == SUBJECT and all(rival.relation != SUBJECT for rival in rivals)
        if animate and salient and (gap == 0 or context.relation == SUBJECT):
            return 0.6
        return 0.3 if animate and gap == 1 and context.clear else 0.05

    def _list_rivals(self, participant: Participant, earliest: int) -> list[LastMention]:
        """List the last mentions of others that the same pronoun would fit."""
        person = find_person(participant)
        found = ((self.cast[key], last) for key, last in self.mentions.items() if last.sentence >= earliest)
        others = ((other, last) for other, last in found if other is not participant)
        return [last for other, last in others if find_person(other) == person and other.role.type != "time"]


def find_person(participant: Participant, context: MentionContext | None = None) -> str:
    """Find person, number and gender of a pronoun for this participant, who may be speaking or spoken to."""
    key, members = participant.role.key, participant.role.members
    if context is not None and context.speaker is not None:
        if context.speaker in (key, *members):
            return "1p" if members else "1s"
        if context.hearer in (key, *members):
            return "2"
    return "3p" if participant.plural else f"3{participant.gender}"


def use_pronoun(person: str, context: MentionContext) -> Phrase:
    """Mention by a pronoun in the case that its place asks for."""
    subject, thing, possessive = list_words(person, "pronouns")
    form = subject if context.relation == SUBJECT else thing
    agreement = {"1s": "1s", "2": "pl", "1p": "pl", "3p": "pl"}.get(person, "3s")
    return Phrase([possessive if context.form == "poss" else form], agreement=agreement)


def choose_article(following: str) -> str:
    """Choose a or an, by sound."""
    start = following.lower()
    if start.startswith(("uni", "one", "eu", "used")):
        return "a"
    return "an" if start[0] in "aeiou" or start.startswith(("hour", "honest", "8", "11", "18")) else "a"
