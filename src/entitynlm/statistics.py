"""Paired tests and intervals whose units are whole documents (decision 031).

Words, mentions and slots of one document depend on each other, so a test over them would find everything significant. A
randomisation test (Noreen 1989) lets each document's results change sides between two systems; a bootstrap interval draws
documents with replacement.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from entitynlm.errors import ConfigError

TRIALS = 10_000
TRIALS_AT_ONCE = 1_024  # so that a corpus of thousands of documents fits into memory
ROUNDING = 1e-12  # differences between equal sums that were added in another order

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Interval:
    """Bounds of a 95 % interval."""

    low: float
    high: float


def randomise(
    compare: Callable[[Bools], Floats], documents: int, *, trials: int = TRIALS, seed: int = 0
) -> Floats:
    """Compute two-sided p-values by randomisation; exact where there are at most ``trials`` ways to swap the documents.

    :param compare: maps (N, documents) swaps to the difference between the two systems after each swap, (N,) or (N, figures).
    :return: (1,) or (figures,) p-values.
    """
    observed = np.abs(compare(np.zeros((1, documents), dtype=np.bool_))[0]) - ROUNDING
    extreme, count = np.zeros_like(np.atleast_1d(observed)), 0
    for swaps in _draw_swaps(documents, trials, seed):
        extreme += (np.abs(compare(swaps)) >= observed).sum(axis=0)
        count += len(swaps)
    exact = count == 2**documents
    return extreme / count if exact else (extreme + 1) / (count + 1)


def _draw_swaps(documents: int, trials: int, seed: int) -> Iterator[Bools]:
    """Yield (N, documents) swaps: every pattern once if these are at most ``trials``, else random ones."""
    if 2**documents <= trials:
        yield (np.arange(2**documents)[:, None] >> np.arange(documents)) & 1 > 0
        return
    generator = np.random.default_rng(seed)
    for rows in _divide_trials(trials):
        yield generator.random((rows, documents)) < 0.5


def _divide_trials(trials: int) -> list[int]:
    if trials < 1:
        raise ConfigError(f"a randomisation test needs at least one trial, not {trials}")
    return [min(TRIALS_AT_ONCE, trials - start) for start in range(0, trials, TRIALS_AT_ONCE)]


def flip_signs(gains: npt.ArrayLike, *, trials: int = TRIALS, seed: int = 0) -> float:
    """Compute the p-value of a sum of gains, one per document, by letting each gain be a loss of the same size."""
    values = np.asarray(gains, dtype=np.float64)
    # so that rounding errors do not depend on the unit
    values = values / max(float(np.abs(values).sum()), 1e-300)
    return float(
        randomise(lambda swaps: (1.0 - 2.0 * swaps) @ values, len(values), trials=trials, seed=seed)[0]
    )


def bootstrap_ratio(
    numerators: npt.ArrayLike, denominators: npt.ArrayLike, *, trials: int = TRIALS, seed: int = 0
) -> Interval:
    """Estimate the interval of a ratio of sums over documents, by drawing documents with replacement."""
    upper, lower = (np.asarray(values, dtype=np.float64) for values in (numerators, denominators))
    generator = np.random.default_rng(seed)
    ratios = []
    for rows in _divide_trials(trials):
        drawn = generator.integers(len(upper), size=(rows, len(upper)))
        ratios.append(upper[drawn].sum(axis=1) / lower[drawn].sum(axis=1))
    return Interval(*np.quantile(np.concatenate(ratios), [0.025, 0.975]).tolist())
