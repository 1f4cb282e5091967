"""Every wording of every script compiles into a tree whose slots someone can fill."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from entitynlm.text.stories.cast import Cast
from entitynlm.text.stories.chance import make_random
from entitynlm.text.stories.detours import DETOURS
from entitynlm.text.stories.lexicon import Word, look_up, look_up_noun
from entitynlm.text.stories.plot import (
    FEELING,
    LOOKING,
    MEETING,
    Again,
    AnyOrder,
    Detour,
    Either,
    Event,
    Maybe,
    Pick,
    Reaction,
    Scenario,
    Scene,
    Steps,
    When,
)
from entitynlm.text.stories.scenarios import SCENARIOS
from entitynlm.text.stories.templates import Slot, compile_event, compile_wording, expand

REGISTERS = {"hero", "someone", "something", "other"}


def walk(steps: Steps) -> Iterator[Event | Pick | Reaction | Detour]:
    """All steps of a script that hold no others."""
    for step in steps:
        if isinstance(step, Maybe | Again):
            yield from walk(step.steps)
        elif isinstance(step, Either):
            for _, alternative in step.alternatives:
                yield from walk(alternative)
        elif isinstance(step, AnyOrder):
            for part in step.parts:
                yield from walk(part)
        elif isinstance(step, When):
            yield from walk(step.steps)
            yield from walk(step.otherwise)
        else:
            yield step


@pytest.mark.parametrize("story", [*SCENARIOS, *DETOURS], ids=lambda story: story.name)
def test_every_wording_compiles_and_names_roles_that_exist(story: Scenario | Scene) -> None:
    roles = {role.key for role in story.roles}
    known = roles | REGISTERS | {step.register for step in walk(story.steps) if isinstance(step, Pick)}
    for step in walk(story.steps):
        if isinstance(step, Reaction):
            assert {*step.people, *step.things} <= roles
        if isinstance(step, Pick):
            assert {*step.among, *step.but} <= known
        if not isinstance(step, Event):
            continue
        known |= {register for register, _ in step.sets}
        assert sum(weight for weight, _ in compile_event(step)) == pytest.approx(1)
        assert {role for role, _ in step.gains} <= roles
        for _, template in compile_event(step):
            assert template.tree.relations.count("root") == 1
            assert "dep" not in template.tree.relations, template.items
            assert "" not in template.tree.relations
            slots = [item for item in template.items if isinstance(item, Slot)]
            assert {slot.role for slot in slots} <= known
            assert event_speaks(step) or not any(slot.quoted for slot in slots)


def event_speaks(event: Event) -> bool:
    return event.speaker is not None


@pytest.mark.parametrize("story", [*SCENARIOS, *DETOURS], ids=lambda story: story.name)
def test_every_role_can_be_cast_and_is_used(story: Scenario | Scene) -> None:
    cast = Cast(story.roles, None, make_random(1, 1))
    used = {slot for step in walk(story.steps) if isinstance(step, Event) for slot in _roles_of(step)}
    used |= {role for step in walk(story.steps) if isinstance(step, Pick) for role in step.among}
    for role in story.roles:
        if role.owner != "holder" and role.owner != "hero":
            assert role.owner is None or role.owner in cast.roles
        assert set(role.members) <= set(cast.roles)
        used |= {modifier.split("{")[1].rstrip("}") for modifier in role.modifiers}
        used |= {*role.members, role.owner}
        assert cast[role.key].key == role.key
    assert {role.key for role in story.roles} <= used


def _roles_of(event: Event) -> set[str]:
    return {item.role for _, t in compile_event(event) for item in t.items if isinstance(item, Slot)}


@pytest.mark.parametrize("event", [FEELING, LOOKING, MEETING])
def test_reactions_compile(event: Event) -> None:
    for _, template in compile_event(event):
        assert "dep" not in template.tree.relations


def test_alternatives_expand_to_all_wordings() -> None:
    assert expand("{x} (ran|went) home (now|) .") == [
        "{x} ran home now .",
        "{x} ran home .",
        "{x} went home now .",
        "{x} went home .",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "{a} gave {b} {c} .",
            ["{a} nsubj gave", "gave root", "{b} iobj gave", "{c} obj gave", ". punct gave"],
        ),
        (
            "When {a} turned around , {b} was gone .",
            [
                "When advmod turned",
                "{a} nsubj turned",
                "turned advcl gone",
                "around compound:prt turned",
                ", punct gone",
                "{b} nsubj gone",
                "was cop gone",
                "gone root",
                ". punct gone",
            ],
        ),
        (
            "{a} wanted to put on {b} and ran home .",
            [
                "{a} nsubj wanted",
                "wanted root",
                "to mark put",
                "put xcomp wanted",
                "on compound:prt put",
                "{b} obj put",
                "and cc ran",
                "ran conj wanted",
                "home advmod ran",
                ". punct wanted",
            ],
        ),
        (
            "In {a} lay {b} .",
            ["In case {a}", "{a} obl lay", "lay root", "{b} nsubj lay", ". punct lay"],
        ),
        (
            '" Can {b} help {a} ? " {a} asked .',
            [
                '" punct help',
                "Can aux help",
                "{b} nsubj help",
                "help ccomp asked",
                "{a} obj help",
                "? punct help",
                '" punct help',
                "{a} nsubj asked",
                "asked root",
                ". punct asked",
            ],
        ),
        (
            "{a} was hidden in {b's} hand .",
            [
                "{a} nsubj:pass hidden",
                "was aux:pass hidden",
                "hidden root",
                "in case hand",
                "{b} nmod:poss hand",
                "hand obl hidden",
                ". punct hidden",
            ],
        ),
    ],
)
def test_controlled_english_is_parsed(text: str, expected: list[str]) -> None:
    template = compile_wording(text)
    names = [item.form if isinstance(item, Word) else f"{{{item.role}}}" for item in template.items]
    found = [
        f"{name} {relation}" + (f" {names[head]}" if head >= 0 else "")
        for name, relation, head in zip(names, template.tree.relations, template.tree.heads, strict=True)
    ]
    assert found == expected


def test_words_are_tagged_by_what_comes_before() -> None:
    template = compile_wording("{a} had broken {b} , so {c} wanted to rest .")
    tags = dict(zip([getattr(item, "form", "") for item in template.items], template.tree.tags, strict=True))
    assert tags["had"] == "VBD"
    assert tags["broken"] == "VBN"
    assert tags["rest"] == "VB"


def test_a_word_that_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="'flummoxed' is not in the lexicon"):
        compile_wording("{a} flummoxed {b} .")
    with pytest.raises(KeyError, match="flummoxed"):
        look_up("flummoxed")


@pytest.mark.parametrize(
    ("form", "tag", "lemma", "mass"),
    [
        ("eggs", "NNS", "egg", False),
        ("waitress", "NN", "waitress", False),
        ("leaves", "NNS", "leaf", False),
        ("flour", "NN", "flour", True),
        ("news", "NN", "news", True),
    ],
)
def test_nouns_know_their_number(form: str, tag: str, lemma: str, mass: bool) -> None:
    assert look_up_noun(form) == Word(form, tag, lemma, mass)
