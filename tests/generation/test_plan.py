"""Who is mentioned next, with probabilities that are the model's own."""

import pytest

import entitynlm
from entitynlm.api import as_document
from entitynlm.generation.opening import NEW_ACTOR, plan_next
from entitynlm.model.pretrained import Pretrained, load_pretrained

STORY = "Anna met the old captain at the harbour. He gave her a letter. She read it and called Bob."


@pytest.fixture(scope="module")
def pretrained() -> Pretrained:
    return load_pretrained("entitynlm-en")


@pytest.mark.parametrize("new_entities", [True, False])
def test_a_plan_is_a_distribution_with_the_likeliest_first(
    pretrained: Pretrained, new_entities: bool
) -> None:
    plan = plan_next(pretrained, as_document(STORY), ("Bob's friend",), new_entities=new_entities)
    probs = [probability for _, probability in plan]
    assert sum(probs) == pytest.approx(1) and probs == sorted(probs, reverse=True)
    assert {"Anna", "Bob", "Bob's friend"} <= {name for name, _ in plan}
    assert (NEW_ACTOR in dict(plan)) == new_entities


def test_a_plan_is_what_entity_prediction_says(pretrained: Pretrained) -> None:
    model = entitynlm.EntityNLM(pretrained)
    document = model.annotate(STORY)
    expected = model.next_entity(document).ranked[0][1]
    assert plan_next(pretrained, document)[0][1] == pytest.approx(expected, abs=0.02)  # the noise differs


def test_a_plan_from_nothing_knows_the_cast(pretrained: Pretrained) -> None:
    assert {name for name, _ in plan_next(pretrained, None, ("Anna", "Bob"))} == {"Anna", "Bob", NEW_ACTOR}
    assert plan_next(pretrained) == [(NEW_ACTOR, 1.0)]
