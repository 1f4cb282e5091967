"""The language-modelling table: every row counts the same words, and the marginal is the sum over all analyses."""

import json
import math
from copy import copy
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from entitynlm.inference import scoring
from entitynlm.inference.scoring import score_baseline, score_document
from entitynlm.lm.evaluation import Sampling, measure_split
from entitynlm.lm.ngram import estimate_ngrams
from entitynlm.lm.scores import DocumentLogProb, ModelScores, compare_models
from entitynlm.model.encoding.variables import Analysis
from entitynlm.model.pretrained import Pretrained
from support.enumeration import enumerate_log_prob, with_analysis
from support.small_bundles import cut_document, make_bundle

FEW = Sampling(particles=20, repeats=3)


def measure_rows(*arguments: Any, **options: Any) -> tuple[ModelScores, ...]:
    return measure_split("test", *arguments, **options).rows


def without_baseline(pretrained: Pretrained) -> Pretrained:
    other = copy(pretrained)
    other.language_model = None
    return other


@pytest.mark.parametrize("method", ["particle-filter", "importance"])
@pytest.mark.parametrize("prior_share", [0.0, 0.5])
def test_marginal_is_the_sum_over_all_analyses(method: str, prior_share: float) -> None:
    pretrained, documents = make_bundle()
    documents = [cut_document(document, 4) for document in documents[:4]]
    sampling = Sampling(400, 8, method, prior_share=prior_share)  # type: ignore[arg-type]
    (row,) = measure_rows(
        without_baseline(pretrained), documents, sampling=sampling, likelihoods=["marginal"]
    )
    exact = [enumerate_log_prob(pretrained.get("generative"), document) for document in documents]
    for found, truth in zip(row.documents, exact, strict=True):
        assert found.log_prob == pytest.approx(truth, abs=6 * found.standard_error + 1e-6)
    assert row.perplexity == pytest.approx(math.exp(-sum(exact) / row.tokens), abs=6 * row.standard_error)
    assert 0 < row.standard_error < 0.05 * row.perplexity


def test_rows_count_the_same_words_and_documents_do_not_mix() -> None:
    pretrained, documents = make_bundle()
    ngram = estimate_ngrams(documents, pretrained.encoder)
    rows = measure_rows(pretrained, documents, ngram=ngram, sampling=FEW)
    assert [row.name for row in rows] == [
        "5-gram",
        "RNNLM",
        "EntityNLM marginal",
        "EntityNLM words-only",
        "EntityNLM words-mean",
        "EntityNLM words-mean-P",
        "EntityNLM joint",
        "EntityNLM given-entities",
    ]
    assert {row.tokens for row in rows} == {sum(map(len, documents))}
    assert [row.comparable for row in rows] == [True] * 3 + [False] * 5
    alone = measure_rows(pretrained, documents[3:4], ngram=ngram, sampling=FEW)
    for row, single in zip(rows, alone, strict=True):
        assert row.documents[3] == single.documents[0]
        assert row.log_prob == pytest.approx(math.fsum(document.log_prob for document in row.documents))
        assert row.perplexity == pytest.approx(math.exp(-row.log_prob / row.tokens))


def test_exact_rows_are_the_models_own_figures() -> None:
    pretrained, documents = make_bundle()
    ngram = estimate_ngrams(documents, pretrained.encoder)
    rows = measure_rows(pretrained, documents, ngram=ngram, sampling=FEW)
    by_name = {row.name: row for row in rows}
    for number, document in enumerate(documents):
        score = score_document(pretrained.get("generative"), document, ())
        expected = {
            "5-gram": ngram.score(document).sum(),
            "RNNLM": score_baseline(pretrained.get_language_model(), document).sum(),
            "EntityNLM joint": score.log_prob,
            "EntityNLM given-entities": score.x.sum(),
        }
        for name, value in expected.items():
            assert by_name[name].documents[number].log_prob == pytest.approx(float(value))
            assert by_name[name].standard_error == 0


def test_rnnlm_scores_windows_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    pretrained, documents = make_bundle()
    network = pretrained.get_language_model()
    whole = score_baseline(network, documents[0])
    monkeypatch.setattr(scoring, "SCORED_WORDS", 3)
    np.testing.assert_allclose(score_baseline(network, documents[0]), whole, atol=1e-6)
    empty = cut_document(documents[0], 0)
    assert score_baseline(network, empty).shape == (0,)


def test_the_same_seed_gives_the_same_figures() -> None:
    pretrained, documents = make_bundle()

    def measure(**options: int) -> float:
        sampling = replace(FEW, **options)
        return measure_rows(
            without_baseline(pretrained), documents, sampling=sampling, likelihoods=["marginal"]
        )[0].log_prob

    assert measure() == measure() != measure(seed=1)


def test_text_without_annotation_has_no_row_that_reads_it() -> None:
    pretrained, documents = make_bundle()
    bare = [with_analysis(document, Analysis.empty(len(document))) for document in documents]
    rows = measure_rows(without_baseline(pretrained), bare, sampling=FEW)
    assert [row.likelihood for row in rows] == ["marginal", "words-only", "words-mean", "words-mean-P"]
    annotated = measure_rows(without_baseline(pretrained), documents, sampling=FEW)
    assert rows[0].log_prob == annotated[0].log_prob, "the marginal does not look at the annotation"


def test_documents_without_words_are_left_out() -> None:
    pretrained, documents = make_bundle()
    empty = cut_document(documents[0], 0)
    rows = measure_rows(pretrained, [*documents, empty], sampling=FEW)
    assert all(len(row.documents) == len(documents) for row in rows)


def test_a_single_repeat_has_no_error_and_rows_survive_json() -> None:
    pretrained, documents = make_bundle()
    sampling = Sampling(particles=5, repeats=1)
    rows = measure_rows(without_baseline(pretrained), documents, sampling=sampling)
    assert math.isnan(rows[0].standard_error)
    for row in rows:
        again = msgspec.convert(json.loads(json.dumps(row.to_dict(), allow_nan=False)), ModelScores)
        assert again.to_dict() == row.to_dict()


def test_comparisons_are_between_comparable_rows_only() -> None:
    def row(model: str, likelihood: str, *log_probs: float) -> ModelScores:
        documents = tuple(DocumentLogProb(str(i), 10, value) for i, value in enumerate(log_probs))
        return ModelScores(model, likelihood, documents)  # type: ignore[arg-type]

    rows = [
        row("5-gram", "exact", -50, -52),
        row("EntityNLM", "marginal", -48, -49),
        row("EntityNLM", "joint", -90, -91),
    ]
    ((first, second, found),) = compare_models(rows)
    assert (first, second) == ("5-gram", "EntityNLM marginal")
    assert found.change == pytest.approx(math.exp(-5 / 20) - 1)
    assert found.wins == found.documents == 2
