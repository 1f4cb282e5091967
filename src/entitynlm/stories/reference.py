"""Referring expressions: how a participant is mentioned, given who was mentioned before, when and how.

New ones are introduced; old ones get a pronoun while they are recent and salient, else a name or a description with properties
that they were introduced with. Where two would fit a pronoun it becomes rare, unless the script tells who is meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from entitynlm.stories.cast import Participant, Role, StoryCast
from entitynlm.stories.lexicon import has_word, list_words
from entitynlm.stories.templates import POSSESSIVE, SUBJECT

GENERAL_NOUNS = frozenset({"man", "woman", "boy", "girl"})
"""Nouns that fit all people of a gender, so that they don't identify one of two."""
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
    order: int
    relation: str


@dataclass(frozen=True, slots=True)
class MentionContext:
    """Where a mention stands: its grammatical relation, the form that the template asks for, who speaks to whom."""

    relation: str
    form: str = ""
    speaker: str | None = None
    hearer: str | None = None
    clear: bool = False


@dataclass
class StoryDiscourse:
    """Participants and mentions of a story so far, and the random generator by which it goes on."""

    cast: StoryCast
    random: Random
    registers: Mapping[str, str] = field(default_factory=dict)
    mentions: dict[str, LastMention] = field(default_factory=dict)
    sentence: int = 0

    def flip(self, probability: float) -> bool:
        return self.random.random() < probability


def refer(discourse: StoryDiscourse, key: str, context: MentionContext) -> Phrase:
    """Mention a participant, and remember it."""
    participant = discourse.cast[key]
    mention = _Mention(discourse, participant, participant.role, context)
    person = find_deictic(discourse, participant, context)
    if person is None and wants_pronoun(discourse, participant, context):
        person = find_person(participant)
    if person == "1p" and not context.speaker and needs_members(discourse, participant):
        phrase = mention.join_members()
    elif person is not None:
        phrase = mention.use_pronoun(person)
    elif key in discourse.mentions:
        phrase = mention.mention_again()
    else:
        phrase = mention.introduce()
    if context.form == "poss" and person is None:
        noun = phrase.head == len(phrase.words) - 1 and not phrase.words[-1][0].isupper()
        phrase.words.append("'" if participant.plural and noun and phrase.words[-1].endswith("s") else "'s")
    phrase.mentions.insert(0, (0, len(phrase.words), key, phrase.head))
    order = max((last.order for last in discourse.mentions.values()), default=0) + 1
    discourse.mentions[key] = LastMention(discourse.sentence, order, context.relation)
    return phrase


