"""Discourse: what was said of whom, and whether that is enough for a pronoun."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from entitynlm.text.stories.cast import Cast, Participant


@dataclass(slots=True)
class Record:
    """When and how someone was last mentioned."""

    sentence: int
    order: int
    relation: str


@dataclass(frozen=True, slots=True)
class Occasion:
    """Where a mention stands: its grammatical relation, the form that the template asks for, who speaks to whom."""

    relation: str
    form: str = ""
    speaker: str | None = None
    hearer: str | None = None
    clear: bool = False


@dataclass
class Discourse:
    """What a listener knows of a story so far, and the chance by which it goes on."""

    cast: Cast
    random: Random
    registers: Mapping[str, str] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    sentence: int = 0
    order: int = 0

    def note(self, key: str, relation: str) -> None:
        """Remember that someone was mentioned."""
        self.order += 1
        self.records[key] = Record(self.sentence, self.order, relation)

    def flip(self, probability: float) -> bool:
        return self.random.random() < probability


def find_person(participant: Participant) -> str:
    """Person, number and gender that a pronoun for this participant has."""
    return "3p" if participant.plural else f"3{participant.gender}"


def find_deictic(discourse: Discourse, participant: Participant, occasion: Occasion) -> str | None:
    """I, you or we where the participant speaks, is spoken to or tells the story."""
    cast = discourse.cast
    if occasion.speaker is not None:
        for who, person in ((occasion.speaker, ("1s", "1p")), (occasion.hearer, ("2", "2"))):
            if participant.key == who:
                return person[0]
            if who in participant.members:
                return person[1]
        return None
    if participant.narrator:
        return "1s"
    return "1p" if any(cast[member].narrator for member in participant.members) else None


def needs_members(discourse: Discourse, participant: Participant) -> bool:
    """Whether we is not enough: someone of the group is unknown, or it is time to say again who it is."""
    records = discourse.records
    unknown = any(key not in records and not discourse.cast[key].narrator for key in participant.members)
    return unknown or (participant.key not in records and discourse.flip(0.5)) or discourse.flip(0.1)


def wants_pronoun(discourse: Discourse, participant: Participant, occasion: Occasion) -> bool:
    """Draw whether a third-person pronoun is used."""
    record = discourse.records.get(participant.key)
    settled = participant.type in ("time", "place") and participant.intro in ("bare", "name")
    fixed = settled or participant.intro == "kind"
    if record is None or occasion.form == "full" or fixed:
        return False
    if occasion.form == "pro":
        return True
    return discourse.flip(_weigh_pronoun(discourse, participant, record, occasion))


def _weigh_pronoun(
    discourse: Discourse, participant: Participant, record: Record, occasion: Occasion
) -> float:
    gap = discourse.sentence - record.sentence
    rivals, fresher, rival_subject = _count_rivals(discourse, participant, record)
    animate = participant.type in ("person", "animal")
    subject = occasion.relation.startswith("nsubj")
    was_subject = record.relation.startswith("nsubj")
    if gap == 0:
        if rivals == 0:
            return 1.0
        if occasion.form == "poss" and (was_subject or not fresher):
            return 0.97
        return 0.6 if animate and was_subject and not rival_subject else 0.1
    if gap == 1:
        if rivals == 0:
            return 0.85 if animate else 0.55
        if animate and subject and was_subject and not rival_subject:
            return 0.6
        if animate and occasion.clear and not record.relation.startswith("nmod"):
            return 0.3
        return 0.3 if not fresher and not animate and not subject else 0.04
    if gap == 2 and animate and rivals == 0:
        return 0.3
    return 0.0


def _count_rivals(discourse: Discourse, participant: Participant, record: Record) -> tuple[int, int, int]:
    """How many others would fit the pronoun, how many of them were mentioned since, how many were subjects."""
    person, members = find_person(participant), discourse.cast.members
    earliest = min(record.sentence, discourse.sentence - 1)
    rivals = fresher = subjects = 0
    for key, other in discourse.records.items():
        if other.sentence < earliest or key == participant.key:
            continue
        rival = members[key]
        if find_person(rival) == person and not rival.narrator and rival.type != "time":
            rivals += 1
            fresher += other.order > record.order
            subjects += other.relation.startswith("nsubj")
    return rivals, fresher, subjects
