"""The estimators against the enumerated truth, and the traps that others fell into."""

from typing import Any, get_args

import numpy as np
import pytest
import torch

from entitynlm.errors import ConfigError, InferenceError
from entitynlm.inference.marginal import Method, average_words, estimate_error, estimate_log_prob
from entitynlm.model.noise import DrawnNoise
from support.enumeration import enumerate_log_prob, list_analyses, score_analyses, with_analysis
from support.scoring import score_encoded
from support.small_networks import make_network, make_words


def assert_unbiased(ratios: np.ndarray) -> None:
    """Estimates of P(X) over its true value have mean one; four standard errors are allowed, once in 16,000."""
    error = ratios.std(ddof=1) / np.sqrt(len(ratios))
    assert error < 0.1, "too few estimates for this to be a test"
    assert abs(ratios.mean() - 1) < 4 * error


def test_the_weight_of_one_particle_has_no_bias() -> None:
    model, proposal = (
        make_network("generative", mention_types=2),
        make_network("causal", seed=1, std=0.3, mention_types=2),
    )
    document = make_words(5)
    options: dict[str, Any] = {"particles": 1, "repeats": 5_000, "method": "importance"}
    estimate = estimate_log_prob(model, proposal, document, **options)
    assert_unbiased(np.exp(estimate.repeats - enumerate_log_prob(model, document)))


def test_filtered_estimates_have_no_bias() -> None:
    """Few particles that are resampled after every word: the estimate is poor, and right on average."""
    model, proposal = make_network("generative"), make_network("causal", seed=1, std=0.3)
    document = make_words(5)
    estimate = estimate_log_prob(
        model, proposal, document, particles=4, repeats=150, check_every=1, resample_threshold=1.0
    )
    assert_unbiased(np.exp(estimate.repeats - enumerate_log_prob(model, document)))


@pytest.mark.parametrize("method", get_args(Method))
def test_birth_noise_is_part_of_what_is_estimated(method: Method) -> None:
    """With noise the truth is a mean over the noise, here over 500 draws for every analysis."""
    model = make_network("generative", sigma=0.8, seed=2)
    proposal, document = make_network("causal", seed=1, std=0.3), make_words(3)
    analyses = list_analyses(model, document)
    noise = DrawnNoise(torch.Generator().manual_seed(0))
    drawn = np.exp(score_analyses(model, document, analyses * 500, noise=noise)).reshape(500, -1).sum(1)
    truth, error = np.log(drawn.mean()), drawn.std() / drawn.mean() / np.sqrt(500)
    estimate = estimate_log_prob(model, proposal, document, particles=10, repeats=1_000, method=method)
    tolerance = 4 * np.hypot(estimate.standard_error, error)
    assert abs(estimate.log_prob - truth) < tolerance
    assert abs(enumerate_log_prob(model, document) - truth) > tolerance, "the noise must matter here"


def test_conditionals_find_the_truth() -> None:
    """log p(x_t | x_<t) is the difference of two enumerated marginals: those of the text and of its beginnings."""
    model, proposal = make_network("generative", seed=4), make_network("causal", seed=5, std=0.3)
    document = make_words(5, seed=2)
    beginnings = [make_words(5, seed=2) for _ in range(5)]
    truth = []
    for length, text in enumerate(beginnings, start=1):
        shorter = type(text)(
            text.id, *(getattr(text, name)[:length] for name in ("x", "r", "e", "l", "sentence", "origin"))
        )
        truth.append(enumerate_log_prob(model, shorter))
    estimate = estimate_log_prob(model, proposal, document, particles=20_000, repeats=4)
    np.testing.assert_allclose(np.cumsum(estimate.per_token), truth, atol=0.06)


