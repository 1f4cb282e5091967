"""The compiled kernels against the libraries' own."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.inference.kernels import exponentiate, multiply_block, multiply_rows
from entitynlm.inference.particle_filter import FilterConfig, ParticleFilter, make_word_scorer
from entitynlm.inference.readings import Readings
from entitynlm.inference.words.word_scorer import (
    WordScorer,
    _score_classes,
    prepare_weights,
    shift_and_exponentiate,
)
from support.small_networks import make_network, make_words


@given(st.integers(1, 9), st.integers(1, 12))
def test_products(size: int, rows: int) -> None:
    generator = np.random.default_rng(size * 100 + rows)
    matrix, vector, out = generator.normal(size=(rows, size)), generator.normal(size=size), np.zeros(rows)
    multiply_rows(matrix, vector, out)
    np.testing.assert_allclose(out, matrix @ vector, atol=1e-12)


@given(st.integers(1, 9), st.integers(1, 12), st.integers(0, 5), st.integers(0, 11))
def test_products_in_blocks(size: int, rows: int, count: int, skipped: int) -> None:
    generator = np.random.default_rng(size * 100 + rows)
    matrix, vectors = generator.normal(size=(rows + skipped + 2, size)), generator.normal(size=(6, size))
    out = np.full((6, rows), 7.0)
    multiply_block(matrix, skipped, skipped + rows, vectors, count, out)
    np.testing.assert_allclose(out[:count], vectors[:count] @ matrix[skipped : skipped + rows].T, atol=1e-12)
    assert (out[count:] == 7).all()


def test_exponentials_in_single_precision() -> None:
    values = np.concatenate([-np.logspace(-8, np.log10(87), 20_000), [0.0]]).astype(np.float32)
    out, bits = np.zeros_like(values), np.empty(len(values), dtype=np.int32)
    exponentiate(values, out, bits)
    np.testing.assert_allclose(out, np.exp(values.astype(np.float64)), rtol=4e-7)
    values[:] = -1000  # too small to be held: some number that does not matter, and not garbage
    exponentiate(values, out, bits)
    assert ((out >= 0) & (out < 1e-37)).all()


def test_exponentials_in_double_precision_are_the_librarys() -> None:
    values = -np.random.default_rng(0).random(50) * 700
    out = np.zeros(50)
    exponentiate(values, out, np.empty(50, dtype=np.int32))
    np.testing.assert_allclose(out, np.exp(values), rtol=1e-15)


def test_class_scores_that_would_underflow_are_added_with_care() -> None:
    """A word and a row that are sure of different classes: all products of their exponentials vanish."""
    u = np.array([[0.0, -90.0, -200.0]], dtype=np.float32)
    v = np.array([[-90.0, 0.0, -200.0]], dtype=np.float32)
    exp_u, exp_v = np.exp(u), np.exp(v)
    scores = np.empty(1)
    zero = np.zeros(1, dtype=np.int64)
    _score_classes(u, exp_u, v, exp_v, zero + 1, zero, zero, zero, zero, scores)
    expected = torch.log_softmax(torch.tensor(u[0] + v[0]), 0)[1]
    assert scores[0] == pytest.approx(float(expected), rel=1e-6)


def test_shifting() -> None:
    scores = np.array([[3.0, 1.0], [-5.0, 2.0]])
    exponentials = np.zeros((2, 2))
    shift_and_exponentiate(scores, 1, 2, exponentials, np.empty(2, dtype=np.int32))
    np.testing.assert_array_equal(scores, [[3, 1], [-7, 0]])
    np.testing.assert_allclose(exponentials, [[0, 0], [np.exp(-7), 1]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("options", [{}, {"tied": True}, {"mention_positions": 2}])
def test_both_word_scorers_agree(dtype: torch.dtype, options: dict[str, Any]) -> None:
    model = make_network("generative", std=1.0, **options).to(dtype)
    proposal, document = make_network("causal", seed=1).to(dtype), make_words(200)
    found = []
    for scorer in (WordScorer(model), make_word_scorer(model)):
        config = FilterConfig(20, words=16, threshold=0.5)
        particle_filter = ParticleFilter(model, proposal, config, np.random.SeedSequence(3))
        particle_filter._words = scorer
        (chunk,) = Readings(document).read(model, proposal)
        found.append(particle_filter.advance(chunk, end=200))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5 if dtype == torch.float32 else 1e-10)


def test_prepared_weights_follow_the_parameters() -> None:
    network = make_network("generative", mention_positions=2)
    first = prepare_weights(network, 5)
    assert prepare_weights(network, 5) is first
    with torch.no_grad():
        network.W_e.mul_(2)
    np.testing.assert_allclose(prepare_weights(network, 5).entity_weight, 2 * first.entity_weight)
