"""Reader of scenario files: the roles and the script of a story, as text that needs no programmer (``docs/stories.md``).

A file is read into a tree of lines by their indentation; then every line is checked against what may stand there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from entitynlm.errors import DataError
from entitynlm.files import decode_lines, open_binary
from entitynlm.text.stories.cast import Role, T
from entitynlm.text.stories.lexicon import RESOURCES, look_up
from entitynlm.text.stories.script import (
    AnyOrder,
    Detour,
    Either,
    Pick,
    Reaction,
    Scenario,
    Scene,
    Steps,
    StoryEvent,
    When,
    again,
    maybe,
)
from entitynlm.text.stories.templates import SLOT, compile_event

KINDS = ("person", "animal", "thing", "place", "event", "time", "group")
INTROS = ("a", "the", "own", "name", "bare", "count", "kind")
PLACES = ("street", "inside", "home", "nature")
ROLE_FIELDS = ("noun", "named", "title", "gender", "owner", "adjectives", "counts", "modifiers", "intro")
FLAGS = "unlinked, clear, unclear, X to Y, X is Y, X becomes Y or learn X"
STEPS = (
    "- WORDING, maybe P, either WEIGHTS, any order, again P most N, pick X among Y but Z, when X, unless X, "
    f"detour P PLACE (of {', '.join(PLACES)}), react P, steps or do PART"
)
_EVENT = re.compile(r"- +(?:\[([^\]]*)\] +)?(.+)")
_ROLE = re.compile(r"(\w+): *(\w+) *([^,]*)((?:,.*)?)")
_MODIFIER = re.compile(r"(!?\w+) \{(\w+)\}")


@cache
def load_scenarios() -> tuple[Scenario, ...]:
    """The scenarios that the package carries, in the order of their names."""
    return tuple(_ScriptReader(path).scenario for path in sorted((RESOURCES / "scenarios").glob("*.txt")))


@cache
def load_detours() -> tuple[Scene, ...]:
    scenes = []
    for line in _read_lines(RESOURCES / "detours.txt"):
        keyword, _, rest = line.text.partition(" ")
        name, _, where = rest.partition(":")
        places = tuple(where.split())
        line.demand(keyword == "scene" and places and set(places) <= set(PLACES), "scene NAME: PLACES")
        script = _ScriptReader(Path(name), line.children)
        scenes.append(Scene(name, tuple(script.roles.values()), script.steps, places))
    return tuple(scenes)


@cache
def load_reactions() -> tuple[StoryEvent, StoryEvent, StoryEvent]:
    """What someone may do alone, to something and to someone else, in any scenario."""
    feeling, looking, meeting = _ScriptReader(RESOURCES / "reactions.txt").events
    return feeling, looking, meeting


def read_scenario(path: str | Path) -> Scenario:
    """A scenario from a file of your own; every wording is compiled now, so that no mistake is left for later."""
    script = _ScriptReader(Path(path))
    for event in script.events:
        compile_event(event)
    return script.scenario


@dataclass
class ScriptLine:
    """A line of a scenario file with the lines that are indented below it."""

    path: str
    number: int
    text: str
    indent: int
    children: list[ScriptLine] = field(default_factory=list)

    def demand(self, found: T | None, expected: str, message: str = "this line can't be read") -> T:
        """What was found; the line is refused if that is nothing."""
        if not found:
            raise DataError(message, path=self.path, line=self.number, found=self.text, expected=expected)
        return found

    def parse_probability(self, text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        self.demand(0 <= value <= 1, f"a probability between 0 and 1 instead of {text!r}")
        return value

    def check_word(self, form: str) -> None:
        try:
            look_up(form.lstrip("!"))
        except KeyError as error:
            self.demand(False, "adjectives, numbers and prepositions of the lexicon", str(error.args[0]))


def _read_lines(path: Path) -> list[ScriptLine]:
    """The lines at the left margin; empty lines and comments, which begin with #, are left out."""
    name = str(path)
    ancestors = [ScriptLine(name, 0, "", -1)]
    with open_binary(path) as stream:
        for number, raw in decode_lines(stream, name):
            text = raw.strip()
            if not text or text.startswith("#"):
                continue
            line = ScriptLine(name, number, text, len(raw) - len(raw.lstrip()))
            line.demand("\t" not in raw, "spaces instead of the tab")
            while ancestors[-1].indent >= line.indent:
                ancestors.pop()
            siblings = ancestors[-1].children
            if siblings:
                line.demand(line.indent == siblings[0].indent, f"{siblings[0].indent} spaces before the text")
            siblings.append(line)
            ancestors.append(line)
    return ancestors[0].children


