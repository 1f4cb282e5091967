"""Randomisation over documents is exact for few of them and right as often as it says; intervals come from drawn documents."""

import numpy as np
import pytest

from entitynlm.errors import ConfigError
from entitynlm.statistics import bootstrap_ratio, flip_signs, randomise


def test_few_documents_are_judged_exactly_in_any_unit() -> None:
    for unit in (1e-9, 1.0, 1e9):
        assert (
            flip_signs(np.array([1.0, 2.0, 0.5]) * unit) == 2 / 8
        )  # all gains, or all losses, of eight patterns
        assert (
            flip_signs(np.array([1.0, -2.0, 3.0]) * unit) == 6 / 8
        )  # of |±1 ±2 ±3| = 6, 6, 4, 4, 2, 2, 0, 0
    assert flip_signs([0.0, 0.0]) == 1


def test_drawn_swaps_come_near_the_exact_p_value_for_every_figure() -> None:
    gains = np.random.default_rng(1).normal(0.3, 1, (12, 2))

    def compare(swaps: np.ndarray) -> np.ndarray:
        return (1.0 - 2.0 * swaps) @ gains

    exact = randomise(compare, 12)
    drawn = randomise(compare, 12, trials=4_000)
    assert exact.shape == drawn.shape == (2,)
    # four standard errors of a share of 4,000 trials
    np.testing.assert_allclose(drawn, exact, atol=4 * 0.5 / np.sqrt(4_000))
    assert flip_signs(np.ones(40), trials=999) == 1 / 1000


def test_the_interval_of_a_mean_is_that_of_its_standard_error() -> None:
    values = np.random.default_rng(2).normal(3, 2, 400)
    interval = bootstrap_ratio(values, np.ones(400))
    error = values.std() / np.sqrt(400)
    assert interval.low == pytest.approx(values.mean() - 1.96 * error, abs=0.1 * error)
    assert interval.high == pytest.approx(values.mean() + 1.96 * error, abs=0.1 * error)


def test_a_test_needs_a_trial() -> None:
    with pytest.raises(ConfigError, match="at least one trial"):
        flip_signs([1.0, 2.0], trials=0)
    with pytest.raises(ConfigError, match="at least one trial"):
        bootstrap_ratio([1.0], [1.0], trials=0)
