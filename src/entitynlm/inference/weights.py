"""Weights of particles, always as logarithms, and resampling."""

import numpy as np
import numpy.typing as npt

from entitynlm.compilation import njit
from entitynlm.inference.kernels import copy_particle

FloatArray = npt.NDArray[np.float64]


def log_sum_exp(log_weights: npt.ArrayLike, axis: int = -1) -> FloatArray:
    """log Σ exp, without overflow; -inf where every weight is zero."""
    result: FloatArray = np.logaddexp.reduce(np.asarray(log_weights, dtype=np.float64), axis=axis)
    return result


def log_mean_exp(log_weights: npt.ArrayLike, axis: int = -1) -> FloatArray:
    """log of the mean weight over *all* weights, zeros included."""
    values = np.asarray(log_weights, dtype=np.float64)
    return log_sum_exp(values, axis) - np.log(values.shape[axis])


@njit(nogil=True)
def measure_islands(log_weights, copies, island, islands):  # type: ignore[no-untyped-def]
    """(islands,) effective sample size (Σ w)² / Σ w² of each island, whose row i counts ``copies[i]`` times."""
    highest, totals, squares = np.full(islands, -np.inf), np.zeros(islands), np.zeros(islands)
    for i in range(len(log_weights)):
        highest[island[i]] = max(highest[island[i]], log_weights[i])
    for i in range(len(log_weights)):
        weight = np.exp(log_weights[i] - highest[island[i]])
        totals[island[i]] += copies[i] * weight
        squares[island[i]] += copies[i] * weight * weight
    return totals**2 / squares


@njit(nogil=True)
def weigh_words(particles, choices, scores, islands):  # type: ignore[no-untyped-def]
    """Multiply the particles' weights with P / Q of S words; returns these factors (S, N) and (islands, S) the log-mean-exp of
    each island's weights after each word.

    ``scores`` are log-probabilities of the words of all pairs (``Choices.pair``). Particle i counts ``copies[s, i]`` times
    at word s: a sum has exactly the terms of that word, so that not even its rounding depends on the words to come.
    """
    copies, log_p, parts, used = choices.copies, choices.log_p, particles.parts, particles.used[0]
    log_weights, island = particles.log_weights, particles.island
    factors, means = np.empty((len(copies), used)), np.empty((islands, len(copies)))
    highest, totals, counts = np.empty(islands), np.empty(islands), np.empty(islands)
    for s in range(len(copies)):
        highest[:], totals[:], counts[:] = -np.inf, 0.0, 0.0
        for i in range(used):
            log_word = scores[choices.pair[s, i]]
            for part in range(3):
                parts[part, i] += log_p[part, s, i]
            parts[3, i] += log_word
            parts[4, i] += choices.log_q[s, i]
            factors[s, i] = log_p[0, s, i] + log_p[1, s, i] + log_p[2, s, i] + log_word - choices.log_q[s, i]
            log_weights[i] += factors[s, i]
            if copies[s, i] > 0 and not log_weights[i] <= highest[island[i]]:
                highest[island[i]] = log_weights[i]  # nan too, which must not get lost
        for i in range(used):
            if copies[s, i] > 0:
                totals[island[i]] += copies[s, i] * np.exp(log_weights[i] - highest[island[i]])
                counts[island[i]] += copies[s, i]
        for r in range(islands):
            means[r, s] = highest[r] + np.log(totals[r] / counts[r])
    return factors, means


@njit(nogil=True)
def draw_offspring(log_weights, copies, uniform, count):  # type: ignore[no-untyped-def]
    """Draw (n,) numbers of offspring, ``count`` in all, of rows that stand for ``copies`` particles; and log Σ copies · w.

    Systematic resampling: particle i has count·w_i offspring on average, which keeps the estimate of P(X) unbiased. Of the known
    schemes this one uses the fewest random numbers (one, which is uniform) and has the smallest deviation from that average.
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
def resample(particles, points, count, threshold, log_evidence):  # type: ignore[no-untyped-def]
    """Resample, in place, the islands whose effective sample size is below a share of their ``count`` particles; their mean
    weight becomes a factor of ``log_evidence`` (islands,). Other islands stay as they are.
    """
    used, copies, log_weights = particles.used[0], particles.copies, particles.log_weights
    island = particles.island[:used]
    sizes = measure_islands(log_weights[:used], copies[:used], island, len(points))
    for r in range(len(points)):
        if sizes[r] < threshold * count:
            family = np.flatnonzero(island == r)
            children, log_total = draw_offspring(log_weights[family], copies[family], points[r], count)
            log_evidence[r] += log_total - np.log(count)
            copies[family], log_weights[family] = children, 0.0
    found = 0
    for i in range(used):
        if copies[i] > 0:
            if i > found:
                copy_particle(particles, i, found)
            found += 1
    copies[found:used], particles.used[0] = 0, found
