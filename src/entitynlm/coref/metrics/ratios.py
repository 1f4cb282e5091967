"""From counts to recall, precision and F1, for one corpus or for ten thousand shuffled ones at once.

Every metric counts per document, counts add up over documents, and the ratio is taken at the end. The
operations are those of the official scorer, in its order, so that even the last bit agrees.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PERCENT = 100


def divide(numerator: Floats, denominator: Floats, otherwise: float = 0.0) -> Floats:
    """Element by element; ``otherwise`` where there is nothing to divide by."""
    quotient = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), otherwise)
    np.divide(numerator, denominator, out=quotient, where=denominator != 0)
    return quotient


def balance(recall: Floats, precision: Floats) -> Floats:
    """F1, the harmonic mean."""
    return divide(2 * precision * recall, precision + recall)


def summarise_counts(counts: Floats) -> Floats:
    """Recall, precision and F1 of (recall numerator, its denominator, precision numerator, its denominator).

    :param counts: shape (..., 4)
    :returns: shape (..., 3)
    """
    recall = divide(counts[..., 0], counts[..., 1])
    precision = divide(counts[..., 2], counts[..., 3])
    return np.stack([recall, precision, balance(recall, precision)], axis=-1)


def to_percent(ratio: float) -> float:
    """A ratio in percent by the official scorer's own arithmetic, but without its truncation."""
    return ratio * 10000 / PERCENT


def truncate_percent(ratio: float) -> float:
    """A ratio in percent as the official scorer prints it: two decimals, cut off and not rounded."""
    return int(ratio * 10000) / PERCENT
