"""The scenario files of the package: every wording names roles that exist, and every role is used."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from entitynlm.stories.cast import StoryCast
from entitynlm.stories.scenarios import load_detours, load_reactions, load_scenarios, read_role
from entitynlm.stories.script import AnyOrder, Either, Pick, Scenario, Step, Steps, StoryEvent, When
from entitynlm.stories.templates import SLOT
from support.seeded import make_random

STORIES = [*load_scenarios(), *load_detours()]
EVERYWHERE = {"hero", "someone", "something", "other"}


def walk(steps: Steps) -> Iterator[Step]:
    """All steps of a script, with those inside of others."""
    for step in steps:
        yield step
        inner: list[Steps] = []
        if isinstance(step, Either):
            inner = [alternative for _, alternative in step.alternatives]
        elif isinstance(step, AnyOrder):
            inner = list(step.parts)
        elif isinstance(step, When):
            inner = [step.steps, step.otherwise]
        for part in inner:
            yield from walk(part)


def roles_of(event: StoryEvent) -> set[str]:
    spoken = {role for role in (event.speaker, event.hearer) if role}
    return spoken | {slot[1] for wording in event.wordings for slot in SLOT.finditer(wording)}


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_wordings_name_roles_that_exist_and_roles_are_used(story: Scenario) -> None:
    roles = {role.key: role for role in story.roles}
    steps = list(walk(story.steps))
    events = [step for step in steps if isinstance(step, StoryEvent)]
    registers = {step.register for step in steps if isinstance(step, Pick)}
    registers |= {register for event in events for register, _ in event.sets}
    used = set().union(*map(roles_of, events))
    assert used <= roles.keys() | registers | EVERYWHERE
    used |= {name for step in steps if isinstance(step, Pick) for name in step.among}
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
    assert [roles_of(event) for event in load_reactions()] == [
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
