"""The inner loops, compiled: hash the features of a pair, score all pairs, learn from one document.

The weights are one table; a feature's place in it is its hash. Features are never stored: with a hundred of
them for each of millions of pairs, hashing anew is cheaper than fetching them from memory.

``new`` and ``pair`` are template tables: an array of shape (templates, width, 2) with the kind and the
column of each part; kind -1 ends a template.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_NEW_SEED = np.uint64(1000)  # so that the two tables of templates have places of their own
_PAIR_SEED = np.uint64(1)
_SMALL = 1e-3  # gradients below this are not worth the time

Array = NDArray[Any]


@numba.njit(cache=True, inline="always")
def _find_place(
    template: int,
    seed: np.uint64,
    table: Array,
    anaphor: Array,
    antecedent: Array,
    relation: Array,
    mask: np.uint64,
) -> np.uint64:
    """The place of one feature in the table of weights."""
    code = (np.uint64(template) + seed) * _PRIME
    for part in range(table.shape[1]):
        kind = table[template, part, 0]
        if kind < 0:
            break
        column = table[template, part, 1]
        if kind == 0:
            value = np.uint64(anaphor[column])
        elif kind == 1:
            value = np.uint64(antecedent[column])
        else:
            value = np.uint64(relation[column])
        code = (code ^ value) * _PRIME
        code ^= code >> _SHIFT
    return code & mask


@numba.njit(cache=True)
def score_features(
    weights: Array, table: Array, seed: np.uint64, anaphor: Array, antecedent: Array, relation: Array
) -> float:
    mask = np.uint64(len(weights) - 1)
    total = 0.0
    for template in range(len(table)):
        total += weights[_find_place(template, seed, table, anaphor, antecedent, relation, mask)]
    return total


@numba.njit(cache=True)
def update_features(
    weights: Array,
    squares: Array,
    table: Array,
    seed: np.uint64,
    anaphor: Array,
    antecedent: Array,
    relation: Array,
    gradient: float,
    rate: float,
) -> None:
    """One step of AdaGrad for the features of one candidate."""
    mask = np.uint64(len(weights) - 1)
    for template in range(len(table)):
        place = _find_place(template, seed, table, anaphor, antecedent, relation, mask)
        squares[place] += gradient * gradient
        weights[place] -= rate * gradient / np.sqrt(squares[place])


@numba.njit(cache=True)
def score_pairs(
    weights: Array,
    attributes: Array,
    offsets: Array,
    antecedents: Array,
    relations: Array,
    new: Array,
    pair: Array,
) -> tuple[Array, Array]:
    """The score of every pair, and of "new" for every mention."""
    nothing = np.zeros(1, dtype=np.uint8)
    scores = np.zeros(len(antecedents))
    new_scores = np.zeros(len(attributes))
    for m in range(len(attributes)):
        anaphor = attributes[m]
        for p in range(offsets[m], offsets[m + 1]):
            scores[p] = score_features(
                weights, pair, _PAIR_SEED, anaphor, attributes[antecedents[p]], relations[p]
            )
        new_scores[m] = score_features(weights, new, _NEW_SEED, anaphor, anaphor, nothing)
    return scores, new_scores


@numba.njit(cache=True)
def learn_pairs(
    weights: Array,
    squares: Array,
    attributes: Array,
    offsets: Array,
    antecedents: Array,
    relations: Array,
    entities: Array,
    new: Array,
    pair: Array,
    costs: Array,
    rate: float,
) -> float:
    """One pass over a document: softmax-margin with latent antecedents, AdaGrad after each mention; the loss.

    ``entities`` has the annotated entity of each mention, or -1. All earlier mentions of the entity are
    right antecedents; where none of them is possible, "new" is right. ``costs``: for a link that should not
    be, for no link where one should be, for the wrong link.
    """
    nothing = np.zeros(1, dtype=np.uint8)
    loss = 0.0
    for m in range(len(attributes)):
        anaphor = attributes[m]
        first, last = offsets[m], offsets[m + 1]
        size = last - first
        scores = np.zeros(size + 1)
        right = np.zeros(size + 1, dtype=np.bool_)
        for i in range(size):
            right[i] = entities[m] >= 0 and entities[antecedents[first + i]] == entities[m]
        anaphoric = right.any()
        right[size] = not anaphoric
        for i in range(size):
            scores[i] = score_features(
                weights, pair, _PAIR_SEED, anaphor, attributes[antecedents[first + i]], relations[first + i]
            )
            if not right[i]:
                scores[i] += costs[2] if anaphoric else costs[0]
        scores[size] = score_features(weights, new, _NEW_SEED, anaphor, anaphor, nothing)
        if anaphoric:
            scores[size] += costs[1]
        shares = np.exp(scores - scores.max())
        whole = shares.sum()
        found = shares[right].sum()
        if found <= 0.0:  # the right ones are out of sight: start from the best of them
            right_scores = np.exp(scores[right] - scores[right].max())
            loss += scores.max() + np.log(whole) - scores[right].max() - np.log(right_scores.sum())
        else:
            loss += np.log(whole) - np.log(found)
        best_right = scores[right].max()
        right_whole = np.exp(scores[right] - best_right).sum()
        for i in range(size + 1):
            gradient = shares[i] / whole
            if right[i]:
                gradient -= np.exp(scores[i] - best_right) / right_whole
            if abs(gradient) < _SMALL:
                continue
            if i < size:
                update_features(
                    weights, squares, pair, _PAIR_SEED, anaphor, attributes[antecedents[first + i]],
                    relations[first + i], gradient, rate,
                )  # fmt: skip
            else:
                update_features(weights, squares, new, _NEW_SEED, anaphor, anaphor, nothing, gradient, rate)
    return loss
