"""A linear model over hashed features: each feature's weight is stored in one table at the feature's hash.

A feature is a template (a conjunction of columns) with the values of a row. This needs no dictionary of features, and a feature
unseen in training has weight zero. The indices of a document's features are computed whenever they are needed, because storing a
hundred for each of millions of pairs would fill the memory.
"""

import random
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from entitynlm.compilation import njit
from entitynlm.progress import SILENT, Progress

HashedColumns = Mapping[str, NDArray[np.int64]]
Array = Any  # numpy arrays inside compiled loops
Example = TypeVar("Example")

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
AVERAGED = 8  # weights of an epoch that are averaged


def hash_texts(texts: Sequence[str]) -> NDArray[np.int64]:
    """Hash strings by a stable function (Python's own changes from run to run)."""
    return np.array([zlib.crc32(text.encode("utf-8")) for text in texts], dtype=np.int64)


class LinearModel:
    """Weights of hashed features, with their AdaGrad statistics.

    :param size: size of the table of weights, a power of two.  :param rate: learning rate.
    :param least: smallest gradient that changes weights, so that the many easy choices cost no time.
    """

    def __init__(self, size: int, rate: float, least: float) -> None:
        self.weights = np.zeros(size)
        self.rate, self.least = rate, least

    def index(self, templates: Sequence[str], columns: HashedColumns) -> NDArray[np.uint32]:
        """(rows, templates) the index of each row's feature by each template."""
        rows = len(next(iter(columns.values())))
        values = {name: column.view(np.uint64) for name, column in columns.items()}
        indices = np.empty((rows, len(templates)), dtype=np.uint32)
        for number, template in enumerate(templates):
            code = np.full(rows, zlib.crc32(f"{number} {template}".encode()), dtype=np.uint64) * _PRIME
            for name in template.split():
                code = (code ^ values[name]) * _PRIME
                code ^= code >> _SHIFT
            indices[:, number] = code & np.uint64(len(self.weights) - 1)
        return indices

    def score(self, templates: Sequence[str], columns: HashedColumns) -> NDArray[np.float64]:
        """(rows,) the sums of the weights of each row's features."""
        return self.weights[self.index(templates, columns)].sum(axis=1)

    def learn(
        self,
        examples: Sequence[Example],
        index: Callable[[Example], tuple[Array, ...]],
        costs: Array,
        *,
        epochs: int,
        seed: int,
        progress: Progress = SILENT,
    ) -> None:
        """Train on the documents, shuffled in each epoch; average the weights from the second epoch on.

        :param index: returns the arguments of :func:`learn_choices` for a document.
        """
        squares, average = np.ones_like(self.weights), np.zeros_like(self.weights)
        order, shuffler, averaged = list(examples), random.Random(seed), 0
        interval = max(1, len(order) // AVERAGED)
        progress.start("ranker", epochs)
        for epoch in range(epochs):
            shuffler.shuffle(order)
            for number, example in enumerate(order):
                learn_choices(self.weights, squares, *index(example), costs, self.rate, self.least)
                if (epoch > 0 or epochs == 1) and number % interval == 0:
                    average += self.weights
                    averaged += 1
            progress.advance("ranker")
        progress.finish("ranker")
        self.weights = average / averaged


@njit()
def learn_choices(
    weights: Array, squares: Array, none: Array, candidates: Array, offsets: Array, right: Array, costs: Array, rate: float,
    least: float,
) -> None:  # fmt: skip
    """Train on one document by softmax-margin with latent right candidates, with an AdaGrad update after each choice.

    Choice m has the candidates offsets[m]:offsets[m + 1] and "none" as the last; "none" is right where no candidate is.

    :param none: (M, features) and :param candidates: (N, features) indices of weights.  :param right: (N,) right candidates.
    :param costs: cost of a false link, of a missed link, and of a wrong antecedent.
    """
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
        targets = np.where(good, np.exp(np.minimum(scores - scores[good].max(), 0.0)), 0.0)
        gradients = shares / shares.sum() - targets / targets.sum()
        for i in range(size + 1):
            gradient = gradients[i]
            if abs(gradient) >= least:
                for index in candidates[first + i] if i < size else none[m]:
                    squares[index] += gradient * gradient
                    weights[index] -= rate * gradient / np.sqrt(squares[index])
