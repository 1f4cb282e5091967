"""Reader of the package's scenario files: the roles and the script of a story, by indentation (``docs/stories.md``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from entitynlm.stories.cast import Role
from entitynlm.stories.lexicon import RESOURCES
from entitynlm.stories.script import (
    AnyOrder,
    Detour,
    Either,
    Pick,
    Reaction,
    Scenario,
    Steps,
    StoryEvent,
    When,
    again,
    maybe,
)

_EVENT = re.compile(r"- +(?:\[([^\]]*)\] +)?(.+)")
_ROLE = re.compile(r"(\w+): *(\w+) *([^,]*)((?:,.*)?)")


@cache
def load_scenarios() -> tuple[Scenario, ...]:
    """Load the scenarios in the order of their names."""
    paths = sorted((RESOURCES / "scenarios").glob("*.txt"))
    return tuple(_ScriptReader(read_lines(path)).make_scenario(path.stem) for path in paths)


@cache
def load_detours() -> tuple[Scenario, ...]:
    """Load the small scenes that can happen to the hero of any scenario."""
    scenes = []
    for line in read_lines(RESOURCES / "detours.txt"):
        name, _, where = line.text.removeprefix("scene ").partition(":")
        scenes.append(_ScriptReader(line.children).make_scenario(name, tuple(where.split())))
    return tuple(scenes)


@cache
def load_reactions() -> tuple[StoryEvent, StoryEvent, StoryEvent]:
    """Load what someone may do alone, to something and to someone else, in any scenario."""
    feeling, looking, meeting = _ScriptReader(read_lines(RESOURCES / "reactions.txt")).events
    return feeling, looking, meeting


@dataclass
class ScriptLine:
    """A line of a scenario file with the lines that are indented below it."""

    text: str
    indent: int
    children: list[ScriptLine] = field(default_factory=list)


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


class _ScriptReader:
    """The sections of one scenario or detour."""

    def __init__(self, lines: Sequence[ScriptLine]) -> None:
        self.hero, self.narrated = "", 0.25
        self.people: tuple[str, ...] = ()
        self.things: tuple[str, ...] = ()
        self.roles: list[Role] = []
        self.steps: Steps = ()
        self.events: list[StoryEvent] = []
        self.parts: dict[str, Steps] = {}
        for line in lines:
            self.read_section(line)

    def make_scenario(self, name: str, where: tuple[str, ...] = ()) -> Scenario:
        return Scenario(name, self.hero, tuple(self.roles), self.steps, self.narrated, where)

    def read_section(self, line: ScriptLine) -> None:
        match line.text.split():
            case ["hero", hero]:
                self.hero = hero
            case ["narrated", probability]:
                self.narrated = float(probability)
            case ["people", *roles]:
                self.people = tuple(roles)
            case ["things", *roles]:
                self.things = tuple(roles)
            case ["roles"]:
                self.roles = [read_role(child.text) for child in line.children]
            case ["part", name]:
                self.parts[name] = self.read_steps(line.children)
            case ["story"]:
                self.steps = self.read_steps(line.children)
            case _:
                raise ValueError(f"no section of a scenario: {line.text}")

    def read_steps(self, lines: Sequence[ScriptLine]) -> Steps:
        return tuple(step for alternative in self.read_each(lines) for step in alternative)

    def read_each(self, lines: Sequence[ScriptLine]) -> list[Steps]:
        """Read the steps of each line; ``otherwise`` belongs to the ``when`` before it."""
        found: list[Steps] = []
        for line in lines:
            if line.text == "otherwise":
                (when,) = found.pop()
                assert isinstance(when, When)
                found.append((When(when.fact, when.steps, self.read_steps(line.children)),))
            else:
                found.append(self.read_step(line))
        return found

    def read_step(self, line: ScriptLine) -> Steps:
        """Read the step of a line; several where the line stands for a part."""
        match line.text.split():
            case ["-", *_]:
                return (self.read_event(line),)
            case ["do", name]:
                return self.parts[name]
            case ["steps"]:
                return self.read_steps(line.children)
            case ["maybe", probability]:
                return (maybe(float(probability), self.read_steps(line.children)),)
            case ["again", probability, "most", most]:
                return (again(float(probability), int(most), self.read_steps(line.children)),)
            case ["either", *weights]:
                alternatives = self.read_each(line.children)
                shares = [float(weight) for weight in weights] or [1.0] * len(alternatives)
                return (Either(tuple(zip(shares, alternatives, strict=True))),)
            case ["any", "order"]:
                return (AnyOrder(tuple(self.read_each(line.children))),)
            case ["when", fact]:
                return (When(fact, self.read_steps(line.children)),)
            case ["unless", fact]:
                return (When(fact, (), self.read_steps(line.children)),)
            case ["pick", register, "among", *roles]:
                return (Pick(register, *_split_at(roles, "but")),)
            case ["detour", probability, where]:
                return (Detour(float(probability), where),)
            case ["react", probability, *roles]:
                people, things = _split_at(roles, "/") if roles else (self.people, self.things)
                return (Reaction(float(probability), people, things, *load_reactions()),)
        raise ValueError(f"no step of a scenario: {line.text}")

    def read_event(self, line: ScriptLine) -> StoryEvent:
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
        event = StoryEvent(
            (head[2], *(child.text.removeprefix("or ").strip() for child in line.children)),
            speaker,
            hearer,
            linked=linked and speaker is None,
            clear=speaker is not None if clear is None else clear,
            sets=tuple(sets),
            gains=tuple(gains),
            learns=tuple(learns),
        )
        self.events.append(event)
        return event


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


def _split_at(words: Sequence[str], mark: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split words before and after a mark, which may be missing."""
    place = words.index(mark) if mark in words else len(words)
    return tuple(words[:place]), tuple(words[place + 1 :])
