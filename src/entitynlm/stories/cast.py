"""The cast of a story: the roles that a scenario defines and the participants that are drawn for them."""

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from entitynlm.stories.lexicon import choose, has_word, is_plural, list_words


@dataclass(frozen=True, eq=False)
class Role:
    """A part in a scenario that some person or thing will take.

    :param owner: the role that has it (her brother, Anna's bike); with ``bound`` it is never mentioned without.
    :param intro: the determiner of the first mention, or ``own``, ``name`` or ``bare``.
    :param members: the roles that a group consists of.
    """

    key: str
    type: str
    nouns: tuple[str, ...] = ()
    adjectives: tuple[tuple[str, ...], ...] = ()
    named: bool = False
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
    nouns: tuple[tuple[str, ...], ...]
    gender: str
    plural: bool
    name: str = ""
    adjectives: tuple[str, ...] = ()
    modifier: tuple[str, str] | None = None
    count: str | None = None

    @property
    def uncounted(self) -> bool:
        """Tell whether the noun takes "some" and never "a"."""
        return self.plural or has_word(self.nouns[0][-1], "mass_nouns")


class StoryCast(dict[str, Participant]):
    """The participants of one story; each is drawn when its role is first asked for."""

    def __init__(self, roles: Iterable[Role], random: Random) -> None:
        self.roles = {role.key: role for role in roles}
        self.random = random

    def __missing__(self, key: str) -> Participant:
        """Draw a participant, with a name and, if possible, a noun that no other one has."""
        role, random = self.roles[key], self.random
        noun, tied = self._draw_noun(role)
        gender = role.gender or tied or choose("mf", random)
        nouns = tuple(tuple(synonym.split("_")) for synonym in noun.split("/")) if noun else ()
        plural = bool(role.members) or (role.type != "time" and bool(noun) and is_plural(nouns[0][-1]))
        participant = Participant(role, nouns, gender, plural)
        self._describe(participant)
        if role.named:
            participant.name = self._draw_name(role.type, gender)
        self[key] = participant
        return participant

    def _draw_noun(self, role: Role) -> tuple[str, str]:
        """Draw a noun, and the gender that it is tied to if it is."""
        if not role.nouns:
            return "", ""
        taken = [p.nouns[0][-1] for p in self.values() if p.nouns]
        fresh = [n for n in role.nouns if n.partition(":")[0].split("/")[0].split("_")[-1] not in taken]
        noun, _, tied = choose(fresh or role.nouns, self.random).partition(":")
        return noun, tied

    def _draw_name(self, type: str, gender: str) -> str:
        """Draw a name that begins with another letter than those of the others, if there is one."""
        section = "male" if gender == "m" else "female"
        pool = list_words(section if type == "person" else f"{section}_pets", "names")
        initials = [p.name[0] for p in self.values() if p.name]
        return choose([name for name in pool if name[0] not in initials] or pool, self.random)

    def _describe(self, participant: Participant) -> None:
        """Draw adjectives, a number and a modifier: the properties that descriptions can use."""
        role, random = participant.role, self.random
        drawn: list[str] = []
        for options in role.adjectives:
            adjective = choose(options, random)
            if adjective.startswith("!") or random.random() < (0.3 if drawn else 0.55):
                drawn.append(adjective.lstrip("!"))
        participant.adjectives = tuple(drawn)
        if role.counts:
            participant.count = choose(role.counts, random)
        if role.modifiers and random.random() < 0.6:
            preposition, slot = choose(role.modifiers, random).split()
            participant.modifier = (preposition, slot.strip("{}"))
