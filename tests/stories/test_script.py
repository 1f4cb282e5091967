"""Scripts: what can come next and how likely; the scenario files of the package name roles that exist and use all of them."""

from collections import Counter

import pytest

from entitynlm.stories.generator import SLOT, SPEECH
from entitynlm.stories.reference import Scenario, draw_sentences, load_scenarios
from support.seeded import make_random

DRAWS = 2000
ERROR = 0.045  # four standard errors of 2,000 draws at a half


def test_stories_have_their_probabilities() -> None:
    story = (("", "A . / B ."), ("(C|D) .", "E ."))
    random = make_random(1, 1)
    scenario = Scenario("test", {}, story)
    told = Counter(" ".join(draw_sentences(scenario, random)) for _ in range(DRAWS))
    expected = {"C .": 1, "D .": 1, "E .": 2, "A . B . C .": 1, "A . B . D .": 1, "A . B . E .": 2}
    assert {story: count / DRAWS for story, count in told.items()} == pytest.approx(
        {story: count / 8 for story, count in expected.items()}, abs=ERROR
    )


@pytest.mark.parametrize("scenario", load_scenarios(), ids=lambda scenario: scenario.name)
def test_sentences_name_roles_that_exist_and_roles_are_used(scenario: Scenario) -> None:
    sentences = [
        sentence for step in scenario.story for told in step if told for sentence in told.split(" / ")
    ]
    assert all(sentence.endswith((" .", " !", " ?")) for sentence in sentences)
    nouns = [noun for role in scenario.roles.values() for noun in role.nouns]
    used = {slot[1] for text in (*sentences, *nouns) for slot in SLOT.finditer(text)}
    used |= {role for sentence in sentences for pair in SPEECH.findall(sentence) for role in pair}
    for role in scenario.roles.values():
        assert role.nouns or role.named or role.members
        used |= {*role.members, *([role.owner] if role.owner else [])}
    assert used == scenario.roles.keys()
