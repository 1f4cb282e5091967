"""Weights as logarithms: right where plain numbers would do, and finite where they would not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import softmax

from entitynlm.inference import weights as weighing
from entitynlm.inference.particles import MEMORY_COLUMNS, Particles
from entitynlm.inference.weights import draw_offspring, log_mean_exp, log_sum_exp, measure_islands

moderate = arrays(np.float64, st.integers(1, 30), elements=st.floats(-30, 30))


@given(moderate)
def test_small_weights_as_plain_numbers(log_weights: np.ndarray) -> None:
    weights = np.exp(log_weights)
    assert float(log_sum_exp(log_weights)) == pytest.approx(np.log(weights.sum()), abs=1e-12)
    assert float(log_mean_exp(log_weights)) == pytest.approx(np.log(weights.mean()), abs=1e-12)
    ones, island = np.ones(len(weights), dtype=np.int64), np.zeros(len(weights), dtype=np.int64)
    (size,) = measure_islands(log_weights, ones, island, 1)
    assert size == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_the_mean_is_over_all_weights_those_of_zero_included() -> None:
    """A public implementation divides by the wrong count; that is worth nats per document."""
    log_weights = np.array([0.0, -np.inf, -np.inf, np.log(3.0)])
    assert float(log_mean_exp(log_weights)) == pytest.approx(0.0)


def test_weights_of_long_documents_stay_finite() -> None:
    log_weights = np.array([-30_000.0, -30_001.0, -31_000.0])
    assert float(log_mean_exp(log_weights)) == pytest.approx(-30_000 + np.log((1 + np.exp(-1)) / 3))


def test_no_weight_at_all() -> None:
    nothing = np.full(4, -np.inf)
    assert float(log_mean_exp(nothing)) == -np.inf


def make_particles(log_weights: np.ndarray, copies: np.ndarray, island: np.ndarray) -> Particles:
    """Particles that are told apart by their number of mentions, and by what they know about entities."""
    numbers = np.arange(len(island), dtype=np.int32)
    memory = np.repeat(numbers, MEMORY_COLUMNS).reshape(-1, 1, MEMORY_COLUMNS)
    columns = [0 * numbers, numbers, *(0 * numbers for _ in range(4)), copies.copy(), island.copy()]
    parts = np.zeros((5, len(island)))
    return Particles(
        memory, *(column.copy() for column in columns), log_weights.copy(), parts, np.array([len(island)])
    )


@given(st.data())
def test_offspring_of_particles_that_stand_for_several(data: st.DataObject) -> None:
    """Counted at once as by resampling each of them, island by island; the others stay as they are."""
    size, count = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 30))
    rng = np.random.default_rng(data.draw(st.integers(0, 999)))
    log_weights, copies = rng.normal(0, 3, 2 * size), rng.integers(1, 6, 2 * size)
    log_weights[0] = -np.inf if size > 1 and rng.random() < 0.3 else log_weights[0]
    log_weights[1::2], copies[1::2] = 0, copies[1::2] + 100  # the second island has no need of it
    island, points, log_means = np.arange(2 * size) % 2, rng.random(2), np.zeros(2)
    particles = make_particles(log_weights, copies, island)
    weighing.resample(particles, points, count, 100 / count, log_means)
    used = particles.used[0]
    assert not particles.copies[used:].any()
    parents, offspring, after = (
        particles.mentions[:used],
        particles.copies[:used],
        particles.log_weights[:used],
    )
    np.testing.assert_array_equal(particles.memory[:used, 0, 0], parents)
    first, second = log_weights[::2] + np.log(copies[::2]), particles.island[:used] == 1
    expected = np.searchsorted(
        np.cumsum(softmax(first))[:-1], (np.arange(count) + points[0]) / count, side="right"
    )
    found = np.repeat(parents[~second], offspring[~second])
    assert found.tolist() == (2 * expected).tolist() and not after[~second].any()
    assert log_means[0] == pytest.approx(float(weighing.log_sum_exp(first)) - np.log(count))
    assert log_means[1] == 0 and parents[second].tolist() == list(range(1, 2 * size, 2))
    np.testing.assert_array_equal(offspring[second], copies[1::2])
    np.testing.assert_array_equal(after[second], log_weights[1::2])


weight_lists = st.lists(st.floats(0, 1), min_size=1, max_size=20).filter(lambda values: sum(values) > 1e-3)


def count_offspring(weights: np.ndarray, uniform: float) -> np.ndarray:
    """How many of as many new particles as there are weights descend from each."""
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    offspring, log_total = draw_offspring(
        log_weights, np.ones(len(weights), dtype=np.int64), uniform, len(weights)
    )
    assert log_total == pytest.approx(np.log(weights.sum()))
    return np.asarray(offspring)


@given(values=weight_lists, uniform=st.floats(0, 1, exclude_max=True))
def test_offspring_is_within_one_of_its_mean(values: list[float], uniform: float) -> None:
    weights = np.array(values) / sum(values)
    counts = count_offspring(weights, uniform)
    assert counts.sum() == len(weights) and not counts[weights == 0].any()
    assert (np.abs(counts - len(weights) * weights) < 1 + 1e-9).all()


def test_mean_number_of_offspring() -> None:
    weights = np.array([0.5, 0.01, 0.0, 0.24, 0.25])
    generator = np.random.default_rng(1)
    draws = np.array([count_offspring(weights, generator.random()) for _ in range(20_000)])
    error = draws.std(0) / np.sqrt(len(draws))
    assert (np.abs(draws.mean(0) - 5 * weights) <= 4 * error + 1e-12).all()
