"""The truth itself, and that the compiled sampler's own numbers add up to it."""

from typing import Any

import numpy as np
import pytest
import torch

from entitynlm.errors import InferenceError
from entitynlm.inference.weights import log_sum_exp
from entitynlm.model.noise import DrawnNoise, FixedNoise
from support.enumeration import (
    count_analyses,
    enumerate_analyses,
    enumerate_log_prob,
    enumerate_mean_weight,
    list_analyses,
    score_analyses,
    weigh_analyses,
    with_analysis,
)
from support.scoring import score_encoded
from support.slow_twin import SlowTwin
from support.small_networks import make_network, make_words

VARIANTS: list[dict[str, Any]] = [
    {"mention_positions": 2, "mention_types": 2},
    {"mention_positions": 2, "softmax": "full", "max_length": 2},
    {},
    {"mention_types": 2, "features": "rich"},
    {"new_entity": "zero", "features": "none"},
    {"softmax": "full", "max_length": 2},
    {"tied": True},
]


@pytest.mark.parametrize(
    ("words", "max_length", "mention_types"), [(1, 3, 1), (4, 2, 1), (5, 3, 1), (4, 3, 2)]
)
def test_every_analysis_comes_once(words: int, max_length: int, mention_types: int) -> None:
    found = list(enumerate_analyses(words, max_length=max_length, mention_types=mention_types))
    keys = {(tuple(a.mention_type), tuple(a.entity), tuple(a.remaining)) for a in found}
    assert (
        len(keys) == len(found) == count_analyses(words, max_length=max_length, mention_types=mention_types)
    )
    assert all(analysis.remaining[-1] == 1 for analysis in found)


def test_too_long_a_text_is_refused() -> None:
    with pytest.raises(InferenceError, match="handful of words"):
        enumerate_log_prob(make_network("generative"), make_words(14))


@pytest.mark.parametrize("noise", [None, FixedNoise(3)])
def test_enumeration_agrees_with_the_slow_twin(noise: FixedNoise | None) -> None:
    model, document = make_network("generative", sigma=0.4, mention_types=2), make_words(4)
    twin = SlowTwin(model, noise)
    scores = []
    for analysis in list_analyses(model, document):
        with torch.no_grad():
            tokens = twin.score(with_analysis(document, analysis))
        scores.append(sum(float(token.r + token.e + token.l + token.x) for token in tokens))
    assert enumerate_log_prob(model, document, noise=noise) == pytest.approx(
        float(log_sum_exp(scores)), abs=1e-10
    )


@pytest.mark.parametrize("options", VARIANTS)
@pytest.mark.parametrize("prior_share", [0.0, 0.8])
def test_mean_weight_is_the_marginal(options: dict[str, Any], prior_share: float) -> None:
    shared = {key: value for key, value in options.items() if key in ("mention_types", "max_length")}
    model = make_network("generative", **options)
    proposal = make_network("causal", seed=1, hidden_size=7, **shared)
    document = make_words(5)
    truth = enumerate_log_prob(model, document)
    found = enumerate_mean_weight(model, proposal, document, prior_share=prior_share)
    assert found == pytest.approx(truth, abs=1e-10)


@pytest.mark.parametrize("prior_share", [0.0, 0.3, 1.0])
def test_the_mixed_proposal_is_a_distribution(prior_share: float) -> None:
    model, proposal = (
        make_network("generative", mention_types=2),
        make_network("causal", seed=1, mention_types=2),
    )
    document = make_words(5)
    analyses = list_analyses(model, document)
    _, log_q = weigh_analyses(model, proposal, document, analyses, prior_share=prior_share)
    assert float(log_sum_exp(log_q)) == pytest.approx(0.0, abs=1e-10)


def test_the_mixed_proposal_at_one_word() -> None:
    """One word has one choice of R, and that of a newborn one word long is certain: the mixture is plain to see."""
    model, proposal, document = make_network("generative"), make_network("causal", seed=1), make_words(1)
    analyses = list_analyses(model, document)
    log_p = score_encoded(model, [with_analysis(document, a) for a in analyses], noise=None)
    P, Q = log_p.r.exp().detach().numpy(), np.exp(score_analyses(proposal, document, analyses))
    _, log_q = weigh_analyses(model, proposal, document, analyses, prior_share=0.3)
    np.testing.assert_allclose(np.exp(log_q), 0.7 * Q + 0.3 * P, rtol=1e-10)


@pytest.mark.parametrize("options", VARIANTS)
def test_the_sampler_scores_as_the_model_does(options: dict[str, Any]) -> None:
    """log P and log Q of every analysis, and Q is a distribution over them: it covers the support and sums to one."""
    model = make_network("generative", seed=2, **options)
    proposal = make_network(
        "causal", seed=3, **{k: v for k, v in options.items() if k not in ("softmax", "tied")}
    )
    document = make_words(6 if options.get("max_length") == 2 else 5, seed=1, sentence_length=2)
    analyses = list_analyses(model, document)
    log_p, log_q = weigh_analyses(model, proposal, document, analyses)
    np.testing.assert_allclose(log_p, score_analyses(model, document, analyses), atol=1e-9)
    np.testing.assert_allclose(log_q, score_analyses(proposal, document, analyses), atol=1e-9)
    assert np.isfinite(log_q).all()
    assert float(log_sum_exp(log_q)) == pytest.approx(0.0, abs=1e-10)


def test_noise_moves_the_sampler_as_it_moves_the_model() -> None:
    """With birth noise log P differs from draw to draw; mean and spread over draws are those of the model."""
    model, proposal = make_network("generative", sigma=0.5), make_network("causal", seed=1)
    document = make_words(4)
    analysis = max(list_analyses(model, document), key=lambda a: int(a.entity.max()))
    log_p, log_q = weigh_analyses(model, proposal, document, [analysis] * 4_000)
    assert np.ptp(log_q) == 0  # Q has no noise
    noise = DrawnNoise(torch.Generator().manual_seed(0))
    expected = score_analyses(model, document, [analysis] * 4_000, noise=noise)
    error = np.hypot(log_p.std() / np.sqrt(len(log_p)), expected.std() / np.sqrt(len(expected)))
    assert abs(log_p.mean() - expected.mean()) < 4 * error
    assert log_p.std() == pytest.approx(expected.std(), rel=0.1)
