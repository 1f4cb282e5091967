"""Scripts: what can happen in a scenario, in which order and how likely; and where in it a story stands.

A script is a tuple of steps; :func:`draw_event` draws one of the ways on from a state until an event is next.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeAlias

from entitynlm.stories.cast import Role
from entitynlm.stories.lexicon import choose, choose_weighted


@dataclass(frozen=True, eq=False)
class StoryEvent:
    """One sentence's worth of happening, with the ways of saying it.

    :param speaker: the role that says what stands between quotation marks (I and me there).
    :param hearer: the role that is spoken to (you there).
    :param clear: whether the script tells who is meant even where a pronoun alone would fit two people.
    :param sets: registers and the roles that they point to from now on, as in "who has the ball".
    :param gains: a role and the adjective that describes it from now on, or ``-`` when it no longer does.
    """

    wordings: tuple[str, ...]
    speaker: str | None = None
    hearer: str | None = None
    linked: bool = True
    clear: bool = False
    sets: tuple[tuple[str, str], ...] = ()
    gains: tuple[tuple[str, str], ...] = ()
    learns: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Either:
    """Exactly one of the alternatives happens, by weight."""

    alternatives: tuple[tuple[float, Steps], ...]


def maybe(probability: float, steps: Steps) -> Either:
    """Let the steps happen with this probability."""
    return Either(((probability, steps), (1 - probability, ())))


def again(probability: float, most: int, steps: Steps) -> Either:
    """Let the steps happen once, then again with this probability each time, ``most`` times altogether."""
    more = (maybe(probability, (again(probability, most - 1, steps),)),) if most > 1 else ()
    return Either(((1.0, (*steps, *more)),))


@dataclass(frozen=True, eq=False)
class AnyOrder:
    """All parts happen, in any order."""

    parts: tuple[Steps, ...]


@dataclass(frozen=True, eq=False)
class Pick:
    """A register is pointed to one of some roles, those in ``but`` left out, each as likely."""

    register: str
    among: tuple[str, ...]
    but: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class When:
    """The steps happen if a fact is known, the others if not."""

    fact: str
    steps: Steps
    otherwise: Steps = ()


@dataclass(frozen=True, eq=False)
class Reaction:
    """With this probability one of the people reacts, alone or to someone or something; all were mentioned before."""

    probability: float
    people: tuple[str, ...]
    things: tuple[str, ...]
    feeling: StoryEvent
    looking: StoryEvent
    meeting: StoryEvent


@dataclass(frozen=True, eq=False)
class Detour:
    """With this probability something unscripted happens: a scene that fits such a place."""

    probability: float
    where: str


Step: TypeAlias = StoryEvent | Either | AnyOrder | Pick | When | Detour | Reaction
Steps: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Scenario:
    """A script with its cast.

    :param hero: the role that detours happen to and that may tell the story as I.
    :param where: for a detour, the kinds of place where it can happen.
    """

    name: str
    hero: str
    roles: tuple[Role, ...]
    steps: Steps
    narrated: float = 0.25
    where: tuple[str, ...] = ()


class ScriptState(NamedTuple):
    """Where a story stands: steps to come, where registers point, known facts, mentioned roles, detours taken."""

    agenda: Steps
    registers: Mapping[str, str]
    facts: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()
    detours: tuple[Scenario, ...] = ()

    @property
    def event(self) -> StoryEvent:
        """The next step, which must be an event."""
        step = self.agenda[0]
        assert isinstance(step, StoryEvent)
        return step

    def resolve(self, role: str) -> str:
        """Return the role itself, or the one that a register of this name points to."""
        return self.registers.get(role, role)

    def go_on(self, *steps: Step, **registers: str) -> ScriptState:
        """Put these steps in the place of the next one, and point registers to roles."""
        return self._replace(agenda=steps + self.agenda[1:], registers={**self.registers, **registers})

    def pass_event(self, mentioned: Iterable[str]) -> ScriptState:
        """Go on after the next event, which mentioned these roles."""
        pointed = {register: self.resolve(role) for register, role in self.event.sets}
        facts, known = self.facts.union(self.event.learns), self.mentioned.union(mentioned)
        return self.go_on(**pointed)._replace(facts=facts, mentioned=known)


def draw_event(state: ScriptState, detours: tuple[Scenario, ...], random: Random) -> ScriptState | None:
    """Draw ways on until an event is next; none when the script is over."""
    while state.agenda and not isinstance(state.agenda[0], StoryEvent):
        state = _draw_way(state, detours, random)
    return state if state.agenda else None


def _draw_way(state: ScriptState, detours: tuple[Scenario, ...], random: Random) -> ScriptState:
    """Draw one way on from a state whose next step is no event."""
    match state.agenda[0]:
        case Either(alternatives):
            return state.go_on(*choose_weighted(alternatives, random))
        case AnyOrder(parts):
            part = choose(parts, random)
            others = tuple(other for other in parts if other is not part)
            return state.go_on(*part, *([AnyOrder(others)] if others else []))
        case Pick(register, among, but):
            barred = [state.resolve(role) for role in but]
            roles = [role for role in map(state.resolve, among) if role not in barred]
            return state.go_on(**{register: choose(roles, random)})
        case When(fact, steps, otherwise):
            return state.go_on(*(steps if fact in state.facts else otherwise))
        case Detour(probability, where):
            scenes = [scene for scene in detours if where in scene.where and scene not in state.detours]
            ways = [state.go_on(*scene.steps)._replace(detours=(*state.detours, scene)) for scene in scenes]
        case Reaction(probability) as reaction:
            ways = _react(state, reaction)
    return choose(ways, random) if ways and random.random() < probability else state.go_on()


def _react(state: ScriptState, step: Reaction) -> list[ScriptState]:
    """List all reactions of the people who were mentioned."""
    people = [role for role in step.people if role in state.mentioned]
    things = [role for role in step.things if role in state.mentioned]
    ways: list[ScriptState] = []
    for someone in people:
        ways.append(state.go_on(step.feeling, someone=someone))
        ways += [state.go_on(step.looking, someone=someone, something=thing) for thing in things]
        others = [other for other in people if other != someone]
        ways += [state.go_on(step.meeting, someone=someone, other=other) for other in others]
    return ways
