"""Scripts: scenario files as trees of lines, and where in such a script a story stands (``docs/formats.md``).

A line is a step: an event to be told, or a choice among the lines that are indented below it. :func:`draw_event` draws choices
until an event is next.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeAlias

from entitynlm.stories.cast import Role
from entitynlm.stories.lexicon import STORY_FILES, choose, choose_weighted

_EVENT = re.compile(r"- +(?:\[([^\]]*)\] +)?(.+)")
_ROLE = re.compile(r"(\w+): *(\w+) *([^,]*)((?:,.*)?)")


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
    speaker: str | None
    hearer: str | None
    linked: bool
    clear: bool
    sets: tuple[tuple[str, str], ...]
    gains: tuple[tuple[str, str], ...]
    learns: tuple[str, ...]


@dataclass(eq=False)
class ScriptLine:
    """A line of a scenario file with the lines that are indented below it; ``event`` is what a line with - tells."""

    text: str
    indent: int = 0
    children: list[ScriptLine] = field(default_factory=list)
    event: StoryEvent | None = None

    def __post_init__(self) -> None:
        self.words = self.text.split()


Steps: TypeAlias = tuple[ScriptLine, ...]


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
        """The event of the next step, which must be one."""
        event = self.agenda[0].event
        assert event is not None
        return event

    def resolve(self, role: str) -> str:
        """Return the role itself, or the one that a register of this name points to."""
        return self.registers.get(role, role)

    def go_on(self, *steps: ScriptLine, **registers: str) -> ScriptState:
        """Put these steps in the place of the next one, and point registers to roles."""
        return self._replace(agenda=steps + self.agenda[1:], registers={**self.registers, **registers})

    def pass_event(self, mentioned: Iterable[str]) -> ScriptState:
        """Go on after the next event, which mentioned these roles."""
        pointed = {register: self.resolve(role) for register, role in self.event.sets}
        facts, known = self.facts.union(self.event.learns), self.mentioned.union(mentioned)
        return self.go_on(**pointed)._replace(facts=facts, mentioned=known)


def draw_event(state: ScriptState, random: Random) -> ScriptState | None:
    """Draw ways on until an event is next; none when the script is over."""
    while state.agenda and state.agenda[0].event is None:
        state = _draw_way(state, random)
    return state if state.agenda else None


def _draw_way(state: ScriptState, random: Random) -> ScriptState:
    """Draw one way on from a state whose next step is no event."""
    line = state.agenda[0]
    below = line.children
    match line.words:
        case ["steps"]:
            return state.go_on(*below)
        case ["maybe", chance]:
            return state.go_on(*(below if random.random() < float(chance) else ()))
        case ["again", chance, "most", most]:
            rest = ScriptLine(f"again {chance} most {int(most) - 1}", children=below)
            more = [ScriptLine(f"maybe {chance}", children=[rest])] if int(most) > 1 else []
            return state.go_on(*choose([(*below, *more)], random))  # one way only, drawn like all others
        case ["either", *weights]:
            shares = [float(weight) for weight in weights] or [1.0] * len(below)
            return state.go_on(choose_weighted(list(zip(shares, below, strict=True)), random))
        case ["any", "order"]:
            part = choose(below, random)
            others = [other for other in below if other is not part]
            return state.go_on(part, *([ScriptLine(line.text, children=others)] if others else []))
        case ["when", fact]:
            return state.go_on(*(below if fact in state.facts else ()))
        case ["unless", fact]:
            return state.go_on(*(() if fact in state.facts else below))
        case ["pick", register, "among", *roles]:
            among, but = _split_at(roles, "but")
            barred = [state.resolve(role) for role in but]
            open_to = [role for role in map(state.resolve, among) if role not in barred]
            return state.go_on(**{register: choose(open_to, random)})
        case ["detour", chance, where]:
            scenes = [
                scene for scene in load_detours() if where in scene.where and scene not in state.detours
            ]
            ways = [state.go_on(*scene.steps)._replace(detours=(*state.detours, scene)) for scene in scenes]
        case ["react", chance, *roles]:
            ways = _list_reactions(state, *_split_at(roles, "/"))
        case _:
            raise ValueError(f"no step of a scenario: {line.text}")
    return choose(ways, random) if ways and random.random() < float(chance) else state.go_on()


def _list_reactions(state: ScriptState, people: Sequence[str], things: Sequence[str]) -> list[ScriptState]:
    """List all reactions of the people who were mentioned: alone, to something and to someone else."""
    people = [role for role in people if role in state.mentioned]
    things = [role for role in things if role in state.mentioned]
    feeling, looking, meeting = load_reactions()
    ways: list[ScriptState] = []
    for someone in people:
        ways.append(state.go_on(feeling, someone=someone))
        ways += [state.go_on(looking, someone=someone, something=thing) for thing in things]
        others = [other for other in people if other != someone]
        ways += [state.go_on(meeting, someone=someone, other=other) for other in others]
    return ways


def _split_at(words: Sequence[str], mark: str) -> tuple[Sequence[str], Sequence[str]]:
    """Split words before and after a mark, which may be missing."""
    place = words.index(mark) if mark in words else len(words)
    return words[:place], words[place + 1 :]


@cache
def load_scenarios() -> tuple[Scenario, ...]:
    """Load the scenarios in the order of their names."""
    paths = sorted((STORY_FILES / "scenarios").glob("*.txt"))
    return tuple(read_scenario(path.stem, read_lines(path)) for path in paths)


@cache
def load_detours() -> tuple[Scenario, ...]:
    """Load the small scenes that can happen to the hero of any scenario."""
    scenes = []
    for line in read_lines(STORY_FILES / "detours.txt"):
        name, _, where = line.text.removeprefix("scene ").partition(":")
        scenes.append(read_scenario(name, line.children, tuple(where.split())))
    return tuple(scenes)


@cache
def load_reactions() -> tuple[ScriptLine, ...]:
    """Load what someone may do alone, to something and to someone else, in any scenario."""
    parts = read_lines(STORY_FILES / "reactions.txt")
    return tuple(_prepare_lines(part.children, {}, "")[0] for part in parts)


def read_lines(path: Path) -> list[ScriptLine]:
    """Read the lines at the left margin; empty lines and comments, which begin with #, are left out."""
    ancestors = [ScriptLine("", -1)]
    for raw in path.read_text(encoding="utf-8").splitlines():
        line = ScriptLine(raw.strip(), len(raw) - len(raw.lstrip()))
        if line.text and not line.text.startswith("#"):
            while ancestors[-1].indent >= line.indent:
                ancestors.pop()
            ancestors[-1].children.append(line)
            ancestors.append(line)
    return ancestors[0].children


