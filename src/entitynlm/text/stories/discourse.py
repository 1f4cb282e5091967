"""The discourse model: who was mentioned when and how, and whether that is enough for a pronoun."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from entitynlm.text.stories.cast import Participant, StoryCast


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
class Discourse:
    """What a reader knows of a story so far, and the random generator by which it goes on."""

    cast: StoryCast
    random: Random
    registers: Mapping[str, str] = field(default_factory=dict)
    mentions: dict[str, LastMention] = field(default_factory=dict)
    sentence: int = 0
    order: int = 0

    def note(self, key: str, relation: str) -> None:
        """Remember that a participant was mentioned."""
        self.order += 1
        self.mentions[key] = LastMention(self.sentence, self.order, relation)

    def flip(self, probability: float) -> bool:
        return self.random.random() < probability


def find_person(participant: Participant) -> str:
    """Person, number and gender that a pronoun for this participant has."""
    return "3p" if participant.plural else f"3{participant.gender}"


def find_deictic(discourse: Discourse, participant: Participant, context: MentionContext) -> str | None:
    """I, you or we where the participant speaks, is spoken to or tells the story."""
    key, members = participant.role.key, participant.role.members
    if context.speaker is not None:
        for who, alone, together in ((context.speaker, "1s", "1p"), (context.hearer, "2", "2")):
            if key == who or who in members:
                return alone if key == who else together
        return None
    if participant.narrator:
        return "1s"
    return "1p" if any(discourse.cast[member].narrator for member in members) else None


def needs_members(discourse: Discourse, participant: Participant) -> bool:
    """Whether we is not enough: someone of the group is unknown, or it is time to say again who it is."""
    mentions, role = discourse.mentions, participant.role
    unknown = any(key not in mentions and not discourse.cast[key].narrator for key in role.members)
    return unknown or (role.key not in mentions and discourse.flip(0.5)) or discourse.flip(0.1)


def wants_pronoun(discourse: Discourse, participant: Participant, context: MentionContext) -> bool:
    """Draw whether a third-person pronoun is used."""
    role, last = participant.role, discourse.mentions.get(participant.role.key)
    fixed = role.intro == "kind" or (role.type in ("time", "place") and role.intro in ("bare", "name"))
    if last is None or context.form == "full" or fixed:
        return False
    return context.form == "pro" or discourse.flip(_weigh_pronoun(discourse, participant, last, context))


def _weigh_pronoun(
    discourse: Discourse, participant: Participant, last: LastMention, context: MentionContext
) -> float:
    """The probability of a pronoun, by distance, competitors, animacy and grammatical parallelism."""
    gap = discourse.sentence - last.sentence
    rivals, fresher, rival_subject = _count_rivals(discourse, participant, last)
    animate = participant.role.type in ("person", "animal")
    subject = context.relation.startswith("nsubj")
    was_subject = last.relation.startswith("nsubj")
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
        if animate and context.clear and not last.relation.startswith("nmod"):
            return 0.3
        return 0.3 if not fresher and not animate and not subject else 0.04
    return 0.3 if gap == 2 and animate and rivals == 0 else 0.0


def _count_rivals(discourse: Discourse, participant: Participant, last: LastMention) -> tuple[int, int, int]:
    """How many others would fit the pronoun, how many of them were mentioned since, how many were subjects."""
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
            subjects += other.relation.startswith("nsubj")
    return rivals, fresher, subjects
