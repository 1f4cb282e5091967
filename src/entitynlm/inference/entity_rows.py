"""Rows of a state table, in compiled code: that of a new entity (eq. 7), of an entity after a word (eq. 8)."""

import numpy as np

from entitynlm.compilation import njit
from entitynlm.inference.kernels import FAST
from entitynlm.model.batch.scan import SMALLEST_NORM


@njit(nogil=True, fastmath=FAST)
def multiply(left, i, right, j):  # type: ignore[no-untyped-def]
    """Row i of one matrix times row j of another."""
    total = left[i, 0] * right[j, 0]
    for d in range(1, left.shape[1]):
        total += left[i, d] * right[j, d]
    return total


@njit(nogil=True, fastmath=FAST)
def create_entity(sigma, means, vectors, used, k, noise):  # type: ignore[no-untyped-def]
    """Eq. 7: make the row of a new entity of type k, with noise (D,)."""
    if sigma == 0:
        return k
    row = used[0]
    used[0] += 1
    square = 0.0
    for d in range(means.shape[1]):
        u = means[k, d] + sigma * noise[d]
        vectors[row, d] = u
        square += u * u
    shrink(vectors, row, square)
    return row


@njit(nogil=True, fastmath=FAST)
def shrink(vectors, row, square):  # type: ignore[no-untyped-def]
    """Put a vector on the unit ball, given its squared length."""
    factor = vectors.dtype.type(1 / max(np.sqrt(square), SMALLEST_NORM))
    for d in range(vectors.shape[1]):
        vectors[row, d] *= factor


@njit(nogil=True, fastmath=FAST)
def update_row(gates, states, t, vectors, row, new):  # type: ignore[no-untyped-def]
    """Eq. 8: write the state after word t into row ``new``; returns δ, how much of the old state stays."""
    delta = vectors.dtype.type(1 / (1 + np.exp(-multiply(gates, t, vectors, row))))
    rest = vectors.dtype.type(1 - delta)
    square = delta * 0
    for d in range(vectors.shape[1]):
        v = delta * vectors[row, d] + rest * states[t, d]
        vectors[new, d] = v
        square += v * v
    shrink(vectors, new, square)
    return delta


@njit(nogil=True)
def update_row_once(gates, states, t, vectors, used, updated_at, updated_to, row, stamp):  # type: ignore[no-untyped-def]
    """Give the row of the state after the word, which is made once for all particles that share ``row``."""
    if updated_at[row] == stamp:
        return updated_to[row]
    new = used[0]
    used[0] += 1
    updated_at[row], updated_to[row] = stamp, new
    update_row(gates, states, t, vectors, row, new)
    return new


@njit(nogil=True)
def score_rows(queries, t, vectors, rows, out):  # type: ignore[no-untyped-def]
    """Eq. 4's product of word t's query with the vectors of some rows."""
    for i in range(len(rows)):
        out[i] = multiply(queries, t, vectors, rows[i])
