"""Scripts: what can come next and how likely; the scenario files of the package name roles that exist and use all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from entitynlm.stories.cast import StoryCast
from entitynlm.stories.script import (
    Scenario,
    ScriptLine,
    ScriptState,
    StoryEvent,
    draw_event,
    load_detours,
    load_reactions,
    load_scenarios,
    read_lines,
    read_role,
    read_scenario,
)
from entitynlm.stories.templates import SLOT
from support.seeded import make_random

DRAWS = 2000
ERROR = 0.045  # four standard errors of 2,000 draws at a half
STORIES = [*load_scenarios(), *load_detours()]
EVERYWHERE = {"hero", "someone", "something", "other"}


def start(script: str, folder: Path, **registers: str) -> ScriptState:
    """The state before the first step of a story that is written as text."""
    path = folder / "script.txt"
    path.write_text("people x y\nthings t\nstory\n" + script)
    return ScriptState(read_scenario("test", read_lines(path)).steps, registers)


def draw_often(state: ScriptState) -> list[ScriptState]:
    """Draw the state at the next event many times."""
    random = make_random(1, 1)
    drawn = [draw_event(state, random) for _ in range(DRAWS)]
    return [state for state in drawn if state is not None]


def list_next(state: ScriptState) -> dict[str, float]:
    """Estimate the probabilities of what can come next, by the first words of events."""
    counts = Counter(drawn.event.wordings[0].split()[0] for drawn in draw_often(state))
    return {event: count / DRAWS for event, count in counts.items()}


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (" maybe 0.3\n  - A .\n maybe 0.5\n  - B .\n - C .", {"A": 0.3, "B": 0.35, "C": 0.35}),
        (" either 1 3\n  - A .\n  steps\n   - B .\n   - C .", {"A": 0.25, "B": 0.75}),
        (" any order\n  - A .\n  - B .\n  - C .", {"A": 1 / 3, "B": 1 / 3, "C": 1 / 3}),
        (" again 0.4 most 2\n  - A .\n - B .", {"A": 1.0}),
        (" when seen\n  - B .\n otherwise\n  - C .", {"C": 1.0}),
        (" unless seen\n  - B .\n - C .", {"B": 1.0}),
        (" react 0.5\n - C .", {"C": 1.0}),
    ],
)
def test_steps_have_their_probabilities(script: str, expected: dict[str, float], tmp_path: Path) -> None:
    assert list_next(start(script, tmp_path)) == pytest.approx(expected, abs=ERROR)


def tell(state: ScriptState | None) -> str:
    """The first words of all events of one story."""
    random = make_random(1, 1)
    seen = ""
    while state is not None and (state := draw_event(state, random)) is not None:
        seen += state.event.wordings[0].split()[0]
        state = state.pass_event(())
    return seen


def test_parts_in_any_order_all_happen_once_and_repetition_ends_at_its_limit(tmp_path: Path) -> None:
    assert sorted(tell(start(" any order\n  - A .\n  - B .\n  - C .", tmp_path))) == ["A", "B", "C"]
    assert tell(start(" again 1 most 3\n  - A .\n  - B .\n - C .", tmp_path)) == "ABABABC"


def test_registers_point_to_whom_they_are_set_and_leave_out_whom_they_should(tmp_path: Path) -> None:
    script = (
        " pick catcher among x y z but holder\n - [holder is catcher, learn seen] A .\n when seen\n  - B ."
    )
    drawn = draw_often(start(script, tmp_path, holder="y"))
    assert {state.resolve("catcher") for state in drawn} == {"x", "z"}
    after = drawn[0].pass_event(())
    assert after.resolve("holder") == drawn[0].resolve("catcher")
    assert after.resolve("baker") == "baker"
    assert tell(after) == "B"


def test_a_detour_fits_its_place_and_happens_once(tmp_path: Path) -> None:
    state = start(" detour 1 home\n - C .", tmp_path)
    scenes = {drawn.detours[-1] for drawn in draw_often(state)}
    assert scenes == {scene for scene in load_detours() if "home" in scene.where}
    taken = next(iter(scenes))
    later = draw_often(state._replace(detours=(taken,)))
    assert {drawn.detours[-1] for drawn in later} == scenes - {taken}


def walk(lines: Iterable[ScriptLine]) -> Iterator[ScriptLine]:
    for line in lines:
        yield line
        yield from walk(line.children)


def roles_of(event: StoryEvent) -> set[str]:
    spoken = {role for role in (event.speaker, event.hearer) if role}
    return spoken | {slot[1] for wording in event.wordings for slot in SLOT.finditer(wording)}


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_wordings_name_roles_that_exist_and_roles_are_used(story: Scenario) -> None:
    roles = {role.key: role for role in story.roles}
    lines = list(walk(story.steps))
    events = [line.event for line in lines if line.event is not None]
    picks = [line.words for line in lines if line.words[0] == "pick"]
    registers = {words[1] for words in picks} | {name for event in events for name, _ in event.sets}
    used = set().union(*map(roles_of, events))
    assert used <= roles.keys() | registers | EVERYWHERE
    used |= {name for words in picks for name in words[3:]}
    for role in roles.values():
        used |= {*role.members, *(modifier.split("{")[1].strip("}") for modifier in role.modifiers)}
        used |= {role.owner or ""}
    assert roles.keys() - used == set()
    cast = StoryCast(story.roles, None, make_random(1, 1))
    assert all(cast[key].nouns or cast[key].name or roles[key].members for key in roles)
    assert all(wording.endswith((" .", " !", " ?")) for event in events for wording in event.wordings)


def test_there_are_six_scenarios_and_three_reactions() -> None:
    names = [scenario.name for scenario in load_scenarios()]
    assert names == ["baking", "football", "mystery", "pet", "restaurant", "train"]
    events = [line.event for line in load_reactions()]
    assert [roles_of(event) for event in events if event] == [
        {"someone"},
        {"someone", "something"},
        {"someone", "other"},
    ]


def test_every_field_of_a_role_is_read() -> None:
    role = read_role(
        "pet: animal dog/hound, named, owner boy always, adjectives old !new; red, modifiers of {b}"
    )
    assert (role.key, role.type, role.nouns, role.named) == ("pet", "animal", ("dog/hound",), True)
    assert (role.owner, role.bound, role.intro) == ("boy", True, "own")
    assert role.adjectives == (("old", "!new"), ("red",))
    assert role.modifiers == ("of {b}",)
    team = read_role("team: group boy girl, noun players")
    assert (team.members, team.nouns, team.type) == (("boy", "girl"), ("players",), "person")
    assert read_role("day: time Sunday / the end of May").nouns == ("Sunday", "the_end_of_May")
    assert read_role("lady: person, title, gender f").intro == "name"
    assert read_role("eggs: thing eggs, counts two three, intro count").counts == ("two", "three")
