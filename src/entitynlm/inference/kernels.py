"""Compiled kernels of the sampler's inner loops: a matrix times a vector, exponentials of a row of scores, draws.

A library call costs more time than the arithmetic where there are millions of small products and sums, so these are
loops that the compiler can unroll and vectorise.

A particle may stand for M equal ones. They draw with M points (j + u) / M from one uniform number u. Each of them still draws
from the same distribution, so that an estimate has no bias, and a choice of probability p is taken by M·p of them, rounded up or
down: they spread evenly, and those that choose alike stay one particle. With M = 1 it is the usual draw. Particles that differ
spread evenly too: at each word those of an island draw with the points of one low-discrepancy sequence that starts at a uniform
number, so each point is uniform by itself. That takes an eighth off the error of a word's surprisal
(docs/decisions/081-surprisal.md).
"""

import numpy as np

from entitynlm.compilation import njit

GOLDEN = (np.sqrt(5.0) - 1) / 2

FAST = {"reassoc", "contract", "nsz"}

_LOG2_E = np.float32(1.44269504)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_LOWEST = np.float32(-87.0)  # e^-87 is the smallest power that single precision holds


@njit(nogil=True, fastmath=FAST, makes_arrays=False)
def multiply_rows(matrix, vector, out):  # type: ignore[no-untyped-def]
    """out[j] = matrix[j] · vector; four rows share each load of the vector."""
    j = 0
    while j + 4 <= len(matrix):
        v = vector[0]
        a, b, c, e = matrix[j, 0] * v, matrix[j + 1, 0] * v, matrix[j + 2, 0] * v, matrix[j + 3, 0] * v
        for d in range(1, len(vector)):
            v = vector[d]
            a += matrix[j, d] * v
            b += matrix[j + 1, d] * v
            c += matrix[j + 2, d] * v
            e += matrix[j + 3, d] * v
        out[j], out[j + 1], out[j + 2], out[j + 3] = a, b, c, e
        j += 4
    while j < len(matrix):
        a = matrix[j, 0] * vector[0]
        for d in range(1, len(vector)):
            a += matrix[j, d] * vector[d]
        out[j] = a
        j += 1


