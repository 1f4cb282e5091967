"""The public interface: every question that people may ask of a model, from raw text."""

from __future__ import annotations

from pathlib import Path

import pytest

import entitynlm
from entitynlm.coref.candidates.candidate_files import KBestList, ScoredClustering
from entitynlm.errors import ConfigError, ModelError
from support.small_model import STORY, store_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> entitynlm.EntityNLM:
    return entitynlm.load(store_model(tmp_path_factory.mktemp("model")))


def test_a_text_is_annotated_and_read(model: entitynlm.EntityNLM) -> None:
    document = model.annotate(STORY)
    assert document.text == STORY and document.mentions
    assert model.log_prob(document).log_prob < 0
    assert all(dict(mention.attributes) for mention in model.annotate(STORY, scores=True).mentions)


def test_surprisal_of_a_text(model: entitynlm.EntityNLM) -> None:
    tables = model.surprisal(STORY, samples=4, repeats=2)
    assert len(tables.tokens) == 15 and all(
        row.surprisal is None or row.surprisal > 0 for row in tables.tokens
    )


def test_who_comes_next(model: entitynlm.EntityNLM) -> None:
    choice = model.next_entity(STORY)
    assert sum(choice.probabilities) == pytest.approx(1)
    with pytest.raises(ConfigError, match="nothing is mentioned at"):
        model.next_entity(STORY, 99)


def test_a_closed_vocabulary_writes_no_prose(model: entitynlm.EntityNLM) -> None:
    with pytest.raises(ConfigError, match="closed vocabulary"):
        model.generate(STORY, words=5)


def test_candidates_are_ranked(model: entitynlm.EntityNLM) -> None:
    document = model.annotate("Ann saw Bo . Ann ran .")
    clusters = [[((0, 1), (4, 5)), ((2, 3),)], [((0, 1),), ((2, 3), (4, 5))]]
    ranked = model.rerank(document, clusters)
    assert ranked[0].score >= ranked[1].score
    kbest = KBestList(
        document.id, tuple(ScoredClustering(tuple(c), float(-n)) for n, c in enumerate(clusters))
    )
    assert model.rerank(document, kbest, weight=0.0)[0].clusters == kbest.candidates[0].clusters


def test_a_model_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model of the package"):
        entitynlm.load("entitynlm-xx")