@dataclass(frozen=True, slots=True)
class _Mention:
    """One mention of a participant, by each of the forms that it can take."""

    discourse: StoryDiscourse
    participant: Participant
    role: Role
    context: MentionContext

    def use_pronoun(self, person: str) -> Phrase:
        subject, thing, possessive = list_words(person, "pronouns")
        form = subject if self.context.relation == SUBJECT else thing
        agreement = {"1s": "1s", "2": "pl", "1p": "pl", "3p": "pl"}.get(person, "3s")
        return Phrase([possessive if self.context.form == "poss" else form], agreement=agreement)

    def join_members(self) -> Phrase:
        """Name each member: Anna and Ben; her brother, Ben and Mr. Fisher; Ben and I."""
        discourse, context = self.discourse, self.context
        members = sorted(self.role.members, key=lambda key: discourse.cast[key].narrator)
        joined = Phrase(agreement="pl")
        for index, key in enumerate(members):
            if index:
                joined.words.append("and" if index == len(members) - 1 else ",")
            form = "" if discourse.cast[key].narrator else "full"
            inner = MentionContext(context.relation, form, context.speaker, context.hearer)
            head = joined.append(refer(discourse, key, inner))
            discourse.mentions[key].relation = COORDINATED
            joined.head = joined.head if index else head
        return joined

    def introduce(self) -> Phrase:
        discourse, participant, role, form = self.discourse, self.participant, self.role, self.context.form
        if role.members:
            return self.join_members()
        if participant.owner is not None:
            participant.owner = discourse.registers.get(participant.owner, participant.owner)
        if role.intro == "name" and role.type == "place":
            return Phrase(list(participant.nouns[0]))
        if role.intro == "name":
            described = participant.nouns and not role.title and not form and self.context.speaker is None
            if described and discourse.sentence == 0 and discourse.flip(0.3):
                return self.describe("a", named="named")
            return Phrase([*participant.name, *participant.surname])
        by_name = {"": 0.1, "full": 0.5, "poss": 1.0}.get(form, 0.0)
        if participant.name and role.type == "person" and discourse.flip(by_name):
            return Phrase(list(participant.name))
        return self.describe(role.intro, named="apposed" if participant.name else "")

    def mention_again(self) -> Phrase:
        discourse, participant, role = self.discourse, self.participant, self.role
        if role.members:
            by_noun = participant.nouns and discourse.flip(0.5)
            return self.describe("the", adjectives=False) if by_noun else self.join_members()
        if role.type == "place" and role.intro == "name":
            return Phrase(list(participant.nouns[0]))
        if participant.name:
            return self.mention_named_again()
        determiner = "kind" if role.intro == "kind" else "the"
        by_owner = 0.15 if role.type == "person" else 0.35
        if role.bound or (participant.owner is not None and discourse.flip(by_owner)):
            determiner = "own"
        adjectives = self.is_confusable() or discourse.flip(0.25)
        return self.describe(determiner, adjectives=adjectives, modifier=discourse.flip(0.08))

    def mention_named_again(self) -> Phrase:
        """Mention by name or, less often, by noun."""
        by_noun = 0.0
        if self.participant.nouns:
            by_noun = 0.3 if self.role.title or self.role.type == "animal" else 0.12
        plain = self.context.form in ("full", "poss") or self.participant.narrator or self.is_confusable()
        if plain or not self.discourse.flip(by_noun):
            return Phrase(list(self.participant.name))
        determiner = "own" if self.role.bound else "the"
        return self.describe(determiner, adjectives=self.discourse.flip(0.3), modifier=False)

    def is_confusable(self) -> bool:
        """Tell whether another one of the story goes by the same noun, so that only properties tell them apart."""
        nouns = [noun[-1] for noun in self.participant.nouns]
        general = any(noun in GENERAL_NOUNS for noun in nouns)
        others = [self.discourse.cast[key] for key in self.discourse.mentions if key != self.role.key]
        return any(
            any(noun[-1] in nouns for noun in other.nouns)
            or (general and other.role.type == "person" and other.gender == self.participant.gender)
            for other in others
        )

    def describe(
        self, determiner: str, *, adjectives: bool = True, modifier: bool = True, named: str = ""
    ) -> Phrase:
        """Make a noun phrase with determiner, number, adjectives, noun, name and modifier, as far as asked for."""
        discourse, participant = self.discourse, self.participant
        noun = participant.nouns[0]
        if self.role.type == "time":  # a fixed phrase: the first day of May
            core = next((i for i, word in enumerate(noun) if has_word(word, "prepositions")), len(noun))
            return Phrase(list(noun), head=core - 1)
        again = self.role.key in discourse.mentions
        if again and len(participant.nouns) > 1 and discourse.flip(0.35):
            noun = participant.nouns[1]
        words: list[str] = []
        if participant.count is not None and (not again or discourse.flip(0.15)):
            words.append(participant.count)
        if participant.gained is not None and again and discourse.flip(0.5):
            words.append(participant.gained)
        elif adjectives:
            words += participant.adjectives[-1:] if again else participant.adjectives
        words += noun
        phrase = Phrase(agreement="pl" if participant.plural else "3s")
        self.add_determiner(phrase, determiner, words[0])
        phrase.words += words
        phrase.head = len(phrase.words) - 1
        if named:
            phrase.words += ["named"] * (named == "named") + [participant.name[0]]
        elif modifier and participant.modifier is not None and self.context.form != "poss":
            preposition, key = participant.modifier
            phrase.words.append(preposition)
            inner = MentionContext(MODIFIER, "full", self.context.speaker, self.context.hearer)
            phrase.append(refer(discourse, key, inner))
        return phrase

    def add_determiner(self, phrase: Phrase, determiner: str, following: str) -> None:
        participant, context = self.participant, self.context
        if determiner == "own":
            assert participant.owner is not None
            inner = MentionContext(POSSESSIVE, "poss", context.speaker, context.hearer, context.clear)
            phrase.append(refer(self.discourse, participant.owner, inner))
            return
        if determiner == "a" and participant.uncounted:
            determiner = "some" if participant.count is None else "count"
        if determiner not in ("bare", "kind", "count"):
            phrase.words.append(choose_article(following) if determiner == "a" else determiner)


