"""Scripts: what can come next, and how likely it is."""

from __future__ import annotations

from collections import Counter

import pytest

from entitynlm.stories.scenarios import load_detours, load_reactions
from entitynlm.stories.script import (
    AnyOrder,
    Detour,
    Either,
    Pick,
    Reaction,
    ScriptState,
    StoryEvent,
    When,
    again,
    draw_event,
    maybe,
)
from support.seeded import make_random

A, B, C = StoryEvent(("{a} ran .",)), StoryEvent(("{b} ran .",)), StoryEvent(("{c} ran .",))
DRAWS = 2000
ERROR = 0.045  # four standard errors of 2,000 draws at a half


def draw_often(state: ScriptState) -> list[ScriptState]:
    """Draw the state at the next event many times."""
    random = make_random(1, 1)
    drawn = [draw_event(state, load_detours(), random) for _ in range(DRAWS)]
    return [state for state in drawn if state is not None]


def list_next(state: ScriptState) -> dict[StoryEvent, float]:
    """Estimate the probabilities of the events that can come next."""
    counts = Counter(drawn.event for drawn in draw_often(state))
    return {event: count / DRAWS for event, count in counts.items()}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((maybe(0.3, (A,)), maybe(0.5, (B,)), C), {A: 0.3, B: 0.35, C: 0.35}),
        ((Either(((1, (A,)), (3, (B, C)))),), {A: 0.25, B: 0.75}),
        ((AnyOrder(((A,), (B,), (C,))),), {A: 1 / 3, B: 1 / 3, C: 1 / 3}),
        ((again(0.4, 2, (A,)), B), {A: 1.0}),
        ((When("seen", (B,), (C,)),), {C: 1.0}),
    ],
)
def test_steps_have_their_probabilities(steps: tuple[object, ...], expected: dict[StoryEvent, float]) -> None:
    assert list_next(ScriptState(steps, {})) == pytest.approx(expected, abs=ERROR)


def test_parts_in_any_order_all_happen_once() -> None:
    state: ScriptState | None = ScriptState((AnyOrder(((A,), (B,), (C,))),), {})
    seen = []
    random = make_random(1, 1)
    while state is not None and (state := draw_event(state, (), random)) is not None:
        seen.append(state.event)
        state = state.pass_event(())
    assert Counter(seen) == Counter([A, B, C])


def test_registers_point_to_whom_they_are_set_and_leave_out_whom_they_should() -> None:
    state = ScriptState((Pick("catcher", ("x", "y", "z"), ("holder",)), A), {"holder": "y"})
    assert {drawn.resolve("catcher") for drawn in draw_often(state)} == {"x", "z"}
    passed = StoryEvent(("{a} ran .",), sets=(("holder", "catcher"),))
    after = ScriptState((passed,), {"holder": "y", "catcher": "z"}).pass_event(())
    assert after.resolve("holder") == "z"
    assert after.resolve("baker") == "baker"


def test_facts_decide_what_follows() -> None:
    learned = StoryEvent(("{a} ran .",), learns=("seen",))
    assert list_next(ScriptState((learned, When("seen", (B,), (C,))), {}).pass_event(())) == {B: 1.0}


def test_only_those_react_who_were_mentioned() -> None:
    state = ScriptState((Reaction(0.5, ("x", "y"), ("t",), *load_reactions()), C), {})
    assert list_next(state) == {C: 1.0}
    state = state._replace(mentioned=frozenset({"x", "y", "t"}))
    expected = {C: 0.5, **dict.fromkeys(load_reactions(), 1 / 6)}
    assert list_next(state) == pytest.approx(expected, abs=ERROR)


def test_a_detour_fits_its_place_and_happens_once() -> None:
    state = ScriptState((Detour(1.0, "home"), C), {})
    scenes = {drawn.detours[-1] for drawn in draw_often(state)}
    assert scenes == {scene for scene in load_detours() if "home" in scene.where}
    taken = next(iter(scenes))
    later = draw_often(state._replace(detours=(taken,)))
    assert {drawn.detours[-1] for drawn in later} == scenes - {taken}
