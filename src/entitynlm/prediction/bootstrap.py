"""Significance tests for clustered answers: slots of one story are alike, so whole stories are resampled.

The paper's test, the paired t-test over slots, takes slots for independent and so finds differences too easily. Beside it are a
permutation test that swaps the two systems' answers story by story, and bootstrap intervals over stories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from entitynlm.errors import ConfigError

TRIALS = 10_000
TOLERANCE = 1e-12


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True)
class PairedComparison:
    """Second minus first, in the unit of the values: the difference, its interval, and the p-values of both tests."""

    difference: float
    interval: Interval
    t_test: float
    permutation: float


def bootstrap_mean(values: Sequence[float], clusters: Sequence[str], *, trials: int = TRIALS) -> Interval:
    """The interval of a mean, by drawing clusters with replacement."""
    sums, counts = _add_up(np.asarray(values, dtype=float), clusters)
    drawn = np.random.default_rng(0).integers(len(sums), size=(trials, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    return Interval(*np.quantile(means, [0.025, 0.975]).tolist())


def compare_paired(
    first: Sequence[float], second: Sequence[float], clusters: Sequence[str], *, trials: int = TRIALS
) -> PairedComparison:
    if len(first) != len(second):
        raise ConfigError(f"two systems with {len(first)} and {len(second)} answers can't be compared")
    change = np.asarray(second, dtype=float) - np.asarray(first, dtype=float)
    sums, _ = _add_up(change, clusters)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), size=(trials, len(sums)))
    extreme = int((np.abs(signs @ sums) >= abs(sums.sum()) - TOLERANCE).sum())
    if np.all(change == change[0]):  # the t-test is not defined
        p_value = float(change[0] == 0)
    else:
        p_value = float(stats.ttest_1samp(change, 0.0).pvalue)
    interval = bootstrap_mean(change.tolist(), clusters, trials=trials)
    return PairedComparison(float(change.mean()), interval, p_value, (extreme + 1) / (trials + 1))


def _add_up(values: np.ndarray, clusters: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    if len(values) != len(clusters) or not len(values):
        raise ConfigError(f"{len(values)} values in {len(clusters)} clusters can't be tested")
    _, owners = np.unique(np.asarray(clusters), return_inverse=True)
    return np.bincount(owners, weights=values), np.bincount(owners)
