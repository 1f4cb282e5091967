"""Scripts: what can happen in a scenario, in which order and how likely; and where in it a story stands.

A script is a tuple of steps. :func:`branch` says in which ways the next step can be taken and how likely each is.
The generator draws from these branches and the knowing reader enumerates them, so both follow one distribution.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import NamedTuple, TypeAlias

from entitynlm.text.stories.cast import Role
from entitynlm.text.stories.chance import choose_weighted


@dataclass(frozen=True, eq=False)
class Event:
    """One sentence's worth of happening, with the ways of saying it.

    :param templates: equally likely wordings; ``(a|b|)`` inside one are equally likely alternatives.
    :param speaker: who says what stands between quotation marks (I and me there), to whom (``hearer``, you there).
    :param opener: whether a linking phrase such as "After that," may come first.
    :param clear: whether the script tells who is meant even where a pronoun alone would fit two people.
    :param sets: registers and the roles that they point to from now on, as in "who has the ball".
    :param gains: a role and the adjective that describes it from now on, or ``-`` when it no longer does.
    :param learns: facts that later :class:`When` steps ask for.
    """

    templates: tuple[str, ...]
    speaker: str | None = None
    hearer: str | None = None
    opener: bool = True
    clear: bool = False
    sets: tuple[tuple[str, str], ...] = ()
    gains: tuple[tuple[str, str], ...] = ()
    learns: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Maybe:
    """The steps happen with this probability."""

    probability: float
    steps: Steps


@dataclass(frozen=True, eq=False)
class Either:
    """Exactly one of the alternatives happens."""

    alternatives: tuple[tuple[float, Steps], ...]


@dataclass(frozen=True, eq=False)
class AnyOrder:
    """All parts happen, in any order."""

    parts: tuple[Steps, ...]


@dataclass(frozen=True, eq=False)
class Again:
    """The steps happen once, then again with this probability each time, ``most`` times altogether."""

    probability: float
    most: int
    steps: Steps


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
class Detour:
    """With this probability something unscripted happens that fits such a place: a scene of the detour library."""

    probability: float
    where: str


@dataclass(frozen=True, eq=False)
class Reaction:
    """With this probability someone whom the story has mentioned reacts, to someone or something it has mentioned."""

    probability: float
    people: tuple[str, ...]
    things: tuple[str, ...]


FEELING = Event(
    (
        "{someone} (smiled|laughed|sighed|yawned|waited|nodded|said nothing) .",
        "{someone} was (tired|nervous|surprised|hungry|silent) .",
    ),
    opener=False,
)
LOOKING = Event(
    (
        "{someone} (looked|pointed|stared) at {something} .",
        "{someone} could not stop looking at {something} .",
        "{someone} thought of {something} .",
    ),
    opener=False,
)
MEETING = Event(
    (
        "{someone} (looked|smiled|nodded|stared) at {other} .",
        "{someone} (whispered something to|was standing next to|winked at) {other} .",
        "{someone} liked {other} .",
    ),
    opener=False,
)

Step: TypeAlias = Event | Maybe | Either | AnyOrder | Again | Pick | When | Detour | Reaction
Steps: TypeAlias = tuple[Step, ...]


@dataclass(frozen=True, eq=False)
class Scene:
    """A detour: its own small cast and steps, and the kinds of place where it can happen."""

    name: str
    where: tuple[str, ...]
    roles: tuple[Role, ...]
    steps: Steps


@dataclass(frozen=True, eq=False)
class Scenario:
    """A script with its cast; ``hero`` is the role that the detours happen to and that may tell the story as I."""

    name: str
    hero: str
    roles: tuple[Role, ...]
    steps: Steps
    narrated: float = 0.25


class Plot(NamedTuple):
    """Where a story stands: the steps to come, where the registers point, what is known, who was mentioned (by a
    mention that lies in no other one), the scenes entered."""

    agenda: Steps
    registers: Mapping[str, str]
    facts: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()
    scenes: tuple[Scene, ...] = ()

    def resolve(self, role: str) -> str:
        """The role itself, or the one that a register of this name points to."""
        return self.registers.get(role, role)

    def pass_event(self, event: Event, mentioned: Iterable[str]) -> Plot:
        """The plot after an event, which stood at the top of the agenda and mentioned these."""
        pointed = {register: self.resolve(role) for register, role in event.sets}
        return self._replace(
            agenda=self.agenda[1:],
            registers={**self.registers, **pointed},
            facts=self.facts.union(event.learns),
            mentioned=self.mentioned.union(mentioned),
        )


def branch(plot: Plot, library: tuple[Scene, ...]) -> list[tuple[float, Plot]]:
    """The ways on from a plot whose next step is no event, with their probabilities."""
    step, rest = plot.agenda[0], plot.agenda[1:]
    if isinstance(step, Maybe):
        taken = plot._replace(agenda=step.steps + rest)
        return [(step.probability, taken), (1 - step.probability, plot._replace(agenda=rest))]
    if isinstance(step, Either):
        return [(weight, plot._replace(agenda=steps + rest)) for weight, steps in step.alternatives]
    if isinstance(step, AnyOrder):
        return _branch_any_order(plot, step, rest)
    if isinstance(step, Again):
        once = plot._replace(agenda=step.steps + rest)
        if step.most <= 1:
            return [(1.0, once)]
        more = Maybe(step.probability, (Again(step.probability, step.most - 1, step.steps),))
        return [(1.0, plot._replace(agenda=(*step.steps, more, *rest)))]
    if isinstance(step, Pick):
        return _branch_pick(plot, step, rest)
    if isinstance(step, When):
        return [
            (1.0, plot._replace(agenda=(step.steps if step.fact in plot.facts else step.otherwise) + rest))
        ]
    if isinstance(step, Detour):
        return _branch_detour(plot, step, rest, library)
    if isinstance(step, Reaction):
        return _branch_reaction(plot, step, rest)
    raise AssertionError("an event is not branched but told")


def _branch_any_order(plot: Plot, step: AnyOrder, rest: Steps) -> list[tuple[float, Plot]]:
    if len(step.parts) == 1:
        return [(1.0, plot._replace(agenda=step.parts[0] + rest))]
    branches = []
    for index, part in enumerate(step.parts):
        others = AnyOrder(step.parts[:index] + step.parts[index + 1 :])
        branches.append((1 / len(step.parts), plot._replace(agenda=(*part, others, *rest))))
    return branches


def _branch_pick(plot: Plot, step: Pick, rest: Steps) -> list[tuple[float, Plot]]:
    barred = [plot.resolve(role) for role in step.but]
    roles = [role for role in (plot.resolve(name) for name in step.among) if role not in barred]
    return [
        (1 / len(roles), plot._replace(agenda=rest, registers={**plot.registers, step.register: role}))
        for role in roles
    ]


def _branch_detour(
    plot: Plot, step: Detour, rest: Steps, library: tuple[Scene, ...]
) -> list[tuple[float, Plot]]:
    scenes = [scene for scene in library if step.where in scene.where and scene not in plot.scenes]
    on = (1 - step.probability if scenes else 1.0, plot._replace(agenda=rest))
    return [on] + [
        (
            step.probability / len(scenes),
            plot._replace(agenda=scene.steps + rest, scenes=(*plot.scenes, scene)),
        )
        for scene in scenes
    ]


def _branch_reaction(plot: Plot, step: Reaction, rest: Steps) -> list[tuple[float, Plot]]:
    people = [role for role in step.people if role in plot.mentioned]
    things = [role for role in step.things if role in plot.mentioned]
    ways: list[tuple[Event, dict[str, str]]] = []
    for someone in people:
        ways.append((FEELING, {"someone": someone}))
        ways += [(LOOKING, {"someone": someone, "something": thing}) for thing in things]
        ways += [(MEETING, {"someone": someone, "other": other}) for other in people if other != someone]
    on = (1 - step.probability if ways else 1.0, plot._replace(agenda=rest))
    share = step.probability / len(ways) if ways else 0.0
    return [on] + [
        (share, plot._replace(agenda=(way, *rest), registers={**plot.registers, **pointed}))
        for way, pointed in ways
    ]


def draw_event(plot: Plot, library: tuple[Scene, ...], random: Random) -> Plot | None:
    """Take branches by chance until an event is next; nothing when the script is over."""
    while plot.agenda and not isinstance(plot.agenda[0], Event):
        plot = choose_weighted(branch(plot, library), random)
    return plot if plot.agenda else None


def enumerate_events(
    plot: Plot, library: tuple[Scene, ...], probability: float = 1.0
) -> Iterator[tuple[float, Plot]]:
    """All plots in which an event is next, with their probabilities (they miss what the end of the story has)."""
    if not plot.agenda:
        return
    if isinstance(plot.agenda[0], Event):
        yield probability, plot
        return
    for share, onward in branch(plot, library):
        if share > 0:
            yield from enumerate_events(onward, library, probability * share)
