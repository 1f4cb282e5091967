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
    Steps,
    StoryEvent,
    draw_events,
    load_scenarios,
    read_lines,
    read_role,
    read_scenario,
)
from entitynlm.stories.templates import SLOT
from support.seeded import make_random

DRAWS = 2000
ERROR = 0.045  # four standard errors of 2,000 draws at a half


def read_steps(script: str, folder: Path) -> Steps:
    path = folder / "script.txt"
    path.write_text("roles\npart b\n - B .\nstory\n" + script)
    return read_scenario("test", read_lines(path)).steps


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (" maybe 0.3\n  - A .\n do b\n - C .", {"ABC": 0.3, "BC": 0.7}),
        (" either 1 3\n  - A .\n  steps\n   - B .\n   - C .", {"A": 0.25, "BC": 0.75}),
        (" any order\n  - A .\n  - B .\n - C .", {"ABC": 0.5, "BAC": 0.5}),
    ],
)
def test_stories_have_their_probabilities(script: str, expected: dict[str, float], tmp_path: Path) -> None:
    steps, random = read_steps(script, tmp_path), make_random(1, 1)
    told = Counter(
        "".join(event.wordings[0][0] for event in draw_events(steps, random)) for _ in range(DRAWS)
    )
    assert {story: count / DRAWS for story, count in told.items()} == pytest.approx(expected, abs=ERROR)


def test_a_step_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="perhaps"):
        read_steps(" perhaps 0.3\n  - A .", tmp_path)


def walk(lines: Iterable[ScriptLine]) -> Iterator[ScriptLine]:
    for line in lines:
        yield line
        yield from walk(line.children)


def roles_of(event: StoryEvent) -> set[str]:
    spoken = {role for role in (event.speaker, event.hearer) if role}
    return spoken | {slot[1] for wording in event.wordings for slot in SLOT.finditer(wording)}


@pytest.mark.parametrize("story", load_scenarios(), ids=lambda story: story.name)
def test_wordings_name_roles_that_exist_and_roles_are_used(story: Scenario) -> None:
    roles = {role.key: role for role in story.roles}
    events = [line.event for line in walk(story.steps) if line.event is not None]
    used = set().union(*map(roles_of, events))
    assert used <= roles.keys()
    for role in roles.values():
        used |= {*role.members, *(modifier.split("{")[1].strip("}") for modifier in role.modifiers)}
        used |= {role.owner or ""}
    assert roles.keys() - used == set()
    cast = StoryCast(story.roles, make_random(1, 1))
    assert all(cast[key].nouns or cast[key].name or roles[key].members for key in roles)
    assert all(wording.endswith((" .", " !", " ?")) for event in events for wording in event.wordings)


def test_every_field_of_a_role_is_read() -> None:
    role = read_role(
        "pet: animal dog/hound, named, owner boy always, adjectives old !new; red, modifiers of {b}"
    )
    assert (role.key, role.type, role.nouns, role.named) == ("pet", "animal", ("dog/hound",), True)
    assert (role.owner, role.bound, role.intro) == ("boy", True, "own")
    assert role.adjectives == (("old", "!new"), ("red",))
    assert role.modifiers == ("of {b}",)
    team = read_role("team: group boy girl")
    assert (team.members, team.nouns, team.type) == (("boy", "girl"), (), "person")
    assert read_role("day: time Sunday / the end of May").nouns == ("Sunday", "the_end_of_May")
    assert read_role("lady: person, named").intro == "name"
    assert read_role("eggs: thing eggs, counts two three").counts == ("two", "three")