@njit(nogil=True, fastmath=FAST, makes_arrays=False)
def multiply_block(matrix, low, high, vectors, count, out):  # type: ignore[no-untyped-def]
    """out[i, j] = matrix[low + j] · vectors[i] for the rows ``low`` … ``high`` - 1 and the first ``count`` vectors.

    Four rows stay in the nearest cache while all vectors pass by, two at a time; an odd one out passes twice. (Written
    out in one piece: a call for each tile would cost as much as the tile.)
    """
    j = low
    while j + 4 <= high:
        for pair in range((count + 1) // 2):
            i = min(2 * pair, max(count - 2, 0))
            k = min(i + 1, count - 1)
            u, v = vectors[i, 0], vectors[k, 0]
            a, b, c, e = matrix[j, 0] * u, matrix[j + 1, 0] * u, matrix[j + 2, 0] * u, matrix[j + 3, 0] * u
            p, q, r, s = matrix[j, 0] * v, matrix[j + 1, 0] * v, matrix[j + 2, 0] * v, matrix[j + 3, 0] * v
            for d in range(1, matrix.shape[1]):
                u, v = vectors[i, d], vectors[k, d]
                x = matrix[j, d]
                a += x * u
                p += x * v
                x = matrix[j + 1, d]
                b += x * u
                q += x * v
                x = matrix[j + 2, d]
                c += x * u
                r += x * v
                x = matrix[j + 3, d]
                e += x * u
                s += x * v
            m = j - low
            out[i, m], out[i, m + 1], out[i, m + 2], out[i, m + 3] = a, b, c, e
            out[k, m], out[k, m + 1], out[k, m + 2], out[k, m + 3] = p, q, r, s
        j += 4
    while j < high:
        for i in range(count):
            a = matrix[j, 0] * vectors[i, 0]
            for d in range(1, matrix.shape[1]):
                a += matrix[j, d] * vectors[i, d]
            out[i, j - low] = a
        j += 1


@njit(nogil=True, fastmath=FAST, makes_arrays=False)
def exponentiate(values, out, bits):  # type: ignore[no-untyped-def]
    """out = exp(values), for values that are not positive.

    The library's exp works on one number at a time. In single precision this one is e^x = 2^k · e^f with a polynomial
    for e^f, |f| ≤ ln 2 / 2, which compiles to vector instructions and is as exact as single precision (relative error
    below 2e-7); double precision takes the library's.

    :param bits: room for as many 32-bit integers.
    """
    if values.itemsize == 8:
        for j in range(len(values)):
            out[j] = np.exp(values[j])
        return
    for j in range(len(values)):
        x = max(np.float32(values[j]), _LOWEST)
        k = np.floor(x * _LOG2_E + np.float32(0.5))
        f = x - k * _LN2_HIGH - k * _LN2_LOW
        p = np.float32(1.9875691500e-4)
        p = p * f + np.float32(1.3981999507e-3)
        p = p * f + np.float32(8.3334519073e-3)
        p = p * f + np.float32(4.1665795894e-2)
        p = p * f + np.float32(1.6666665459e-1)
        p = p * f + np.float32(5.0000001201e-1)
        out[j] = p * f * f + f + np.float32(1)
        bits[j] = (np.int32(k) + np.int32(127)) << np.int32(23)
    powers = bits.view(np.float32)
    for j in range(len(values)):
        out[j] *= powers[j]


# -- draws --------------------------------------------------------------------------------------------------------------


@njit(nogil=True, makes_arrays=False)
def mix_logs(log_p, log_q, share):  # type: ignore[no-untyped-def]
    """log((1 - share) · Q + share · P)."""
    if share == 0:
        return log_q
    if share == 1:
        return log_p
    log_p, log_q = np.log(share) + log_p, np.log(1 - share) + log_q
    return max(log_p, log_q) + np.log1p(np.exp(-abs(log_p - log_q)))


@njit(nogil=True, makes_arrays=False)
def next_point(starts, ranks, island):  # type: ignore[no-untyped-def]
    """Return the next point of an island's low-discrepancy sequence: its start plus multiples of the golden ratio, modulo 1."""
    rank = ranks[island]
    ranks[island] += 1
    return (starts[island] + rank * GOLDEN) % 1.0


@njit(nogil=True, makes_arrays=False)
def count_draws(probs, size, uniform, copies, counts):  # type: ignore[no-untyped-def]
    """Write into ``counts`` how many of the equal particles take each of ``size`` choices; the last choice takes the rest."""
    for c in range(size):
        counts[c] = 0
    c, height = 0, probs[0]
    for j in range(copies):
        point = (j + uniform) / copies
        while c < size - 1 and not point < height:
            c += 1
            height += probs[c]
        counts[c] += 1


@njit(nogil=True, makes_arrays=False)
def take_one(size, chosen, copies, counts):  # type: ignore[no-untyped-def]
    """Write into ``counts`` that all equal particles take the same choice."""
    for c in range(size):
        counts[c] = 0
    counts[chosen] = copies


@njit(nogil=True, makes_arrays=False)
def copy_particle(particles, i, to):  # type: ignore[no-untyped-def]
    """Put a copy of particle i into another row."""
    memory = particles.memory.reshape(len(particles.memory), -1)
    for place in range((particles.entities[i] + 1) * particles.memory.shape[2]):
        memory[to, place] = memory[i, place]
    particles.entities[to], particles.mentions[to] = particles.entities[i], particles.mentions[i]
    particles.remaining[to], particles.mention_type[to] = particles.remaining[i], particles.mention_type[i]
    particles.entity[to], particles.current[to] = particles.entity[i], particles.current[i]
    particles.copies[to], particles.island[to] = particles.copies[i], particles.island[i]
    particles.log_weights[to] = particles.log_weights[i]
    for part in range(len(particles.parts)):
        particles.parts[part, to] = particles.parts[part, i]


@njit(nogil=True, makes_arrays=False)
def split(particles, choices, s, i, copies):  # type: ignore[no-untyped-def]
    """Make a row of its own for ``copies`` of the equal particles of row i; returns the new row.

    It gets the choices of row i in this segment so far, so that its weight is computed like all others.
    """
    if copies == particles.copies[i]:
        return i
    new = particles.used[0]
    particles.used[0] += 1
    copy_particle(particles, i, new)
    particles.copies[i] -= copies
    particles.copies[new] = copies
    for t in range(s + 1):
        choices.mention_type[t, new], choices.entity[t, new] = (
            choices.mention_type[t, i],
            choices.entity[t, i],
        )
        choices.remaining[t, new], choices.free[t, new] = choices.remaining[t, i], choices.free[t, i]
        choices.log_q[t, new], choices.pair[t, new] = choices.log_q[t, i], choices.pair[t, i]
        for part in range(3):
            choices.log_p[part, t, new] = choices.log_p[part, t, i]
        if choices.entropy.size > 0:
            choices.entropy[t, new] = choices.entropy[t, i]
            choices.log_referent[t, new] = choices.log_referent[t, i]
    return new


@njit(nogil=True, makes_arrays=False)
def log_sum_row(table, row, start, stop):  # type: ignore[no-untyped-def]
    """log Σ exp of a part of a row."""
    highest = table[row, start]
    for c in range(start + 1, stop):
        highest = max(highest, table[row, c])
    total = 0.0
    for c in range(start, stop):
        total += np.exp(table[row, c] - highest)
    return highest + np.log(total)


@njit(nogil=True, makes_arrays=False)
def exponentiate_scores(scratch, row, count):  # type: ignore[no-untyped-def]
    """Write exp(score - highest) of row 0 or 1 into row 2 or 3; returns the highest score and the sum."""
    highest = scratch[row, 0]
    for c in range(1, count):
        highest = max(highest, scratch[row, c])
    total = 0.0
    for c in range(count):
        scratch[2 + row, c] = np.exp(scratch[row, c] - highest)
        total += scratch[2 + row, c]
    return highest, total
