"""Scripts: scenario files as trees of lines, out of which the events of a story are drawn (``docs/formats.md``).

A line is a step: an event to be told, or a choice among the lines that are indented below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import TypeAlias

from entitynlm.stories.cast import Role
from entitynlm.stories.lexicon import STORY_FILES, choose_weighted

_EVENT = re.compile(r"- +(?:\[([^\]]*)\] +)?(.+)")
_ROLE = re.compile(r"(\w+): *(\w+) *([^,]*)((?:,.*)?)")


@dataclass(frozen=True, eq=False)
class StoryEvent:
    """One sentence's worth of happening, with the ways of saying it.

    :param speaker: the role that says what stands between quotation marks (I and me there).
    :param hearer: the role that is spoken to (you there).
    :param clear: whether the script tells who is meant even where a pronoun alone would fit two people.
    """

    wordings: tuple[str, ...]
    speaker: str | None = None
    hearer: str | None = None
    clear: bool = False


@dataclass(eq=False)
class ScriptLine:
    """A line of a scenario file with the lines that are indented below it; ``event`` is what a line with - tells."""

    text: str
    indent: int = 0
    children: list[ScriptLine] = field(default_factory=list)
    event: StoryEvent | None = None


Steps: TypeAlias = tuple[ScriptLine, ...]


@dataclass(frozen=True, eq=False)
class Scenario:
    """A script with its cast."""

    name: str
    roles: tuple[Role, ...]
    steps: Steps


def draw_events(steps: Sequence[ScriptLine], random: Random) -> Iterator[StoryEvent]:
    """Draw the events of one story, in their order."""
    for line in steps:
        below = list(line.children)
        match line.text.split():
            case ["-", *_]:
                assert line.event is not None
                yield line.event
                below = []
            case ["maybe", chance] if random.random() >= float(chance):
                below = []
            case ["either", *weights]:
                shares = [float(weight) for weight in weights] or [1.0] * len(below)
                below = [choose_weighted(list(zip(shares, below, strict=True)), random)]
            case ["any", "order"]:
                below.sort(key=lambda _: random.random())
        yield from draw_events(below, random)


@cache
def load_scenarios() -> tuple[Scenario, ...]:
    """Load the scenarios in the order of their names."""
    paths = sorted((STORY_FILES / "scenarios").glob("*.txt"))
    return tuple(read_scenario(path.stem, read_lines(path)) for path in paths)


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


def read_scenario(name: str, lines: Sequence[ScriptLine]) -> Scenario:
    """Read the sections of one scenario: its roles, parts that are used by name, and the story."""
    roles, *sections = lines
    parts: dict[str, Steps] = {}
    for section in sections:
        parts[section.text.removeprefix("part ")] = _prepare_lines(section.children, parts)
    return Scenario(name, tuple(read_role(child.text) for child in roles.children), parts["story"])


def _prepare_lines(lines: Sequence[ScriptLine], parts: Mapping[str, Steps]) -> Steps:
    """Read events, and put parts where ``do`` names them."""
    found: list[ScriptLine] = []
    for line in lines:
        keyword = line.text.split()[0]
        if keyword == "-":
            line.event = read_event(line)
        elif keyword == "do":
            line = ScriptLine("steps", children=list(parts[line.text.split()[1]]))
        elif keyword in ("maybe", "either", "any", "steps"):
            line = ScriptLine(line.text, children=list(_prepare_lines(line.children, parts)))
        else:
            raise ValueError(f"no step of a scenario: {line.text}")
        found.append(line)
    return tuple(found)


def read_event(line: ScriptLine) -> StoryEvent:
    """Read an event such as ``- [clear] {waiter} brought {bill} .`` with other wordings below it."""
    head = _EVENT.fullmatch(line.text)
    assert head is not None, line.text
    wordings = (head[2], *(child.text.removeprefix("or ").strip() for child in line.children))
    match (head[1] or "").split():
        case [speaker, "to", hearer]:
            return StoryEvent(wordings, speaker, hearer, clear=True)
        case flags:
            return StoryEvent(wordings, clear=flags == ["clear"])


def read_role(text: str) -> Role:
    """Read a role such as ``bike: thing bike/bicycle, owner rider, adjectives old new; red blue``."""
    head = _ROLE.fullmatch(text)
    assert head is not None, text
    key, kind, listed, rest = head.groups()
    fields = dict((f"{entry.strip()} ").split(" ", 1) for entry in rest.split(",")[1:])
    nouns = () if kind == "group" else tuple(listed.split())
    if kind == "time":
        nouns = tuple("_".join(phrase.split()) for phrase in listed.split("/"))
    owner, _, always = fields.get("owner", "").strip().partition(" ")
    named = "named" in fields
    default = "own" if owner else "bare" if kind == "time" else "name" if named else "a"
    return Role(
        key,
        "person" if kind == "group" else kind,
        nouns,
        adjectives=tuple(tuple(group.split()) for group in fields.get("adjectives", "").split(";") if group),
        named=named,
        owner=owner or None,
        bound=always == "always" or (kind == "person" and owner != ""),
        modifiers=tuple(part.strip() for part in fields.get("modifiers", "").split(";") if part),
        intro=fields.get("intro", default).strip(),
        counts=tuple(fields.get("counts", "").split()),
        members=tuple(listed.split()) if kind == "group" else (),
        gender="" if kind == "person" or named else "n",
    )
