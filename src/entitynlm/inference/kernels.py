"""Small compiled kernels: a matrix times a vector, and log-sum-exp of a row of scores.

Particle filters ask for a hundred small products at a time, thousands of times. A library call for each would spend
more time on being called than on arithmetic, so these are loops that the compiler can unroll and vectorise.
"""

from __future__ import annotations

import numba
import numpy as np

FAST = {"reassoc", "contract", "nsz"}

_LOG2_E = np.float32(1.44269504)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_LOWEST = np.float32(-87.0)  # e^-87 is the smallest power that single precision holds


@numba.njit(cache=True, nogil=True, fastmath=FAST)
def multiply_rows(matrix, low, high, vectors, count, out):  # type: ignore[no-untyped-def]
    """out[i, j] = matrix[low + j] · vectors[i] for the first ``count`` vectors and the rows ``low`` … ``high`` - 1.

    Four rows share each load of a vector, and stay in the nearest cache while all vectors pass.
    """
    size = matrix.shape[1]
    j = low
    while j + 4 <= high:
        for i in range(count):
            a = matrix[j, 0] * vectors[i, 0]
            b = matrix[j + 1, 0] * vectors[i, 0]
            c = matrix[j + 2, 0] * vectors[i, 0]
            e = matrix[j + 3, 0] * vectors[i, 0]
            for d in range(1, size):
                v = vectors[i, d]
                a += matrix[j, d] * v
                b += matrix[j + 1, d] * v
                c += matrix[j + 2, d] * v
                e += matrix[j + 3, d] * v
            k = j - low
            out[i, k], out[i, k + 1], out[i, k + 2], out[i, k + 3] = a, b, c, e
        j += 4
    while j < high:
        for i in range(count):
            a = matrix[j, 0] * vectors[i, 0]
            for d in range(1, size):
                a += matrix[j, d] * vectors[i, d]
            out[i, j - low] = a
        j += 1


@numba.njit(cache=True, nogil=True, fastmath=FAST)
def exponentiate(values, i, start, count, out, first, bits):  # type: ignore[no-untyped-def]
    """out[i, first + j] = exp(values[i, start + j]) for ``count`` values of row i, none of them positive.

    The library's exp works on one number at a time. In single precision this one is e^x = 2^k · e^f with a polynomial
    for e^f, |f| ≤ ln 2 / 2, which compiles to vector instructions and is as exact as single precision (relative error
    below 2e-7); double precision takes the library's.

    :param bits: room for ``count`` 32-bit integers.
    """
    if values.itemsize == 8:
        for j in range(count):
            out[i, first + j] = np.exp(values[i, start + j])
        return
    for j in range(count):
        x = max(np.float32(values[i, start + j]), _LOWEST)
        k = np.floor(x * _LOG2_E + np.float32(0.5))
        f = x - k * _LN2_HIGH - k * _LN2_LOW
        p = np.float32(1.9875691500e-4)
        p = p * f + np.float32(1.3981999507e-3)
        p = p * f + np.float32(8.3334519073e-3)
        p = p * f + np.float32(4.1665795894e-2)
        p = p * f + np.float32(1.6666665459e-1)
        p = p * f + np.float32(5.0000001201e-1)
        out[i, first + j] = p * f * f + f + np.float32(1)
        bits[j] = (np.int32(k) + np.int32(127)) << np.int32(23)
    powers = bits.view(np.float32)
    for j in range(count):
        out[i, first + j] *= powers[j]
