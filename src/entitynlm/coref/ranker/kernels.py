"""The inner loops, compiled: hash the features of a pair, score all pairs, learn from one document.

The weights are one table; a feature's index in it is its hash. Features are never stored: with a hundred of them for each of
millions of pairs, hashing anew is cheaper than fetching them from memory. ``table`` arguments are compiled templates (see
``templates.compile_templates``).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from entitynlm.compilation import njit

_PRIME = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)
_NEW_SEED = np.uint64(1000)  # so that the two tables of templates hash to different features
_PAIR_SEED = np.uint64(1)
_SMALL = 1e-3  # gradients below this are not worth the time

Array = NDArray[Any]


class MentionPairs(NamedTuple):
    """Anaphor m has the possible antecedents antecedents[offsets[m]:offsets[m + 1]], in text order."""

    offsets: Array
    antecedents: Array
    relations: Array


@njit(inline="always")
def _find_index(
    template: int, seed: np.uint64, table: Array, anaphor: Array, antecedent: Array, relation: Array, mask: np.uint64
) -> np.uint64:  # fmt: skip
    """The index of one feature in the table of weights."""
    code = (np.uint64(template) + seed) * _PRIME
    for part in range(table.shape[1]):
        owner = table[template, part, 0]
        if owner < 0:
            break
        column = table[template, part, 1]
        if owner == 0:
            value = np.uint64(anaphor[column])
        elif owner == 1:
            value = np.uint64(antecedent[column])
        else:
            value = np.uint64(relation[column])
        code = (code ^ value) * _PRIME
        code ^= code >> _SHIFT
    return code & mask


@njit()
def score_features(
    weights: Array, table: Array, seed: np.uint64, anaphor: Array, antecedent: Array, relation: Array
) -> float:
    """The sum of the weights of one candidate's features."""
    mask = np.uint64(len(weights) - 1)
    total = 0.0
    for template in range(len(table)):
        total += weights[_find_index(template, seed, table, anaphor, antecedent, relation, mask)]
    return total


@njit()
def update_features(
    weights: Array, squares: Array, table: Array, seed: np.uint64, anaphor: Array, antecedent: Array, relation: Array,
    gradient: float, rate: float,
) -> None:  # fmt: skip
    """One step of AdaGrad for the features of one candidate."""
    mask = np.uint64(len(weights) - 1)
    for template in range(len(table)):
        index = _find_index(template, seed, table, anaphor, antecedent, relation, mask)
        squares[index] += gradient * gradient
        weights[index] -= rate * gradient / np.sqrt(squares[index])


@njit()
def _score_candidates(
    weights: Array, attributes: Array, pairs: MentionPairs, m: int, new: Array, pair: Array
) -> Array:
    """The scores of a mention's possible antecedents, then of "new entity"."""
    anaphor, first = attributes[m], pairs.offsets[m]
    scores = np.zeros(pairs.offsets[m + 1] - first + 1)
    for i in range(len(scores) - 1):
        antecedent, relation = attributes[pairs.antecedents[first + i]], pairs.relations[first + i]
        scores[i] = score_features(weights, pair, _PAIR_SEED, anaphor, antecedent, relation)
    scores[-1] = score_features(weights, new, _NEW_SEED, anaphor, anaphor, np.zeros(1, dtype=np.uint8))
    return scores


@njit()
def score_pairs(
    weights: Array, attributes: Array, pairs: MentionPairs, new: Array, pair: Array
) -> tuple[Array, Array]:
    """The score of every pair, and of "new entity" for every mention."""
    scores, new_scores = np.zeros(len(pairs.antecedents)), np.zeros(len(attributes))
    for m in range(len(attributes)):
        found = _score_candidates(weights, attributes, pairs, m, new, pair)
        scores[pairs.offsets[m] : pairs.offsets[m + 1]] = found[:-1]
        new_scores[m] = found[-1]
    return scores, new_scores


@njit()
def learn_pairs(
    weights: Array, squares: Array, attributes: Array, pairs: MentionPairs, entities: Array, new: Array, pair: Array,
    costs: Array, rate: float,
) -> float:  # fmt: skip
    """One pass over a document: softmax-margin with latent antecedents, AdaGrad after each mention; the loss.

    All earlier mentions of the same entity are right; where none of them is possible, "new entity" is. ``costs``: for a link that
    should not be, for no link where one should be, for the wrong link.
    """
    nothing = np.zeros(1, dtype=np.uint8)
    loss = 0.0
    for m in range(len(attributes)):
        anaphor = attributes[m]
        first = pairs.offsets[m]
        size = pairs.offsets[m + 1] - first
        right = np.zeros(size + 1, dtype=np.bool_)
        for i in range(size):
            right[i] = entities[m] >= 0 and entities[pairs.antecedents[first + i]] == entities[m]
        anaphoric = right.any()
        right[size] = not anaphoric
        scores = _score_candidates(weights, attributes, pairs, m, new, pair)
        for i in range(size):
            if not right[i]:
                scores[i] += costs[2] if anaphoric else costs[0]
        if anaphoric:
            scores[size] += costs[1]
        shares = np.exp(scores - scores.max())
        total = shares.sum()
        best_right = scores[right].max()
        right_total = np.exp(scores[right] - best_right).sum()
        right_share = shares[right].sum()
        if right_share > 0.0:
            loss += np.log(total) - np.log(right_share)
        else:  # the shares of the right ones are below the smallest number
            loss += scores.max() + np.log(total) - best_right - np.log(right_total)
        for i in range(size + 1):
            gradient = shares[i] / total
            if right[i]:
                gradient -= np.exp(scores[i] - best_right) / right_total
            if abs(gradient) < _SMALL:
                continue
            if i < size:
                antecedent, relation = attributes[pairs.antecedents[first + i]], pairs.relations[first + i]
                update_features(
                    weights, squares, pair, _PAIR_SEED, anaphor, antecedent, relation, gradient, rate
                )
            else:
                update_features(weights, squares, new, _NEW_SEED, anaphor, anaphor, nothing, gradient, rate)
    return loss