def test_a_filter_that_never_resamples_is_importance_sampling() -> None:
    model, proposal = make_network("generative", sigma=0.3), make_network("causal", seed=1)
    document = make_words(150)
    kwargs: dict[str, Any] = {"particles": 7, "repeats": 3, "seed": 5}
    one = estimate_log_prob(model, proposal, document, method="importance", **kwargs)
    other = estimate_log_prob(
        model, proposal, document, method="particle-filter", resample_threshold=0, **kwargs
    )
    np.testing.assert_allclose(one.per_token, other.per_token, rtol=0, atol=1e-10)
    assert one.standard_error == pytest.approx(other.standard_error, abs=1e-10)


@pytest.mark.parametrize("method", get_args(Method))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_long_documents_stay_finite(method: Method, dtype: torch.dtype) -> None:
    model = make_network("generative", std=1.5, sigma=0.1, max_length=5).to(dtype)
    proposal = make_network("causal", std=1.5, seed=1, max_length=5).to(dtype)
    document = make_words(5_000, sentence_length=20)
    estimate = estimate_log_prob(
        model, proposal, document, particles=8, repeats=2, method=method, check_every=20
    )
    assert np.isfinite(estimate.per_token).all()
    assert estimate.log_prob < -5_000
    assert estimate.per_token.sum() == pytest.approx(estimate.log_prob, rel=1e-9)


@pytest.mark.parametrize("method", get_args(Method))
def test_the_standard_error_is_that_of_repeating_everything(method: Method) -> None:
    model, proposal = make_network("generative"), make_network("causal", seed=1, std=0.3)
    document = make_words(20)
    found = [
        estimate_log_prob(
            model, proposal, document, particles=30, repeats=8, method=method, seed=seed, check_every=5
        )
        for seed in range(40)
    ]
    spread = np.std([estimate.log_prob for estimate in found], ddof=1)
    claimed = np.sqrt(np.mean([estimate.standard_error**2 for estimate in found]))
    # Each of 40 estimates of a variance has 7 degrees of freedom, the spread has 39: a factor of 1.6 is three sigma.
    assert 1 / 1.6 < claimed / spread < 1.6


def test_standard_error_of_close_and_of_far_estimates() -> None:
    close = np.array([-10.0, -10.1, -9.95, -10.02])
    assert estimate_error(close) == pytest.approx(close.std(ddof=1) / 2, rel=0.1)
    far = np.array([-100.0, -120.0, -150.0, -170.0])  # one carries all: we know only that others may come
    assert estimate_error(far) > 10
    assert np.isnan(estimate_error(np.array([-3.0])))


def test_words_are_averaged_over_samples_of_the_proposal() -> None:
    model, proposal = make_network("generative"), make_network("causal", seed=1, std=0.3)
    document = make_words(4)
    (of_logs,), (of_means,) = average_words(
        model, proposal, document, particles=20_000, repeats=1, seed=0, prior_share=0.0
    )
    analyses = list_analyses(model, document)
    shares = np.exp(score_analyses(proposal, document, analyses))
    with torch.no_grad():
        texts = [with_analysis(document, analysis) for analysis in analyses]
        words = score_encoded(model, texts, noise=None).x.double().reshape(len(analyses), -1).numpy()
    assert of_logs == pytest.approx(float(shares @ words.sum(1)), abs=0.01)
    assert of_means == pytest.approx(float(np.log(shares @ np.exp(words)).sum()), abs=0.01)


def test_what_can_not_be_estimated() -> None:
    model, proposal, document = make_network("generative"), make_network("causal"), make_words(3)
    with pytest.raises(ConfigError, match="a seed is a whole number"):
        estimate_log_prob(model, proposal, document, seed=-1)
    with pytest.raises(ConfigError, match="evaluation mode"):
        estimate_log_prob(make_network("generative").train(), proposal, document)


def test_damaged_parameters_are_named() -> None:
    model, proposal = make_network("generative"), make_network("causal", seed=1)
    model.W_r.data[:] = torch.nan
    with pytest.raises(InferenceError, match="damaged"):
        estimate_log_prob(model, proposal, make_words(10))
