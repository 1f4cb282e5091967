"""Who acts next, with probabilities that are the model's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import entitynlm
from entitynlm.api import as_document
from entitynlm.errors import ConfigError
from entitynlm.generation.plan import NEW_ACTOR, plan_story
from entitynlm.generation.request import ContinuationRequest
from entitynlm.interfaces.cli import app
from entitynlm.model.pretrained import Pretrained, load_pretrained

STORY = "Anna met the old captain at the harbour. He gave her a letter. She read it and called Bob."


@pytest.fixture(scope="module")
def pretrained() -> Pretrained:
    return load_pretrained("entitynlm-en")


def test_each_step_has_a_distribution(pretrained: Pretrained) -> None:
    plan = plan_story(pretrained, as_document(STORY), steps=3, seed=1)
    assert len(plan) == 3
    for step in plan:
        assert sum(p for _, p in step.candidates) == pytest.approx(1, abs=1e-6)
        assert [p for _, p in step.candidates] == sorted((p for _, p in step.candidates), reverse=True)
        assert step.probability == pytest.approx(
            dict(step.candidates)[NEW_ACTOR if step.is_new else step.actor], abs=1e-9
        )
        assert step.sentence and step.actor


def test_the_first_step_is_what_entity_prediction_says(pretrained: Pretrained) -> None:
    model = entitynlm.EntityNLM(pretrained)
    document = model.annotate(STORY)
    (step,) = plan_story(pretrained, document, steps=1)
    expected = model.next_entity(document)
    assert step.candidates[0][1] == pytest.approx(
        expected.ranked[0][1], abs=0.02
    )  # the noise of new entities differs


def test_constraints_hold(pretrained: Pretrained) -> None:
    request = ContinuationRequest(next_entity="Bob", new_entities=False)
    plan = plan_story(pretrained, as_document(STORY), request, steps=2, seed=3)
    assert plan[0].actor == "Bob" and not any(step.is_new for step in plan)
    assert all(dict(step.candidates)[NEW_ACTOR] == 0 for step in plan)
    with pytest.raises(ConfigError, match="no entity is called"):
        plan_story(pretrained, as_document(STORY), ContinuationRequest(next_entity="Zoe"))


def test_a_story_can_be_planned_from_a_cast(pretrained: Pretrained) -> None:
    plan = plan_story(pretrained, None, ContinuationRequest(cast=("Anna", "Bob")), steps=2)
    assert {"Anna", "Bob"} <= {name for name, _ in plan[0].candidates}


def test_the_verb(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text(STORY)
    out = tmp_path / "plan.json"
    words = f"generate {tmp_path}/s.txt --plan -s 2 -n 2 -m entitynlm-en --json {out}"
    result = CliRunner().invoke(app, words.split())
    assert result.exit_code == 0 and "who acts" in result.stdout and "plan 2 of 2" in result.stdout
    assert [len(plan) for plan in json.loads(out.read_text())["plans"]] == [2, 2]
