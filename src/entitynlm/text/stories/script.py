"""Scripts: what can happen in a scenario, in which order and how likely; and where in it a story stands.

A script is a tuple of steps. :func:`branch` gives the ways in which the next step can be taken with their
probabilities. The generator draws from them and :mod:`difficulty` enumerates them, so both follow one distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeAlias

from entitynlm.text.stories.cast import Role, T


@dataclass(frozen=True, eq=False)
class StoryEvent:
    """One sentence's worth of happening, with the ways of saying it; ``docs/stories.md`` explains how events are written.

    :param speaker: who says what stands between quotation marks (I and me there), to whom (``hearer``, you there).
    :param clear: whether the script tells who is meant even where a pronoun alone would fit two people.
    :param sets: registers and the roles that they point to from now on, as in "who has the ball".
    :param gains: a role and the adjective that describes it from now on, or ``-`` when it no longer does.
    :param lines: the line of each wording in the file ``path``.
    """

    wordings: tuple[str, ...]
    speaker: str | None = None
    hearer: str | None = None
    linked: bool = True
    clear: bool = False
    sets: tuple[tuple[str, str], ...] = ()
    gains: tuple[tuple[str, str], ...] = ()
    learns: tuple[str, ...] = ()
    path: str = ""
    lines: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Either:
    """Exactly one of the alternatives happens."""

    alternatives: tuple[tuple[float, Steps], ...]


def maybe(probability: float, steps: Steps) -> Either:
    """The steps happen with this probability."""
    return Either(((probability, steps), (1 - probability, ())))


def again(probability: float, most: int, steps: Steps) -> Either:
    """The steps happen once, then again with this probability each time, ``most`` times altogether."""
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
class Scene:
    """A detour: its own small cast and steps, and the kinds of place where it can happen."""

    name: str
    roles: tuple[Role, ...]
    steps: Steps
    where: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Scenario:
    """A script with its cast; ``hero`` is the role that the detours happen to and that may tell the story as I."""

    name: str
    hero: str
    roles: tuple[Role, ...]
    steps: Steps
    narrated: float = 0.25


class ScriptState(NamedTuple):
    """Where a story stands: the steps to come, where the registers point, the facts that are known, the roles that
    were mentioned (by a mention that lies in no other one), and the detours taken."""

    agenda: Steps
    registers: Mapping[str, str]
    facts: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()
    scenes: tuple[Scene, ...] = ()

    @property
    def event(self) -> StoryEvent:
        step = self.agenda[0]
        assert isinstance(step, StoryEvent)
        return step

    def resolve(self, role: str) -> str:
        """The role itself, or the one that a register of this name points to."""
        return self.registers.get(role, role)

    def go_on(self, *steps: Step) -> ScriptState:
        """The state with these steps in the place of the next one."""
        return self._replace(agenda=steps + self.agenda[1:])

    def point(self, **registers: str) -> ScriptState:
        return self._replace(registers={**self.registers, **registers})

    def pass_event(self, mentioned: Iterable[str]) -> ScriptState:
        """The state after the next event, which mentioned these roles."""
        pointed = {register: self.resolve(role) for register, role in self.event.sets}
        facts, known = self.facts.union(self.event.learns), self.mentioned.union(mentioned)
        return self.go_on().point(**pointed)._replace(facts=facts, mentioned=known)


Branches: TypeAlias = list[tuple[float, ScriptState]]


def branch(state: ScriptState, library: tuple[Scene, ...]) -> Branches:
    """The ways on from a state whose next step is no event, with their probabilities."""
    step = state.agenda[0]
    if isinstance(step, Either):
        return [(weight, state.go_on(*steps)) for weight, steps in step.alternatives]
    if isinstance(step, AnyOrder):
        ways = []
        for index, part in enumerate(step.parts):
            others = step.parts[:index] + step.parts[index + 1 :]
            ways.append(state.go_on(*part, *([AnyOrder(others)] if others else [])))
        return [(1 / len(ways), way) for way in ways]
    if isinstance(step, Pick):
        barred = [state.resolve(role) for role in step.but]
        roles = [role for role in map(state.resolve, step.among) if role not in barred]
        return [(1 / len(roles), state.go_on().point(**{step.register: role})) for role in roles]
    if isinstance(step, When):
        return [(1.0, state.go_on(*(step.steps if step.fact in state.facts else step.otherwise)))]
    if isinstance(step, Detour):
        scenes = [scene for scene in library if step.where in scene.where and scene not in state.scenes]
        taken = [state.go_on(*scene.steps)._replace(scenes=(*state.scenes, scene)) for scene in scenes]
        return _share(step.probability, taken, state)
    if isinstance(step, Reaction):
        return _share(step.probability, _react(state, step), state)
    raise AssertionError("an event has no branches")


def _react(state: ScriptState, step: Reaction) -> list[ScriptState]:
    """All reactions of those who were mentioned."""
    people = [role for role in step.people if role in state.mentioned]
    things = [role for role in step.things if role in state.mentioned]
    ways: list[ScriptState] = []
    for someone in people:
        ways.append(state.go_on(step.feeling).point(someone=someone))
        ways += [state.go_on(step.looking).point(someone=someone, something=thing) for thing in things]
        others = [other for other in people if other != someone]
        ways += [state.go_on(step.meeting).point(someone=someone, other=other) for other in others]
    return ways


def _share(probability: float, ways: list[ScriptState], state: ScriptState) -> Branches:
    """The step is left out, or one of the ways is taken, all of them equally likely."""
    if not ways:
        return [(1.0, state.go_on())]
    return [(1 - probability, state.go_on())] + [(probability / len(ways), way) for way in ways]


def draw_event(state: ScriptState, library: tuple[Scene, ...], random: Random) -> ScriptState | None:
    """Draw branches until an event is next; nothing when the script is over."""
    while state.agenda and not isinstance(state.agenda[0], StoryEvent):
        state = choose_weighted(branch(state, library), random)
    return state if state.agenda else None


def choose_weighted(options: Sequence[tuple[float, T]], random: Random) -> T:
    """Draw one of the options by their weights, which need not sum to one."""
    mark = random.random() * sum(weight for weight, _ in options)
    for weight, option in options:
        mark -= weight
        if mark < 0:
            return option
    return options[-1][1]


def enumerate_events(
    state: ScriptState, library: tuple[Scene, ...], probability: float = 1.0
) -> Iterator[tuple[float, ScriptState]]:
    """All states in which an event is next, with their probabilities (what is missing to one is the story's end)."""
    if not state.agenda:
        return
    if isinstance(state.agenda[0], StoryEvent):
        yield probability, state
        return
    for share, onward in branch(state, library):
        if share > 0:
            yield from enumerate_events(onward, library, probability * share)
