"""The cast of a story: the roles that a scenario defines and the participants that are drawn for them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import TypeVar

from entitynlm.text.stories.lexicon import Word, list_words, look_up, look_up_noun

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Role:
    """A part in a scenario that some person or thing will take; ``docs/stories.md`` explains how roles are written.

    :param title: gets "Mr. Fisher" or, for doctors, "Dr. Fisher" as a name, and not a first name.
    :param owner: the role that has it (her brother, Anna's bike); with ``bound`` it is never mentioned without.
    :param intro: the determiner of the first mention, or ``own``, ``name``, ``bare``, ``count`` or ``kind``.
    """

    key: str
    type: str
    nouns: tuple[str, ...] = ()
    adjectives: tuple[tuple[str, ...], ...] = ()
    named: bool = False
    title: bool = False
    owner: str | None = None
    bound: bool = False
    modifiers: tuple[str, ...] = ()
    intro: str = "a"
    counts: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    gender: str = ""


@dataclass(eq=False)
class Participant:
    """The person or thing that took a role, with everything that can be said when it is mentioned."""

    role: Role
    nouns: tuple[tuple[Word, ...], ...]
    gender: str
    plural: bool
    mass: bool
    narrator: bool
    owner: str | None
    name: tuple[Word, ...] = ()
    surname: tuple[Word, ...] = ()
    adjectives: tuple[Word, ...] = ()
    gained: Word | None = None
    modifier: tuple[Word, str] | None = None
    count: Word | None = None


class StoryCast(dict[str, Participant]):
    """The participants of one story; one is drawn when its role is first asked for, so that none is drawn in vain."""

    def __init__(self, roles: Iterable[Role], narrator: str | None, random: Random) -> None:
        self.roles = {role.key: role for role in roles}
        self.narrator = narrator
        self.random = random

    def __missing__(self, key: str) -> Participant:
        """Draw a participant, with a name and, if possible, a noun that nobody has yet."""
        role, random = self.roles[key], self.random
        noun, tied = self._draw_noun(role)
        gender = role.gender or tied or ("m" if random.random() < 0.5 else "f")
        proper = role.intro == "name" and role.type == "place"
        words = _spell_nouns(noun, role.type, proper) if noun else ()
        head = words[0][-1] if words else None
        participant = Participant(
            role,
            words,
            gender,
            plural=bool(role.members) or (head is not None and head.tag == "NNS"),
            mass=head is not None and head.mass,
            narrator=key == self.narrator,
            owner=role.owner,
        )
        self._describe(participant)
        if role.named:
            participant.name = _spell_name(self._draw_first_name(role.type, gender))
            if role.type == "person" and random.random() < 0.2:
                participant.surname = _spell_name(self._draw_surname())
        if role.title:
            civil = "Mr." if gender == "m" else choose(("Mrs.", "Ms."), random)
            form = "Dr." if "doctor" in role.nouns else civil
            participant.name = (Word(form, "NNP", form), *_spell_name(self._draw_surname()))
        self[key] = participant
        return participant

    def _draw_noun(self, role: Role) -> tuple[str, str]:
        """A noun, and the gender that it is tied to if it is."""
        if not role.nouns:
            return "", ""
        options = role.nouns
        if len(options) > 1:
            taken = [p.nouns[0][-1].form for p in self.values() if p.nouns]
            fresh = [n for n in options if n.partition(":")[0].split("/")[0].split("_")[-1] not in taken]
            options = tuple(fresh) or options
        noun, _, tied = choose(options, self.random).partition(":")
        return noun, tied

    def _draw_first_name(self, type: str, gender: str) -> str:
        """A name that begins with another letter than those of the others, if there is one."""
        section = "male" if gender == "m" else "female"
        pool = list_words(section if type == "person" else f"{section}_pets", "names")
        taken = [p.name[0].form for p in self.values() if p.name]
        initials = [name[0] for name in taken]
        free = [name for name in pool if name[0] not in initials]
        return choose(free or [name for name in pool if name not in taken], self.random)

    def _draw_surname(self) -> str:
        taken = [word.form for p in self.values() for word in (*p.name[1:], *p.surname)]
        return choose([name for name in list_words("surnames", "names") if name not in taken], self.random)

    def _describe(self, participant: Participant) -> None:
        """Draw adjectives, a number and a modifier: the properties that descriptions can use."""
        role, random = participant.role, self.random
        drawn: list[Word] = []
        for options in role.adjectives:
            adjective = choose(options, random)
            if adjective.startswith("!") or random.random() < (0.3 if drawn else 0.55):
                drawn.append(look_up(adjective.lstrip("!")))
        participant.adjectives = tuple(drawn)
        if role.counts:
            participant.count = look_up(choose(role.counts, random))
        if role.modifiers:
            preposition, slot = choose(role.modifiers, random).split()
            if preposition.startswith("!") or random.random() < 0.6:
                participant.modifier = (look_up(preposition.lstrip("!")), slot.strip("{}"))


def choose(options: Sequence[T], random: Random) -> T:
    """Draw one of the options uniformly, by ``Random.random``, which Python guarantees to be the same everywhere."""
    return options[int(random.random() * len(options))]


def _spell_name(name: str) -> tuple[Word, ...]:
    return tuple(Word(part, "NNP", part) for part in name.split("_"))


@cache
def _spell_nouns(noun: str, type: str, proper: bool) -> tuple[tuple[Word, ...], ...]:
    if proper:
        return (_spell_name(noun),)
    known = look_up if type == "time" else look_up_noun
    return tuple(tuple(known(part) for part in synonym.split("_")) for synonym in noun.split("/"))
