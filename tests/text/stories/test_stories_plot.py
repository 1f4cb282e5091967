"""Scripts: what can come next, how likely, and that drawing and enumerating are about the same thing."""

from __future__ import annotations

from collections import Counter

import pytest

from entitynlm.text.stories.chance import choose, choose_weighted, make_random
from entitynlm.text.stories.detours import DETOURS
from entitynlm.text.stories.plot import (
    FEELING,
    LOOKING,
    MEETING,
    Event,
    Plot,
    Scenario,
    branch,
    draw_event,
    enumerate_events,
)
from entitynlm.text.stories.scenarios import SCENARIOS
from entitynlm.text.stories.staging import (
    again,
    any_order,
    detour,
    either,
    event,
    maybe,
    pick,
    react,
    seq,
    when,
)

A, B, C = event("{a} ran ."), event("{b} ran ."), event("{c} ran .")


def list_next(plot: Plot) -> dict[Event, float]:
    """The events that can come next with their probabilities."""
    sums: dict[Event, float] = {}
    for probability, onward in enumerate_events(plot, DETOURS):
        top = onward.agenda[0]
        assert isinstance(top, Event)
        sums[top] = sums.get(top, 0.0) + probability
    return sums


def test_a_step_that_may_be_left_out_shares_with_what_follows() -> None:
    assert list_next(Plot((maybe(0.3, A), maybe(0.5, B), C), {})) == pytest.approx({A: 0.3, B: 0.35, C: 0.35})


def test_alternatives_have_their_weights() -> None:
    assert list_next(Plot((either(A, seq(B, C), weights=(1, 3)),), {})) == pytest.approx({A: 0.25, B: 0.75})


def test_parts_in_any_order_all_happen_once() -> None:
    assert list_next(Plot((any_order(A, B, C),), {})) == pytest.approx({A: 1 / 3, B: 1 / 3, C: 1 / 3})
    plot: Plot | None = Plot((any_order(A, B, C),), {})
    seen = []
    random = make_random(1, 1)
    while plot is not None and (plot := draw_event(plot, (), random)) is not None:
        top = plot.agenda[0]
        assert isinstance(top, Event)
        seen.append(top)
        plot = plot.pass_event(top, ())
    assert Counter(seen) == Counter([A, B, C])


def test_repetition_ends_at_its_limit() -> None:
    plot = Plot((again(0.4, 2, A), B), {})
    assert list_next(plot) == {A: 1.0}
    (_, plot), *_ = branch(plot, ())
    plot = plot.pass_event(A, ())
    assert list_next(plot) == pytest.approx({A: 0.4, B: 0.6})
    plot = next(p for _, p in enumerate_events(plot, ()) if p.agenda[0] is A).pass_event(A, ())
    assert list_next(plot) == {B: 1.0}


def test_registers_point_to_whom_they_are_set_and_leave_out_whom_they_should() -> None:
    plot = Plot((pick("catcher", "x y z", but="holder"), A), {"holder": "y"})
    assert sorted(p.resolve("catcher") for _, p in enumerate_events(plot, ())) == ["x", "z"]
    passed = event("{a} ran .", sets="holder=catcher")
    after = Plot((passed,), {"holder": "y", "catcher": "z"}).pass_event(passed, ())
    assert after.resolve("holder") == "z"
    assert after.resolve("nobody") == "nobody"


def test_facts_decide_what_follows() -> None:
    told = event("{a} ran .", learns="seen")
    step = when("seen", B, otherwise=(C,))
    assert list_next(Plot((step,), {})) == {C: 1.0}
    assert list_next(Plot((told, step), {}).pass_event(told, ())) == {B: 1.0}


def test_only_those_react_who_were_mentioned() -> None:
    plot = Plot((react(0.5, "x y", "t"), C), {})
    assert list_next(plot) == {C: 1.0}
    plot = plot._replace(mentioned=frozenset({"x", "y", "t"}))
    assert list_next(plot) == pytest.approx({C: 0.5, FEELING: 1 / 6, LOOKING: 1 / 6, MEETING: 1 / 6})


def test_a_detour_fits_its_place_and_happens_once() -> None:
    plot = Plot((detour(1.0, "home"), C), {})
    scenes = [p.scenes[-1] for _, p in branch(plot, DETOURS) if p.scenes]
    assert scenes == [scene for scene in DETOURS if "home" in scene.where]
    again_there = plot._replace(scenes=(scenes[0],))
    assert scenes[0] not in [p.scenes[-1] for _, p in branch(again_there, DETOURS) if len(p.scenes) > 1]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_what_comes_was_among_what_could_come(scenario: Scenario) -> None:
    random = make_random(5, 5)
    plot = Plot(scenario.steps, {"hero": scenario.hero})
    while True:
        options = list_next(plot)
        drawn = draw_event(plot, DETOURS, random)
        if drawn is None:
            break
        top = drawn.agenda[0]
        assert isinstance(top, Event)
        assert options[top] > 0
        assert sum(options.values()) <= 1 + 1e-9  # less where the story may end
        plot = drawn.pass_event(top, ())


def test_draws_follow_their_weights() -> None:
    """Four standard errors of 4,000 draws at 0.75 are 0.027."""
    random = make_random(1, 2)
    share = sum(choose_weighted([(1, 0), (3, 1)], random) for _ in range(4000)) / 4000
    assert share == pytest.approx(0.75, abs=0.027)
    assert {choose("abc", random) for _ in range(100)} == set("abc")
