"""Resampling: on average N · w_i offspring for particle i, each within one of it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.inference.weights import resample

weight_lists = st.lists(st.floats(0, 1), min_size=1, max_size=20).filter(lambda values: sum(values) > 1e-3)


@given(values=weight_lists, seed=st.integers(0, 2**32 - 1))
def test_parents_are_particles_that_have_weight(values: list[float], seed: int) -> None:
    weights = np.array(values) / sum(values)
    parents = resample(weights, np.random.default_rng(seed).random(), len(weights))
    assert len(parents) == len(weights)
    assert (np.diff(parents) >= 0).all()
    assert (weights[parents] > 0).all()


@given(values=weight_lists, seed=st.integers(0, 2**32 - 1))
def test_counts_are_within_one_of_their_mean(values: list[float], seed: int) -> None:
    weights = np.array(values) / sum(values)
    parents = resample(weights, np.random.default_rng(seed).random(), len(weights))
    counts = np.bincount(parents, minlength=len(weights))
    assert (np.abs(counts - len(weights) * weights) < 1 + 1e-9).all()


def test_mean_number_of_offspring() -> None:
    weights = np.array([0.5, 0.01, 0.0, 0.24, 0.25])
    generator = np.random.default_rng(1)
    draws = np.array(
        [np.bincount(resample(weights, generator.random(), 5), minlength=5) for _ in range(20_000)]
    )
    error = draws.std(0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(0) - 5 * weights) <= 4 * error + 1e-12).all()


def test_equal_weights_leave_everyone_alone() -> None:
    parents = resample(np.full(7, 1 / 7), np.random.default_rng(0).random(), 7)
    np.testing.assert_array_equal(parents, np.arange(7))
