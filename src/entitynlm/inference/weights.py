"""Weights of particles, always as logarithms, and resampling: which particles live on, and how often."""

import numpy as np
import numpy.typing as npt

from entitynlm.compilation import njit

FloatArray = npt.NDArray[np.float64]


def log_sum_exp(log_weights: npt.ArrayLike, axis: int = -1) -> FloatArray:
    """log Σ exp, without overflow; -inf where every weight is zero."""
    result: FloatArray = np.logaddexp.reduce(np.asarray(log_weights, dtype=np.float64), axis=axis)
    return result


def log_mean_exp(log_weights: npt.ArrayLike, axis: int = -1) -> FloatArray:
    """log of the mean weight, over *all* the weights there are, those of zero included."""
    values = np.asarray(log_weights, dtype=np.float64)
    return log_sum_exp(values, axis) - np.log(values.shape[axis])


@njit(nogil=True)
def measure_islands(log_weights, copies, island, islands):  # type: ignore[no-untyped-def]
    """Give (islands,) the effective sample size (Σ w)² / Σ w² of each island's particles, which stand for ``copies`` each."""
    highest, totals, squares = np.full(islands, -np.inf), np.zeros(islands), np.zeros(islands)
    for i in range(len(log_weights)):
        highest[island[i]] = max(highest[island[i]], log_weights[i])
    for i in range(len(log_weights)):
        weight = np.exp(log_weights[i] - highest[island[i]])
        totals[island[i]] += copies[i] * weight
        squares[island[i]] += copies[i] * weight * weight
    return totals**2 / squares


@njit(nogil=True)
def weigh_words(log_weights, parts, log_q, choices, log_words, island, islands):  # type: ignore[no-untyped-def]
    """Multiply weights (N,), in place, with P / Q of S words; returns these factors (S, N) and (islands, S) the log-mean-exp of
    each island's weights after each word.

    ``parts`` (4, N) and ``log_q`` (N,) add up log P of R, E, L and X and log Q. Particle i counts ``choices.copies[s, i]`` times
    at word s: a sum has exactly the terms of that word, so that not even its rounding depends on the words to come.
    """
    copies, log_p = choices.copies, choices.log_p
    factors, means = np.empty(log_words.shape), np.empty((islands, len(log_words)))
    highest, totals, counts = np.empty(islands), np.empty(islands), np.empty(islands)
    for s in range(len(log_words)):
        highest[:], totals[:], counts[:] = -np.inf, 0.0, 0.0
        for i in range(len(log_weights)):
            for part in range(3):
                parts[part, i] += log_p[part, s, i]
            parts[3, i] += log_words[s, i]
            log_q[i] += choices.log_q[s, i]
            factors[s, i] = (
                log_p[0, s, i] + log_p[1, s, i] + log_p[2, s, i] + log_words[s, i] - choices.log_q[s, i]
            )
            log_weights[i] += factors[s, i]
            if copies[s, i] > 0 and not log_weights[i] <= highest[island[i]]:
                highest[island[i]] = log_weights[i]  # nan too, which must not get lost
        for i in range(len(log_weights)):
            if copies[s, i] > 0:
                totals[island[i]] += copies[s, i] * np.exp(log_weights[i] - highest[island[i]])
                counts[island[i]] += copies[s, i]
        for r in range(islands):
            means[r, s] = highest[r] + np.log(totals[r] / counts[r])
    return factors, means


@njit(nogil=True)
def draw_offspring(log_weights, copies, uniform, count):  # type: ignore[no-untyped-def]
    """Draw (n,) how many of ``count`` new particles descend from each that stands for so many ``copies``, and log Σ copies · w.

    Systematic resampling: particle i has count·w_i offspring on average, which keeps the estimate of P(X) unbiased. Of the known
    schemes this one uses the fewest random numbers (one, which is uniform) and strays least from that average.
    """
    highest = log_weights.max()
    weights = copies * np.exp(log_weights - highest)
    heights = np.cumsum(weights)
    offspring, last = np.zeros_like(copies), len(weights) - 1
    while weights[last] == 0:
        last -= 1
    i = 0
    for j in range(count):
        while i < last and heights[i] / heights[-1] <= (j + uniform) / count:
            i += 1
        offspring[i] += 1
    return offspring, highest + np.log(heights[-1])


@njit(nogil=True)
def resample_islands(log_weights, copies, island, low, points, count):  # type: ignore[no-untyped-def]
    """Resample the islands that are ``low``: parents, how many each of them becomes, their log-weights, and (islands,) the mean
    weight, as a logarithm, that is a factor of an island's evidence from now on. Other islands stay as they are.
    """
    parents, offspring, after = np.empty_like(island), np.empty_like(copies), np.empty_like(log_weights)
    log_means, found = np.zeros(len(low)), 0
    for r in range(len(low)):
        family = np.flatnonzero(island == r)
        children = copies[family]
        if low[r]:
            children, log_total = draw_offspring(log_weights[family], copies[family], points[r], count)
            log_means[r] = log_total - np.log(count)
        for place in range(len(family)):
            if children[place] > 0:
                parents[found], offspring[found] = family[place], children[place]
                after[found] = 0.0 if low[r] else log_weights[family[place]]
                found += 1
    return parents[:found], offspring[:found], after[:found], log_means
