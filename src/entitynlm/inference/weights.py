"""Weights of particles, always as logarithms, and resampling: which particles live on, and how often.

Functions of weights work along one axis, so that a matrix of (words, particles) or (repeats, words) is one call.
"""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def log_sum_exp(log_weights: npt.ArrayLike, axis: int = -1) -> FloatArray:
    """log Σ exp, without overflow; -inf where every weight is zero."""
    result: FloatArray = np.logaddexp.reduce(np.asarray(log_weights, dtype=np.float64), axis=axis)
    return result


def log_mean_exp(log_weights: npt.ArrayLike, axis: int = -1) -> FloatArray:
    """log of the mean weight, over *all* the weights there are, those of zero included."""
    values = np.asarray(log_weights, dtype=np.float64)
    return log_sum_exp(values, axis) - np.log(values.shape[axis])


def normalise(log_weights: npt.ArrayLike, axis: int = -1) -> FloatArray:
    """Weights that sum to one; equal ones where every weight is zero."""
    values = np.asarray(log_weights, dtype=np.float64)
    highest = np.max(values, axis=axis, keepdims=True)
    lost = ~np.isfinite(highest)
    weights = np.exp(np.where(lost, 0.0, values) - np.where(lost, 0.0, highest))
    result: FloatArray = weights / weights.sum(axis=axis, keepdims=True)
    return result


def effective_sample_size(log_weights: npt.ArrayLike, axis: int = -1) -> FloatArray:
    """(Σ w)² / Σ w²: how many equally weighted particles would be worth as much, from 1 to N."""
    weights = normalise(log_weights, axis)
    result: FloatArray = 1.0 / np.sum(weights**2, axis=axis)
    return result


@numba.njit(cache=True, nogil=True)
def accumulate_weights(log_weights, log_factors):  # type: ignore[no-untyped-def]
    """Multiply weights (N,), in place, with the factors (S, N) of S words; returns (S,) the log-mean-exp after each.

    The same as ``log_mean_exp(log_weights + np.cumsum(log_factors, axis=0))``, for the many short segments of a
    particle filter.
    """
    means = np.empty(len(log_factors))
    for s in range(len(log_factors)):
        highest = -np.inf
        for i in range(len(log_weights)):
            log_weights[i] += log_factors[s, i]
            if not log_weights[i] <= highest:  # true for nan too, which must not get lost
                highest = log_weights[i]
        total = 0.0
        for i in range(len(log_weights)):
            total += np.exp(log_weights[i] - highest)
        means[s] = highest + np.log(total / len(log_weights))
    return means


def resample(weights: FloatArray, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """(N,) the parent of each new particle, in ascending order, by systematic resampling of weights that sum to one.

    Particle i has N·w_i offspring on average, which keeps the estimate of P(X) unbiased. Of the known schemes this one uses the
    fewest random numbers (one) and strays least from that average.
    """
    points = (np.arange(len(weights)) + generator.random()) / len(weights)
    heights = np.cumsum(weights)
    # Dividing by the last height puts it at exactly one, so that rounding can't push a point beyond it.
    parents = np.searchsorted(heights / heights[-1], points, side="right")
    return np.minimum(parents, np.flatnonzero(weights)[-1]).astype(np.int64)