def choose_article(following: str) -> str:
    """Choose a or an, by sound."""
    start = following.lower()
    if start.startswith(("uni", "one", "eu", "used")):
        return "a"
    return "an" if start[0] in "aeiou" or start.startswith(("hour", "honest", "8", "11", "18")) else "a"


def find_person(participant: Participant) -> str:
    """Find person, number and gender that a pronoun for this participant has."""
    return "3p" if participant.plural else f"3{participant.gender}"


def find_deictic(discourse: StoryDiscourse, participant: Participant, context: MentionContext) -> str | None:
    """Find I, you or we where the participant speaks, is spoken to or tells the story."""
    key, members = participant.role.key, participant.role.members
    if context.speaker is not None:
        for who, alone, together in ((context.speaker, "1s", "1p"), (context.hearer, "2", "2")):
            if key == who or who in members:
                return alone if key == who else together
        return None
    if participant.narrator:
        return "1s"
    return "1p" if any(discourse.cast[member].narrator for member in members) else None


def needs_members(discourse: StoryDiscourse, participant: Participant) -> bool:
    """Tell whether "we" is not enough: a member is unknown, or it is time to say again who they are."""
    mentions, role = discourse.mentions, participant.role
    unknown = any(key not in mentions and not discourse.cast[key].narrator for key in role.members)
    return unknown or (role.key not in mentions and discourse.flip(0.5)) or discourse.flip(0.1)


def wants_pronoun(discourse: StoryDiscourse, participant: Participant, context: MentionContext) -> bool:
    """Draw whether a third-person pronoun is used."""
    role, last = participant.role, discourse.mentions.get(participant.role.key)
    fixed = role.intro == "kind" or (role.type in ("time", "place") and role.intro in ("bare", "name"))
    if last is None or context.form == "full" or fixed:
        return False
    return context.form == "pro" or discourse.flip(_weigh_pronoun(discourse, participant, last, context))


def _weigh_pronoun(
    discourse: StoryDiscourse, participant: Participant, last: LastMention, context: MentionContext
) -> float:
    """Weigh a pronoun by distance, competitors, animacy and grammatical parallelism."""
    gap = discourse.sentence - last.sentence
    rivals, fresher, rival_subject = _count_rivals(discourse, participant, last)
    animate = participant.role.type in ("person", "animal")
    subject, was_subject = context.relation == SUBJECT, last.relation == SUBJECT
    if gap == 0:
        if rivals == 0:
            return 1.0
        if context.form == "poss" and (was_subject or not fresher):
            return 0.97
        return 0.6 if animate and was_subject and not rival_subject else 0.1
    if gap == 1:
        if rivals == 0:
            return 0.85 if animate else 0.55
        if animate and subject and was_subject and not rival_subject:
            return 0.6
        if animate and context.clear and last.relation not in (MODIFIER, POSSESSIVE):
            return 0.3
        return 0.3 if not fresher and not animate and not subject else 0.04
    return 0.3 if gap == 2 and animate and rivals == 0 else 0.0


def _count_rivals(
    discourse: StoryDiscourse, participant: Participant, last: LastMention
) -> tuple[int, int, int]:
    """Count others that would fit the pronoun, those mentioned since, and those that were subjects."""
    person = find_person(participant)
    earliest = min(last.sentence, discourse.sentence - 1)
    rivals = fresher = subjects = 0
    for key, other in discourse.mentions.items():
        if other.sentence < earliest or key == participant.role.key:
            continue
        rival = discourse.cast[key]
        if find_person(rival) == person and not rival.narrator and rival.role.type != "time":
            rivals += 1
            fresher += other.order > last.order
            subjects += other.relation == SUBJECT
    return rivals, fresher, subjects
