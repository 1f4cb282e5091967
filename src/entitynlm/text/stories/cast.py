"""The cast: roles that a scenario offers and the participants that a story puts into them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from random import Random

from entitynlm.text.stories.chance import choose
from entitynlm.text.stories.lexicon import Word, look_up, look_up_noun
from entitynlm.text.stories.names import FEMALE_NAMES, FEMALE_PETS, MALE_NAMES, MALE_PETS, SURNAMES


@dataclass(frozen=True, eq=False)
class Role:
    """A part in a scenario that some person or thing will take.

    :param nouns: one is drawn; ``waiter:m`` ties a noun to a gender, ``bike/bicycle`` are words for the same thing,
        ``train_station`` is two words.
    :param adjectives: groups in the order English has them; at most one of each group is drawn, ``!yellow`` always.
    :param named: people and pets get a first name, ``title`` gives "Mr. Fisher" or, to doctors, "Dr. Fisher"; places
        are named by their nouns.
    :param owner: the role that has it (her brother, Anna's bike); with ``bound`` it is never said without.
    :param modifiers: one may be drawn, as ``with {lock}`` or ``from {aunt}``; ``!of {bottle}`` always.
    :param intro: how it is first named: ``a``, ``the``, ``own`` (by its owner), ``name``, ``bare`` or
        ``count`` (its number); ``kind`` is bare ever after (whales).
    :param counts: number words, for plural nouns ("three eggs").
    :param members: the roles that a group consists of.
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
    """Who or what took a role: all that is true of it and can be said when it is mentioned."""

    key: str
    type: str
    nouns: tuple[tuple[Word, ...], ...]
    gender: str
    plural: bool
    mass: bool
    intro: str
    name: tuple[Word, ...] = ()
    surname: tuple[Word, ...] = ()
    adjectives: tuple[Word, ...] = ()
    gained: Word | None = None
    owner: str | None = None
    bound: bool = False
    modifier: tuple[Word, str] | None = None
    count: Word | None = None
    members: tuple[str, ...] = ()
    narrator: bool = False


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _group(text: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(part.split()) for part in text.split(";")) if text else ()


def person(
    key: str,
    nouns: str = "",
    *,
    adj: str = "",
    named: bool = False,
    title: bool = False,
    owner: str | None = None,
    bound: bool | None = None,
    mods: tuple[str, ...] = (),
    intro: str | None = None,
    counts: str = "",
    gender: str = "",
) -> Role:
    """Someone: named, or a relation of someone (owner), or known by a job."""
    intro = intro or ("own" if owner else "name" if named or title else "a")
    return Role(
        key,
        "person",
        _split(nouns),
        _group(adj),
        named=named,
        title=title,
        owner=owner,
        bound=owner is not None if bound is None else bound,
        modifiers=mods,
        intro=intro,
        counts=_split(counts),
        gender=gender,
    )


def animal(
    key: str,
    nouns: str,
    *,
    adj: str = "",
    named: bool = False,
    owner: str | None = None,
    mods: tuple[str, ...] = (),
    intro: str | None = None,
) -> Role:
    """A pet (named, he or she) or some animal (it)."""
    intro = intro or ("own" if owner else "a")
    gender = "" if named else "n"
    return Role(
        key,
        "animal",
        _split(nouns),
        _group(adj),
        named=named,
        owner=owner,
        modifiers=mods,
        intro=intro,
        gender=gender,
    )


def thing(
    key: str,
    nouns: str,
    *,
    adj: str = "",
    owner: str | None = None,
    bound: bool = False,
    mods: tuple[str, ...] = (),
    intro: str | None = None,
    counts: str = "",
    type: str = "thing",
) -> Role:
    """A thing, some stuff (mass nouns) or some things (plural nouns)."""
    intro = intro or ("own" if owner else "a")
    return Role(
        key,
        type,
        _split(nouns),
        _group(adj),
        owner=owner,
        bound=bound,
        modifiers=mods,
        intro=intro,
        counts=_split(counts),
        gender="n",
    )


def place(
    key: str,
    nouns: str,
    *,
    adj: str = "",
    owner: str | None = None,
    mods: tuple[str, ...] = (),
    intro: str | None = None,
) -> Role:
    """Somewhere; with ``intro="name"`` the nouns are names (Mill_Street)."""
    return thing(key, nouns, adj=adj, owner=owner, mods=mods, intro=intro, type="place")


def time(key: str, *phrases: str) -> Role:
    """A time, by one of some fixed phrases."""
    nouns = tuple(phrase.replace(" ", "_") for phrase in phrases)
    return Role(key, "time", nouns, intro="bare", gender="n")


def group(key: str, *members: str, noun: str = "") -> Role:
    """Some of the cast taken together: Anna and Ben, the two friends, they."""
    return Role(key, "person", _split(noun), members=members, gender="n")


class Cast:
    """Who plays what in one story. A role is cast when it is first asked for, so that nobody is cast in vain."""

    def __init__(self, roles: Iterable[Role], narrator: str | None, random: Random) -> None:
        self.roles = {role.key: role for role in roles}
        self.narrator = narrator
        self.random = random
        self.members: dict[str, Participant] = {}

    def add_roles(self, roles: Iterable[Role]) -> None:
        """Make the roles of another scene known."""
        self.roles.update((role.key, role) for role in roles)

    def __getitem__(self, key: str) -> Participant:
        participant = self.members.get(key)
        if participant is None:
            participant = _cast_role(self.roles[key], key == self.narrator, self.members, self.random)
            self.members[key] = participant
        return participant


def _cast_role(role: Role, narrator: bool, taken: Mapping[str, Participant], random: Random) -> Participant:
    """Draw a participant, with a name and, if possible, a noun that nobody has yet."""
    names = [p.name[0].form for p in taken.values() if p.name]
    noun, tied = _draw_noun(role, taken, random)
    gender = role.gender or tied or ("m" if random.random() < 0.5 else "f")
    proper = role.intro == "name" and role.type == "place"
    words = _spell_nouns(noun, role.type, proper) if noun else ()
    head = words[0][-1] if words else None
    participant = Participant(
        key=role.key,
        type=role.type,
        nouns=words,
        gender=gender,
        plural=bool(role.members) or (head is not None and head.tag == "NNS"),
        mass=head is not None and head.mass,
        intro=role.intro,
        owner=role.owner,
        bound=role.bound,
        members=role.members,
        narrator=narrator,
    )
    _describe(participant, role, random)
    if role.named:
        pools = (MALE_NAMES, FEMALE_NAMES) if role.type == "person" else (MALE_PETS, FEMALE_PETS)
        pool = pools[0] if gender == "m" else pools[1]
        initials = [name[0] for name in names]
        free = [name for name in pool if name[0] not in initials]
        name = choose(free or [n for n in pool if n not in names], random)
        participant.name = (Word(name, "NNP", name),)
        if role.type == "person" and random.random() < 0.2:
            participant.surname = _spell_name(_draw_surname(taken, random))
    if role.title:
        civil = "Mr." if gender == "m" else choose(("Mrs.", "Ms."), random)
        form = "Dr." if "doctor" in role.nouns else civil
        participant.name = (Word(form, "NNP", form), *_spell_name(_draw_surname(taken, random)))
    return participant


def _draw_surname(taken: Mapping[str, Participant], random: Random) -> str:
    """A surname that nobody has yet."""
    used = [word.form for p in taken.values() for word in (*p.name[1:], *p.surname)]
    return choose([surname for surname in SURNAMES if surname not in used], random)


def _spell_name(name: str) -> tuple[Word, ...]:
    return tuple(Word(part, "NNP", part) for part in name.split("_"))


def _draw_noun(role: Role, taken: Mapping[str, Participant], random: Random) -> tuple[str, str]:
    """A noun, and the gender that it is tied to if it is."""
    if not role.nouns:
        return "", ""
    options = role.nouns
    if len(options) > 1:
        nouns = [p.nouns[0][-1].form for p in taken.values() if p.nouns]
        fresh = [n for n in options if n.partition(":")[0].split("/")[0].split("_")[-1] not in nouns]
        options = tuple(fresh) or options
    noun, _, tied = choose(options, random).partition(":")
    return noun, tied


@cache
def _spell_nouns(noun: str, type: str, proper: bool) -> tuple[tuple[Word, ...], ...]:
    """The words of a noun and of its synonyms."""
    if proper:
        return (_spell_name(noun),)
    known = look_up if type == "time" else look_up_noun
    return tuple(tuple(known(part) for part in synonym.split("_")) for synonym in noun.split("/"))


def _describe(participant: Participant, role: Role, random: Random) -> None:
    """Draw adjectives, a number and a modifier: the properties by which it will be known."""
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