def read_scenario(name: str, lines: Sequence[ScriptLine], where: tuple[str, ...] = ()) -> Scenario:
    """Read the sections of one scenario or detour."""
    fields: dict[str, str] = {}
    parts: dict[str, Steps] = {}
    roles: tuple[Role, ...] = ()
    steps: Steps = ()
    for line in lines:
        default = f"{fields.get('people', '')} / {fields.get('things', '')}"
        match line.words:
            case ["roles"]:
                roles = tuple(read_role(child.text) for child in line.children)
            case ["part", part]:
                parts[part] = _prepare_lines(line.children, parts, default)
            case ["story"]:
                steps = _prepare_lines(line.children, parts, default)
            case [field_name, *values]:
                fields[field_name] = " ".join(values)
    return Scenario(name, fields.get("hero", ""), roles, steps, float(fields.get("narrated", 0.25)), where)


def _prepare_lines(lines: Sequence[ScriptLine], parts: Mapping[str, Steps], default: str) -> Steps:
    """Read events, put parts where ``do`` names them, say who reacts, and make ``otherwise`` an ``unless``."""
    found: list[ScriptLine] = []
    for line in lines:
        if line.words[0] == "-":
            line.event = read_event(line)
        elif line.words[0] == "do":
            line = ScriptLine("steps", children=list(parts[line.words[1]]))
        elif line.words[0] == "react" and len(line.words) == 2:
            line = ScriptLine(f"{line.text} {default}")
        else:
            text = f"unless {found[-1].words[1]}" if line.text == "otherwise" else line.text
            line = ScriptLine(text, children=list(_prepare_lines(line.children, parts, default)))
        found.append(line)
    return tuple(found)


def read_event(line: ScriptLine) -> StoryEvent:
    """Read an event such as ``- [clear] {waiter} brought {bill} .`` with other wordings below it."""
    head = _EVENT.fullmatch(line.text)
    assert head is not None, line.text
    speaker, hearer, linked, clear = None, None, True, None
    sets, gains, learns = [], [], []
    for flag in head[1].split(",") if head[1] else ():
        match flag.split():
            case ["unlinked"]:
                linked = False
            case [("clear" | "unclear") as word]:
                clear = word == "clear"
            case [first, "to", second]:
                speaker, hearer = first, second
            case [register, "is", target]:
                sets.append((register, target))
            case [target, "becomes", adjective]:
                gains.append((target, adjective))
            case ["learn", fact]:
                learns.append(fact)
    return StoryEvent(
        (head[2], *(child.text.removeprefix("or ").strip() for child in line.children)),
        speaker,
        hearer,
        linked=linked and speaker is None,
        clear=speaker is not None if clear is None else clear,
        sets=tuple(sets),
        gains=tuple(gains),
        learns=tuple(learns),
    )


def read_role(text: str) -> Role:
    """Read a role such as ``bike: thing bike/bicycle, owner rider, adjectives old new; red blue``."""
    head = _ROLE.fullmatch(text)
    assert head is not None, text
    key, kind, listed, rest = head.groups()
    fields = dict((f"{entry.strip()} ").split(" ", 1) for entry in rest.split(",")[1:])
    nouns = tuple((fields.get("noun", "") if kind == "group" else listed).split())
    if kind == "time":
        nouns = tuple("_".join(phrase.split()) for phrase in listed.split("/"))
    owner, _, always = fields.get("owner", "").strip().partition(" ")
    default = "own" if owner else "bare" if kind == "time" else "a"
    if kind == "person" and not owner and fields.keys() & {"named", "title"}:
        default = "name"
    return Role(
        key,
        "person" if kind == "group" else kind,
        nouns,
        adjectives=tuple(tuple(group.split()) for group in fields.get("adjectives", "").split(";") if group),
        named="named" in fields,
        title="title" in fields,
        owner=owner or None,
        bound=always == "always" or (kind == "person" and owner != "" and not always),
        modifiers=tuple(part.strip() for part in fields.get("modifiers", "").split(";") if part),
        intro=fields.get("intro", default).strip(),
        counts=tuple(fields.get("counts", "").split()),
        members=tuple(listed.split()) if kind == "group" else (),
        gender=fields.get("gender", "" if kind == "person" or "named" in fields else "n").strip(),
    )