class _ScriptReader:
    """The sections of one scenario or detour; that mentioned roles exist is checked when all of it has been read."""

    def __init__(self, path: Path, lines: Sequence[ScriptLine] | None = None) -> None:
        self.path, self.hero, self.narrated = path, "", 0.25
        self.people: tuple[str, ...] = ()
        self.things: tuple[str, ...] = ()
        self.roles: dict[str, Role] = {}
        self.steps: Steps = ()
        self.events: list[StoryEvent] = []
        self.parts: dict[str, Steps] = {}
        self.registers = {"hero", "someone", "something", "other"}
        self.references: list[tuple[ScriptLine, str]] = []
        for line in _read_lines(path) if lines is None else lines:
            self.read_section(line)
        known = self.registers.union(self.roles)
        expected = f"one of the roles {', '.join(sorted(known))}"
        for line, name in self.references:
            line.demand(name in known, expected, f"there is no role {name!r}")

    @property
    def scenario(self) -> Scenario:
        if not self.hero or not self.steps:
            raise DataError("this is no scenario", path=self.path, expected="hero ROLE and a section story")
        return Scenario(self.path.stem, self.hero, tuple(self.roles.values()), self.steps, self.narrated)

    def refer(self, line: ScriptLine, names: Sequence[str]) -> tuple[str, ...]:
        """Remember that a line mentions these roles."""
        self.references += [(line, name) for name in names]
        return tuple(names)

    def read_section(self, line: ScriptLine) -> None:
        match line.text.split():
            case ["hero", hero]:
                (self.hero,) = self.refer(line, [hero])
            case ["narrated", probability]:
                self.narrated = line.parse_probability(probability)
            case ["people", *roles]:
                self.people = self.refer(line, roles)
            case ["things", *roles]:
                self.things = self.refer(line, roles)
            case ["roles"]:
                for child in line.children:
                    role = self.read_role(child)
                    child.demand(role.key not in self.roles, f"one role {role.key!r} only")
                    self.roles[role.key] = role
            case ["part", name]:
                self.parts[name] = self.read_steps(line.children)
            case ["story"]:
                self.steps = self.read_steps(line.children)
            case _:
                line.demand(False, "hero, narrated, people, things, roles, part or story")

    def read_role(self, line: ScriptLine) -> Role:
        """A role such as ``bike: thing bike/bicycle, owner rider, adjectives old new; red blue``."""
        expected = f"ROLE: KIND NOUNS, where the kind is {', '.join(KINDS)}"
        head = line.demand(_ROLE.fullmatch(line.text), expected)
        kind = line.demand(head[2] if head[2] in KINDS else "", expected)
        fields: dict[str, str] = {}
        for entry in head[4].split(",")[1:]:
            name, _, value = entry.strip().partition(" ")
            line.demand(name in ROLE_FIELDS, f"{', '.join(ROLE_FIELDS)} instead of {name!r}")
            fields[name] = value.strip()
        nouns = tuple((fields.get("noun", "") if kind == "group" else head[3]).split())
        if kind == "time":
            nouns = tuple("_".join(phrase.split()) for phrase in head[3].split("/"))
        owner, _, always = fields.get("owner", "").partition(" ")
        line.demand(always in ("", "always", "sometimes"), "owner ROLE, perhaps with always or sometimes")
        default = "own" if owner else "bare" if kind == "time" else "a"
        if kind == "person" and not owner and fields.keys() & {"named", "title"}:
            default = "name"
        role = Role(
            head[1],
            "person" if kind == "group" else kind,
            nouns,
            adjectives=tuple(tuple(group.split()) for group in _split(fields.get("adjectives", ""))),
            named="named" in fields,
            title="title" in fields,
            owner=owner or None,
            bound=always == "always" or (kind == "person" and owner != "" and not always),
            modifiers=_split(fields.get("modifiers", "")),
            intro=fields.get("intro", default),
            counts=tuple(fields.get("counts", "").split()),
            members=tuple(head[3].split()) if kind == "group" else (),
            gender=fields.get("gender", "" if kind == "person" or "named" in fields else "n"),
        )
        self.check_role(line, role)
        return role

    def check_role(self, line: ScriptLine, role: Role) -> None:
        line.demand(role.intro in INTROS, f"one of {', '.join(INTROS)} instead of intro {role.intro!r}")
        line.demand(role.owner or role.intro != "own", "an owner for intro own")
        line.demand(role.gender in ("", "m", "f", "n"), f"gender m, f or n instead of {role.gender!r}")
        line.demand(role.nouns or role.members or role.named or role.title, "a noun, named or title")
        self.refer(line, [*role.members, *([role.owner] if role.owner else [])])
        for modifier in role.modifiers:
            expected = f"modifiers such as `with {{hat}}` instead of {modifier!r}"
            shape = line.demand(_MODIFIER.fullmatch(modifier), expected)
            line.check_word(shape[1])
            self.refer(line, [shape[2]])
        phrases = role.nouns if role.type == "time" else ()
        spoken = [word for phrase in phrases for word in phrase.split("_")]
        for word in (*spoken, *role.counts, *(word for group in role.adjectives for word in group)):
            line.check_word(word)

    def read_steps(self, lines: Sequence[ScriptLine]) -> Steps:
        return tuple(step for alternative in self.read_each(lines) for step in alternative)

    def read_each(self, lines: Sequence[ScriptLine]) -> list[Steps]:
        """The steps of each line; ``otherwise`` belongs to the ``when`` before it."""
        found: list[Steps] = []
        for line in lines:
            if line.text != "otherwise":
                found.append(self.read_step(line))
                continue
            last = found[-1][0] if found and found[-1] else None
            fits = isinstance(last, When) and last.steps and not last.otherwise
            when = line.demand(last if fits else None, "when FACT before otherwise")
            assert isinstance(when, When)
            found[-1] = (When(when.fact, when.steps, self.read_steps(line.children)),)
        return found

    def read_step(self, line: ScriptLine) -> Steps:
        """The step of a line; several where the line stands for a part."""
        words = line.text.split()
        if words[0] in ("maybe", "again", "either", "any", "when", "unless", "steps"):
            line.demand(line.children, "steps with more indentation below this line")
        elif words[0] in ("pick", "detour", "react", "do"):
            line.demand(not line.children, "no steps below this line")
        match words:
            case ["-", *_]:
                return (self.read_event(line),)
            case ["do", name]:
                line.demand(name in self.parts, f"one of the parts above: {', '.join(self.parts) or 'none'}")
                return self.parts[name]
            case ["steps"]:
                return self.read_steps(line.children)
            case ["maybe", probability]:
                return (maybe(line.parse_probability(probability), self.read_steps(line.children)),)
            case ["again", probability, "most", most] if most.isdecimal():
                chance = line.parse_probability(probability)
                return (again(chance, int(most), self.read_steps(line.children)),)
            case ["either", *weights]:
                return (self.read_either(line, weights),)
            case ["any", "order"]:
                return (AnyOrder(tuple(self.read_each(line.children))),)
            case ["when", fact]:
                return (When(fact, self.read_steps(line.children)),)
            case ["unless", fact]:
                return (When(fact, (), self.read_steps(line.children)),)
            case ["pick", register, "among", *roles]:
                among, but = _split_at(roles, "but")
                line.demand(len(among) > len(but), "more roles before `but` than after it")
                self.registers.add(register)
                return (Pick(register, self.refer(line, among), self.refer(line, but)),)
            case ["detour", probability, where] if where in PLACES:
                return (Detour(line.parse_probability(probability), where),)
            case ["react", probability, *roles]:
                people, things = _split_at(roles, "/") if roles else (self.people, self.things)
                people, things = self.refer(line, people), self.refer(line, things)
                return (Reaction(line.parse_probability(probability), people, things, *load_reactions()),)
        line.demand(False, STEPS)
        raise AssertionError("the line was refused")

    def read_either(self, line: ScriptLine, weights: Sequence[str]) -> Either:
        """Alternatives with their weights; without weights they are equally likely."""
        alternatives = self.read_each(line.children)
        fit = not weights or (len(weights) == len(alternatives) and all(map(str.isdecimal, weights)))
        line.demand(fit, f"{len(alternatives)} whole numbers, one for each alternative")
        shares = [int(weight) for weight in weights] or [1] * len(alternatives)
        total = max(1, sum(shares))
        return Either(
            tuple((share / total, steps) for share, steps in zip(shares, alternatives, strict=True))
        )

    def read_event(self, line: ScriptLine) -> StoryEvent:
        """An event such as ``- [clear] {waiter} brought {bill} .`` with other wordings below it."""
        head = line.demand(_EVENT.fullmatch(line.text), "- [FLAGS] WORDING")
        for child in line.children:
            child.demand(child.text.startswith("or ") and not child.children, "or WORDING")
        wordings = (head[2], *(child.text.removeprefix("or ").strip() for child in line.children))
        for child, wording in zip((line, *line.children), wordings, strict=True):
            self.refer(child, [slot[1] for slot in SLOT.finditer(wording)])
        speaker, hearer, linked, clear = None, None, True, None
        sets, gains, learns = [], [], []
        for flag in head[1].split(",") if head[1] else ():
            match flag.split():
                case ["unlinked"]:
                    linked = False
                case [("clear" | "unclear") as word]:
                    clear = word == "clear"
                case [first, "to", second]:
                    speaker, hearer = self.refer(line, [first, second])
                case [register, "is", target]:
                    self.registers.add(register)
                    self.refer(line, [target])
                    sets.append((register, target))
                case [target, "becomes", adjective]:
                    self.refer(line, [target])
                    gains.append((target, adjective))
                    if adjective != "-":
                        line.check_word(adjective)
                case ["learn", fact]:
                    learns.append(fact)
                case _:
                    line.demand(False, f"{FLAGS} instead of {flag.strip()!r}")
        event = StoryEvent(
            wordings,
            speaker,
            hearer,
            linked=linked and speaker is None,
            clear=speaker is not None if clear is None else clear,
            sets=tuple(sets),
            gains=tuple(gains),
            learns=tuple(learns),
            path=line.path,
            lines=(line.number, *(child.number for child in line.children)),
        )
        self.events.append(event)
        return event


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";")) if text else ()


def _split_at(words: Sequence[str], mark: str) -> tuple[Sequence[str], Sequence[str]]:
    """The words before and after a mark, which may be missing."""
    place = words.index(mark) if mark in words else len(words)
    return words[:place], words[place + 1 :]
