"""Small compiled kernels for the sampler's inner loops: a matrix times a vector, exponentials of a row of scores.

A library call costs more time than the arithmetic where there are millions of small products and sums, so these are
loops that the compiler can unroll and vectorise.
"""

from __future__ import annotations

import numba
import numpy as np

FAST = {"reassoc", "contract", "nsz"}

_LOG2_E = np.float32(1.44269504)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_LOWEST = np.float32(-87.0)  # e^-87 is the smallest power that single precision holds


@numba.njit(cache=True, nogil=True, fastmath=FAST)
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


@numba.njit(cache=True, nogil=True, fastmath=FAST)
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


@numba.njit(cache=True, nogil=True, fastmath=FAST)
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
