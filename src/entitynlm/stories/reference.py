"""Scripts (scenarios as TOML files, ``docs/formats.md``), and referring expressions for the participants of a story.

A participant is mentioned given who was mentioned before, when and how. New ones are introduced; old ones get a pronoun while
they are recent and salient, else a name or a description. Where two would fit a pronoun it becomes rare.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeVar

import msgspec

from entitynlm.config import load_toml

STORY_FILES = Path(__file__).resolve().parents[1] / "resources" / "stories"
ALTERNATIVES = re.compile(r"\(([^()]*)\)")
T = TypeVar("T")


class Role(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A role in a scenario, which a person or thing takes.

    :param nouns: descriptions to draw from; ``waiter:m`` has a gender, ``table by {window}`` another role's mention.
    :param named: whether it has a name, which later mentions use.
    :param owner: role that owns it (her brother, Anna's bike).
    :param intro: determiner of the first mention, unless an owner takes its place.
    :param members: roles that form the group.
    """

    type: str
    nouns: tuple[str, ...] = ()
    adjectives: tuple[str, ...] = ()
    named: bool = False
    owner: str = ""
    intro: str = "a"
    plural: bool = False
    members: tuple[str, ...] = ()


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A script with its cast: the steps of a story, each a list of alternatives of which one is drawn."""

    name: str
    roles: dict[str, Role]
    story: tuple[tuple[str, ...], ...]


@cache
def load_scenarios() -> tuple[Scenario, ...]:
    """Load the scenarios in the order of their names."""
    paths = sorted((STORY_FILES / "scenarios").glob("*.toml"))
    return tuple(msgspec.convert({"name": path.stem, **load_toml(path)}, Scenario) for path in paths)


@cache
def list_names(kind: str) -> tuple[str, ...]:
    """List the names of people or pets of a gender."""
    return tuple(load_toml(STORY_FILES / "names.toml")[kind].split())


def draw_sentences(scenario: Scenario, random: Random) -> Iterator[str]:
    """Draw the sentences of one story; a step may have several sentences, or none."""
    for step in scenario.story:
        for sentence in filter(None, choose(step, random).split(" / ")):
            yield ALTERNATIVES.sub(lambda found: choose(found[1].split("|"), random), sentence)


def choose(options: Sequence[T], random: Random) -> T:
    """Draw one of the options uniformly, by ``Random.random``, which Python guarantees to be the same everywhere."""
    return options[int(random.random() * len(options))]


MODIFIED = re.compile(r"(.+) (\w+) \{(\w+)\}")
PRONOUN_CASES = {
    "1s": ("I", "me", "my"),
    "1p": ("we", "us", "our"),
    "2": ("you", "you", "your"),
    "3m": ("he", "him", "his"),
    "3f": ("she", "her", "her"),
    "3n": ("it", "it", "its"),
    "3p": ("they", "them", "their"),
}
"""Subject, object and possessive by person, number and gender."""
AGREEMENTS = {"1s": "1s", "2": "pl", "1p": "pl", "3p": "pl"}


@dataclass(slots=True)
class Phrase:
    """Words with the mentions among them (start, end, role and head)."""

    words: list[str] = field(default_factory=list)
    mentions: list[tuple[int, int, str, int]] = field(default_factory=list)
    head: int = 0
    agreement: str = "3s"

    def append(self, part: "Phrase") -> None:
        start = len(self.words)
        self.words += part.words
        self.mentions += [(start + a, start + b, key, start + head) for a, b, key, head in part.mentions]


@dataclass(eq=False, slots=True)
class Participant:
    """The person or thing in a role, and the place of its last mention."""

    key: str
    role: Role
    noun: str
    gender: str
    name: str
    adjective: str
    sentence: int | None = None
    was_subject: bool = False

    @property
    def third_person(self) -> str:
        return "3p" if self.role.plural or self.role.members else f"3{self.gender}"


class StoryDiscourse:
    """The participants of a story, each drawn at the first mention of its role, and their mentions so far.

    :ivar speech: roles that speak and hear the current words, if they are quoted.
    """

    def __init__(self, roles: dict[str, Role], random: Random) -> None:
        self.roles, self.random = roles, random
        self.cast: dict[str, Participant] = {}
        self.sentence = 0
        self.speech: tuple[str, ...] = ()

    def flip(self, probability: float) -> bool:
        return self.random.random() < probability

    def find(self, key: str) -> Participant:
        """Return the participant of a role; a new one has, if possible, an initial and a noun of its own."""
        if key not in self.cast:
            role, others = self.roles[key], self.cast.values()
            fresh = [noun for noun in role.nouns if noun.partition(":")[0] not in {p.noun for p in others}]
            noun, _, gender = choose(fresh or role.nouns or ("",), self.random).partition(":")
            neuter = role.type != "person" and not role.named
            gender = gender or ("n" if neuter else choose("mf", self.random))
            name = ""
            if role.named:
                names = list_names(f"{role.type}_{gender}")
                initials = {p.name[:1] for p in others}
                name = choose([n for n in names if n[0] not in initials] or names, self.random)
            adjective = choose(("", *role.adjectives), self.random)
            self.cast[key] = Participant(key, role, noun, gender, name, adjective)
        return self.cast[key]

    def refer(self, key: str, form: str, *, is_subject: bool = False) -> Phrase:
        """Mention a participant, and record the mention.

        :param form: ``poss``, ``full`` (no pronoun), ``pro`` (a pronoun) or empty.
        """
        participant = self.find(key)
        person = self._find_person(participant)
        if person[0] != "3" or self._wants_pronoun(participant, form):
            subject, thing, possessive = PRONOUN_CASES[person]
            word = possessive if form == "poss" else subject if is_subject else thing
            phrase = Phrase([word], agreement=AGREEMENTS.get(person, "3s"))
        else:
            phrase = self._describe(participant, form)
            if form == "poss":
                phrase.words.append("'s")
        phrase.mentions.insert(0, (0, len(phrase.words), key, phrase.head))
        participant.sentence, participant.was_subject = self.sentence, is_subject
        return phrase

    def _describe(self, participant: Participant, form: str) -> Phrase:
        """Mention a participant by members, name or noun; later mentions have fewer words."""
        role, again = participant.role, participant.sentence is not None
        if role.members:
            return self._join_members(role.members)
        if participant.name and (again or not role.nouns):
            return Phrase([participant.name])
        modified = MODIFIED.fullmatch(participant.noun)
        noun = modified[1] if modified else participant.noun
        adjective = participant.adjective if not again or self.flip(0.3) else ""
        words = [*adjective.split(), *noun.split()]
        phrase = Phrase(agreement="pl" if role.plural else "3s")
        if role.owner and (not again or role.type == "person" or self.flip(0.3)):
            phrase.append(self.refer(role.owner, "poss"))
        else:
            determiner = role.intro if not again or not role.intro else "the"
            phrase.words += [choose_article(words[0]) if determiner == "a" else determiner] * bool(determiner)
        phrase.words += words
        phrase.head = len(phrase.words) - 1
        if participant.name:
            phrase.words.append(participant.name)
        elif modified and not again and form != "poss":
            phrase.words.append(modified[2])
            phrase.append(self.refer(modified[3], "full"))
        return phrase

    def _join_members(self, members: tuple[str, ...]) -> Phrase:
        """Name each member: Anna and Ben."""
        joined = Phrase(agreement="pl")
        for key in members:
            member = self.refer(key, "full")
            if joined.words:
                joined.words.append("and")
            else:
                joined.head = member.head
            joined.append(member)
        return joined

    def _wants_pronoun(self, participant: Participant, form: str) -> bool:
        """Draw whether a third-person pronoun is used: by recency, competitors of the same gender, and salience."""
        last = participant.sentence
        if last is None or form == "full" or participant.role.type == "time":
            return False
        if form == "pro" or (form == "poss" and last == self.sentence and participant.was_subject):
            return True
        rivals = [
            other
            for other in self.cast.values()
            if other is not participant and other.third_person == participant.third_person
            if other.sentence is not None and other.sentence >= self.sentence - 1
        ]
        if last < self.sentence - 1:
            return False
        return self.flip(0.5 if participant.was_subject else 0.05) if rivals else self.flip(0.85)

    def _find_person(self, participant: Participant) -> str:
        """Find person, number and gender of a pronoun for a participant, who may be speaking or spoken to."""
        own = (participant.key, *participant.role.members)
        if self.speech and self.speech[0] in own:
            return "1p" if participant.role.members else "1s"
        return "2" if self.speech and self.speech[1] in own else participant.third_person


def choose_article(following: str) -> str:
    """Choose a or an, by sound."""
    start = following.lower()
    vowel = start[0] in "aeiou" and not start.startswith("uni")
    return "an" if vowel or start == "hour" else "a"
