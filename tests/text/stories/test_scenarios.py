"""Scenario files: those of the package are sound, one of a user's own works, and mistakes are told with their place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.text.stories import generate_stories, read_scenario
from entitynlm.text.stories.cast import StoryCast
from entitynlm.text.stories.scenarios import load_detours, load_reactions, load_scenarios
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
)
from entitynlm.text.stories.templates import TemplateSlot, compile_event
from support.seeded import make_random

REGISTERS = {"hero", "someone", "something", "other"}
STORIES = [*load_scenarios(), *load_detours()]
DOCS = Path(__file__).resolve().parents[3] / "docs" / "stories.md"

SMALL = """\
# A comment.
hero man

roles
  man: person man:m, named
  hat: thing hat, owner man always, adjectives old; !red, intro own
  hats: thing hats, counts two three
  day: time Monday / the first day of May
  both: group man hat, noun friends

part loss
  - [unlinked] {man} lost {hat} .
    or {hat} was gone .

story
  do loss
  either 3 1
    - [man to hat, unclear] " Where is {hat} ? " {man} asked .
    steps
      pick thief among man hat but hat
      - [holder is thief, hat becomes flat, learn seen] {thief} (ran|went) home (on {day}|) .
  when seen
    - {man} was angry .
  otherwise
    again 0.5 most 2
      - {both} laughed .
  unless seen
    maybe 0.25
      any order
        - {man} sat down .
        detour 0.5 home
  react 0.5 man / hat hats
