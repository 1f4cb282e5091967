"""A linear model over hashed features: a feature's weight stands in one table at the feature's hash.

A feature is a template, a conjunction of columns, with the values of a row. No dictionary of features is needed, and a feature
that was not seen in training has no weight. The indices of a document's features are computed anew whenever they are needed,
because a hundred of them for each of millions of pairs would fill the memory.
"""

import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from entitynlm.compilation import njit

IntColumn = NDArray[np.int64]
FeatureTable = NDArray[np.uint32]  # (rows, templates) indices into the weights
Columns = Mapping[str, IntColumn]
Array = Any  # numpy arrays inside compiled loops

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def hash_texts(texts: Sequence[str]) -> IntColumn:
    """Hash strings by a stable function (Python's own changes from run to run)."""
    return np.array([zlib.crc32(text.encode("utf-8")) for text in texts], dtype=np.int64)


def index_features(templates: Sequence[str], columns: Columns, size: int, seed: int) -> FeatureTable:
    """Find the index in a table of ``size`` weights (a power of two) of each row's feature by each template.

    Template n hashes from ``seed`` + n, so that templates that share a table have different features.
    """
    rows = len(next(iter(columns.values())))
    values = {name: column.view(np.uint64) for name, column in columns.items()}
    indices = np.empty((rows, len(templates)), dtype=np.uint32)
    for number, template in enumerate(templates):
        code = np.full(rows, seed + number, dtype=np.uint64) * _PRIME
        for name in template.split():
            code = (code ^ values[name]) * _PRIME
            code ^= code >> _SHIFT
        indices[:, number] = code & np.uint64(size - 1)
    return indices


def add_weights(weights: NDArray[Any], features: FeatureTable) -> NDArray[np.float64]:
    """(rows,) the sums of the weights of each row's features."""
    return weights[features].sum(axis=1, dtype=np.float64)


@njit()
def learn_choices(
    weights: Array, squares: Array, none: Array, candidates: Array, offsets: Array, right: Array, costs: Array, rate: float,
    least: float,
) -> float:  # fmt: skip
    """Learn from one document by softmax-margin with latent right candidates, with AdaGrad after each choice; the loss.

    Choice m has the candidates offsets[m]:offsets[m + 1] and "none" as the last; "none" is right where no candidate is.

    :param none: (M, features) and :param candidates: (N, features) indices of weights.  :param right: (N,) right candidates.
    :param costs: of a candidate where none is right, of "none" where one is, of a wrong candidate.
    :param least: gradients below it change nothing, so that the mass of easy choices does not slow down learning.
    """
    loss = 0.0
    for m in range(len(none)):
        first, size = offsets[m], offsets[m + 1] - offsets[m]
        good = np.zeros(size + 1, dtype=np.bool_)
        good[:size] = right[first : first + size]
        possible = good.any()
        good[size] = not possible
        scores = np.zeros(size + 1)
        for i in range(size + 1):
            for index in candidates[first + i] if i < size else none[m]:
                scores[i] += weights[index]
            if not good[i]:
                scores[i] += costs[1] if i == size else costs[2] if possible else costs[0]
        shares = np.exp(scores - scores.max())
        best = scores[good].max()
        targets = np.where(good, np.exp(np.minimum(scores - best, 0.0)), 0.0)
        loss += scores.max() + np.log(shares.sum()) - best - np.log(targets.sum())
        gradients = shares / shares.sum() - targets / targets.sum()
        for i in range(size + 1):
            gradient = gradients[i]
            if abs(gradient) >= least:
                for index in candidates[first + i] if i < size else none[m]:
                    squares[index] += gradient * gradient
                    weights[index] -= rate * gradient / np.sqrt(squares[index])
    return loss
