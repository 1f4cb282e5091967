"""Rows of a state table, in compiled code: a newborn's (eq. 7), that of an entity after a word (eq. 8), and its words."""

from __future__ import annotations

import numba
import numpy as np

from entitynlm.inference.kernels import FAST
from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.encoding.copying import OPENING


@numba.njit(cache=True, nogil=True, fastmath=FAST)
def multiply(left, i, right, j):  # type: ignore[no-untyped-def]
    """Row i of one matrix times row j of another."""
    total = left[i, 0] * right[j, 0]
    for d in range(1, left.shape[1]):
        total += left[i, d] * right[j, d]
    return total


@numba.njit(cache=True, nogil=True, fastmath=FAST)
def create_entity(sigma, means, vectors, scored_at, seen, compared_at, used, k, new_entities):  # type: ignore[no-untyped-def]
    """Eq. 7: the row of a newborn of kind k."""
    if sigma == 0:
        return k
    row = used[0]
    used[0] += 1
    scored_at[row] = 0  # the row may have been that of a newborn that nobody chose
    seen[row], compared_at[row] = 0, 0
    square = 0.0
    for d in range(means.shape[1]):
        u = means[k, d] + sigma * new_entities.standard_normal()
        vectors[row, d] = u
        square += u * u
    shrink(vectors, row, square)
    return row


@numba.njit(cache=True, nogil=True, fastmath=FAST)
def shrink(vectors, row, square):  # type: ignore[no-untyped-def]
    """Put a vector on the unit ball, given its squared length."""
    factor = vectors.dtype.type(1 / max(np.sqrt(square), SMALLEST_NORM))
    for d in range(vectors.shape[1]):
        vectors[row, d] *= factor


@numba.njit(cache=True, nogil=True, fastmath=FAST)
def update_row(gates, states, t, vectors, used, scored_at, updated_at, updated_to, row, stamp):  # type: ignore[no-untyped-def]
    """Eq. 8: the row of the state after the word."""
    if updated_at[row] == stamp:
        return updated_to[row]
    new = used[0]
    used[0] += 1
    scored_at[new] = 0  # the row may have been that of a newborn that nobody chose
    updated_at[row], updated_to[row] = stamp, new
    delta = vectors.dtype.type(1 / (1 + np.exp(-multiply(gates, t, vectors, row))))
    rest = vectors.dtype.type(1 - delta)
    square = delta * 0
    for d in range(vectors.shape[1]):
        v = delta * vectors[row, d] + rest * states[t, d]
        vectors[new, d] = v
        square += v * v
    shrink(vectors, new, square)
    return new


@numba.njit(cache=True, nogil=True)
def remember(words, before, seen, last, compared_at, row, new, x, previous, position):  # type: ignore[no-untyped-def]
    """The entity's latest words (data.echoes): those of the row that was updated, and this one."""
    kept = words.shape[1]
    for k in range(min(seen[row], kept)):
        words[new, k], before[new, k] = words[row, k], before[row, k]
    place = seen[row] % kept
    words[new, place] = x
    before[new, place] = previous if seen[row] > 0 and last[row] == position - 1 else OPENING
    seen[new], last[new], compared_at[new] = seen[row] + 1, position, 0
