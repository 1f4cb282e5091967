"""Scripts: what can come next, how likely, and that drawing and enumerating are about the same thing."""

from __future__ import annotations

from collections import Counter

import pytest

from entitynlm.text.stories.cast import choose
from entitynlm.text.stories.scenarios import load_detours, load_reactions, load_scenarios
from entitynlm.text.stories.script import (
    AnyOrder,
    Detour,
    Either,
    Pick,
    Reaction,
    Scenario,
    ScriptState,
    StoryEvent,
    When,
    again,
    branch,
    choose_weighted,
    draw_event,
    enumerate_events,
    maybe,
)
from support.seeded import make_random

A, B, C = StoryEvent(("{a} ran .",)), StoryEvent(("{b} ran .",)), StoryEvent(("{c} ran .",))


def list_next(state: ScriptState) -> dict[StoryEvent, float]:
    """The events that can come next with their probabilities."""
    sums: dict[StoryEvent, float] = {}
    for probability, onward in enumerate_events(state, load_detours()):
        sums[onward.event] = sums.get(onward.event, 0.0) + probability
    return sums


def test_a_step_that_may_be_left_out_shares_with_what_follows() -> None:
    assert list_next(ScriptState((maybe(0.3, (A,)), maybe(0.5, (B,)), C), {})) == pytest.approx(
        {A: 0.3, B: 0.35, C: 0.35}
    )


def test_alternatives_have_their_weights() -> None:
    assert list_next(ScriptState((Either(((0.25, (A,)), (0.75, (B, C)))),), {})) == pytest.approx(
        {A: 0.25, B: 0.75}
    )


def test_parts_in_any_order_all_happen_once() -> None:
    assert list_next(ScriptState((AnyOrder(((A,), (B,), (C,))),), {})) == pytest.approx(
        {A: 1 / 3, B: 1 / 3, C: 1 / 3}
    )
    state: ScriptState | None = ScriptState((AnyOrder(((A,), (B,), (C,))),), {})
    seen = []
    random = make_random(1, 1)
    while state is not None and (state := draw_event(state, (), random)) is not None:
        seen.append(state.event)
        state = state.pass_event(())
    assert Counter(seen) == Counter([A, B, C])


def test_repetition_ends_at_its_limit() -> None:
    state = ScriptState((again(0.4, 2, (A,)), B), {})
    assert list_next(state) == {A: 1.0}
    (_, state), *_ = branch(state, ())
    state = state.pass_event(())
    assert list_next(state) == pytest.approx({A: 0.4, B: 0.6})
    state = next(p for _, p in enumerate_events(state, ()) if p.agenda[0] is A).pass_event(())
    assert list_next(state) == {B: 1.0}


def test_registers_point_to_whom_they_are_set_and_leave_out_whom_they_should() -> None:
    state = ScriptState((Pick("catcher", ("x", "y", "z"), ("holder",)), A), {"holder": "y"})
    assert sorted(p.resolve("catcher") for _, p in enumerate_events(state, ())) == ["x", "z"]
    passed = StoryEvent(("{a} ran .",), sets=(("holder", "catcher"),))
    after = ScriptState((passed,), {"holder": "y", "catcher": "z"}).pass_event(())
    assert after.resolve("holder") == "z"
    assert after.resolve("nobody") == "nobody"


def test_facts_decide_what_follows() -> None:
    learned = StoryEvent(("{a} ran .",), learns=("seen",))
    step = When("seen", (B,), (C,))
    assert list_next(ScriptState((step,), {})) == {C: 1.0}
    assert list_next(ScriptState((learned, step), {}).pass_event(())) == {B: 1.0}


def test_only_those_react_who_were_mentioned() -> None:
    state = ScriptState((Reaction(0.5, ("x", "y"), ("t",), *load_reactions()), C), {})
    assert list_next(state) == {C: 1.0}
    state = state._replace(mentioned=frozenset({"x", "y", "t"}))
    assert list_next(state) == pytest.approx({C: 0.5, **dict.fromkeys(load_reactions(), 1 / 6)})


def test_a_detour_fits_its_place_and_happens_once() -> None:
    state = ScriptState((Detour(1.0, "home"), C), {})
    scenes = [p.scenes[-1] for _, p in branch(state, load_detours()) if p.scenes]
    assert scenes == [scene for scene in load_detours() if "home" in scene.where]
    again_there = state._replace(scenes=(scenes[0],))
    assert scenes[0] not in [
        p.scenes[-1] for _, p in branch(again_there, load_detours()) if len(p.scenes) > 1
    ]


@pytest.mark.parametrize("scenario", load_scenarios(), ids=lambda scenario: scenario.name)
def test_what_comes_was_among_what_could_come(scenario: Scenario) -> None:
    random = make_random(5, 5)
    state = ScriptState(scenario.steps, {"hero": scenario.hero})
    while True:
        options = list_next(state)
        drawn = draw_event(state, load_detours(), random)
        if drawn is None:
            break
        assert options[drawn.event] > 0
        assert sum(options.values()) <= 1 + 1e-9  # less where the story may end
        state = drawn.pass_event(())


def test_draws_follow_their_weights() -> None:
    """Four standard errors of 4,000 draws at 0.75 are 0.027."""
    random = make_random(1, 2)
    share = sum(choose_weighted([(1, 0), (3, 1)], random) for _ in range(4000)) / 4000
    assert share == pytest.approx(0.75, abs=0.027)
    assert {choose("abc", random) for _ in range(100)} == set("abc")