"""


def read_text(text: str, folder: Path) -> Scenario:
    path = folder / "small.txt"
    path.write_text(text, encoding="utf-8")
    return read_scenario(path)


def walk(steps: Steps) -> Iterator[StoryEvent | Pick | Reaction | Detour]:
    """All steps of a script that hold no others."""
    for step in steps:
        if isinstance(step, Either):
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


# -- the files of the package ------------------------------------------------------------------------------------


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_every_wording_compiles_and_names_roles_that_exist(story: Scenario | Scene) -> None:
    roles = {role.key for role in story.roles}
    known = roles | REGISTERS | {step.register for step in walk(story.steps) if isinstance(step, Pick)}
    for step in walk(story.steps):
        if isinstance(step, Reaction):
            assert {*step.people, *step.things} <= roles
        if isinstance(step, Pick):
            assert {*step.among, *step.but} <= known
        if not isinstance(step, StoryEvent):
            continue
        known |= {register for register, _ in step.sets}
        assert sum(weight for weight, _ in compile_event(step)) == pytest.approx(1)
        assert {role for role, _ in step.gains} <= roles
        for _, template in compile_event(step):
            assert template.tree.relations.count("root") == 1
            assert "dep" not in template.tree.relations, template.items
            assert "" not in template.tree.relations
            slots = [item for item in template.items if isinstance(item, TemplateSlot)]
            assert {slot.role for slot in slots} <= known
            assert step.speaker is not None or not any(slot.quoted for slot in slots)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_every_role_can_be_cast_and_is_used(story: Scenario | Scene) -> None:
    cast = StoryCast(story.roles, None, make_random(1, 1))
    used = {slot for step in walk(story.steps) if isinstance(step, StoryEvent) for slot in _roles_of(step)}
    used |= {role for step in walk(story.steps) if isinstance(step, Pick) for role in step.among}
    for role in story.roles:
        if role.owner != "holder" and role.owner != "hero":
            assert role.owner is None or role.owner in cast.roles
        assert set(role.members) <= set(cast.roles)
        used |= {modifier.split("{")[1].rstrip("}") for modifier in role.modifiers}
        used |= {*role.members, role.owner}
        assert cast[role.key].role is role
    assert {role.key for role in story.roles} <= used


def _roles_of(event: StoryEvent) -> set[str]:
    return {item.role for _, t in compile_event(event) for item in t.items if isinstance(item, TemplateSlot)}


@pytest.mark.parametrize("event", load_reactions(), ids=["feeling", "looking", "meeting"])
def test_reactions_compile(event: StoryEvent) -> None:
    for _, template in compile_event(event):
        assert "dep" not in template.tree.relations


# -- a scenario of one's own -------------------------------------------------------------------------------------


def test_the_scenario_of_the_documentation_makes_stories(tmp_path: Path) -> None:
    text = DOCS.read_text(encoding="utf-8").split("```text\n")[1].split("```")[0]
    (tmp_path / "picnic.txt").write_text(text, encoding="utf-8")
    scenario = read_scenario(tmp_path / "picnic.txt")
    documents = list(generate_stories(12, seed=1, scenarios=[scenario]))
    assert {document.meta["scenario"] for document in documents} == {"picnic"}
    assert len({document.text for document in documents}) == 12
    assert all("sandwiches" in document.tokens for document in documents)


def test_every_step_and_field_is_read(tmp_path: Path) -> None:
    scenario = read_text(SMALL, tmp_path)
    assert (scenario.name, scenario.hero, scenario.narrated) == ("small", "man", 0.25)
    man, hat, hats, day, both = scenario.roles
    assert (man.nouns, man.named, man.intro, man.gender) == (("man:m",), True, "name", "")
    assert (hat.owner, hat.bound, hat.adjectives, hat.gender) == ("man", True, (("old",), ("!red",)), "n")
    assert (hats.counts, hats.intro) == (("two", "three"), "a")
    assert (day.type, day.nouns, day.intro) == ("time", ("Monday", "the_first_day_of_May"), "bare")
    assert (both.members, both.nouns) == (("man", "hat"), ("friends",))
    loss, choice, fact, unless, reaction = scenario.steps
    assert isinstance(loss, StoryEvent)
    assert (loss.wordings, loss.linked, loss.lines) == (
        ("{man} lost {hat} .", "{hat} was gone ."),
        False,
        (12, 13),
    )
    assert isinstance(choice, Either)
    (often, (speech,)), (seldom, (pick, run)) = choice.alternatives
    assert (often, seldom) == (0.75, 0.25)
    assert isinstance(speech, StoryEvent)
    assert (speech.speaker, speech.hearer, speech.linked, speech.clear) == ("man", "hat", False, False)
    assert isinstance(pick, Pick)
    assert (pick.register, pick.among, pick.but) == ("thief", ("man", "hat"), ("hat",))
    assert isinstance(run, StoryEvent)
    assert (run.sets, run.gains, run.learns) == ((("holder", "thief"),), (("hat", "flat"),), ("seen",))
    assert isinstance(fact, When)
    (once,) = fact.otherwise
    assert isinstance(once, Either)
    ((sure, (first, more)),) = once.alternatives
    assert isinstance(more, Either)
    (chance, (twice,)), (_, nothing) = more.alternatives
    assert isinstance(twice, Either)
    assert (fact.fact, len(fact.steps), sure, chance, nothing) == ("seen", 1, 1.0, 0.5, ())
    assert twice.alternatives == ((1.0, (first,)),)
    assert isinstance(unless, When)
    (maybe,) = unless.otherwise
    assert isinstance(maybe, Either)
    (probability, (in_any_order,)), (_, left_out) = maybe.alternatives
    assert isinstance(in_any_order, AnyOrder)
    assert (unless.steps, left_out, probability, len(in_any_order.parts)) == ((), (), 0.25, 2)
    assert isinstance(reaction, Reaction)
    assert (reaction.probability, reaction.people, reaction.things) == (0.5, ("man",), ("hat", "hats"))


@pytest.mark.parametrize(
    ("line", "wrong", "expected"),
    [
        (
            "hero man",
            "heroine man",
            r":2: .*found 'heroine man'; expected hero, narrated, people, .* or story",
        ),
        (
            "hero man",
            "hero woman",
            r":2: there is no role 'woman'.*one of the roles both, day, hat, hats, .*man",
        ),
        ("hero man", "narrated 1.5", r":2: .*a probability between 0 and 1 instead of '1.5'"),
        ("hats: thing hats", "hat: thing hats", r":7: .*one role 'hat' only"),
        (
            "hats: thing hats",
            "hats: things hats",
            r":7: .*ROLE: KIND NOUNS, where the kind is person, animal",
        ),
        ("counts two three", "count two", r":7: .*noun, named, .* instead of 'count'"),
        ("counts two three", "counts two umpteen", r":7: the word 'umpteen' is not in the lexicon"),
        ("owner man always", "owner man never", r":6: .*perhaps with always or sometimes"),
        ("owner man always", "owner woman", r":6: there is no role 'woman'"),
        (
            "adjectives old; !red",
            "modifiers with hat",
            r":6: .*modifiers such as `with \{hat\}` instead of 'with hat'",
        ),
        ("intro own", "intro some", r":6: .*one of a, the, own.* instead of intro 'some'"),
        ("owner man always, ", "", r":6: .*an owner for intro own"),
        ("man: person man:m, named", "man: person", r":5: .*a noun, named or title"),
        ("    or {hat} was gone .", "    and {hat} was gone .", r":13: .*expected or WORDING"),
        ("    or {hat} was gone .", "   or {hat} was gone .\n  or {hat} was .", r":14: .*- WORDING, maybe P"),
        ("  do loss", "  do lose", r":16: .*one of the parts above: loss"),
        ("  do loss", "  do loss\n    maybe 0.5", r":16: .*no steps below this line"),
        ("either 3 1", "either 3", r":17: .*2 whole numbers, one for each alternative"),
        ("either 3 1", "either x y", r":17: .*2 whole numbers, one for each alternative"),
        ("unclear", "vague", r":18: .*unlinked, clear, unclear, X to Y.* instead of 'vague'"),
        ("man to hat", "man to her", r":18: there is no role 'her'"),
        ("among man hat but hat", "among man but hat", r":20: .*more roles before `but` than after it"),
        ("becomes flat", "becomes flummoxed", r":21: the word 'flummoxed' is not in the lexicon"),
        (
            "(ran|went) home",
            "flummoxed home",
            r":21: the word 'flummoxed' .* give it a Penn tag, as in flummoxed/NN",
        ),
        ("{man} was angry", "{woman} was angry", r":23: there is no role 'woman'"),
        (
            "{man} was angry",
            "{man} angry and",
            r":23: the wording can't be parsed, a conjunction joins nothing",
        ),
        ("  when seen", "  maybe 0.5", r":24: .*found 'otherwise'; expected when FACT before otherwise"),
        ("again 0.5 most 2", "again 0.5 mostly", r":25: .*- WORDING, maybe P, either"),
        ("maybe 0.25", "maybe often", r":28: .*a probability between 0 and 1 instead of 'often'"),
        ("        - {man} sat down .", "\t- {man} sat down .", r":30: .*spaces instead of the tab"),
        ("        detour 0.5 home", "       detour 0.5 home", r":31: .*8 spaces before the text"),
        ("detour 0.5 home", "detour 0.5 moon", r":31: .*detour P PLACE \(of street, inside, home, nature\)"),
        ("react 0.5 man", "react 0.5 woman", r":32: there is no role 'woman'"),
        ("  react 0.5 man / hat hats", "  maybe 0.5", r":32: .*steps with more indentation below this line"),
    ],
)
def test_mistakes_are_told_with_file_line_and_what_was_expected(
    line: str, wrong: str, expected: str, tmp_path: Path
) -> None:
    assert line in SMALL
    with pytest.raises(DataError, match=r"small\.txt" + expected):
        read_text(SMALL.replace(line, wrong, 1), tmp_path)


def test_a_file_without_hero_or_story_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="this is no scenario; expected hero ROLE and a section story"):
        read_text("roles\n  man: person man\n", tmp_path)
    with pytest.raises(DataError, match="nowhere"):
        read_scenario(tmp_path / "nowhere.txt")


def test_a_scenario_whose_stories_are_all_too_short_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no story of the scenario 'small' has 8 to 20 sentences"):
        next(generate_stories(1, seed=1, scenarios=[read_text(SMALL, tmp_path)]))
