"""All analyses of a document side by side, word after word: what they share is computed once.

An entity's state is a function of where it was born and of the words of its mentions since. So states are nodes of a tree over
all analyses together, and whatever depends on a word and a state (equation 4's product, equation 5, equation 6) is computed once
for each pair of the two that occurs, however many analyses meet it. What depends on the set of entities (the normaliser of
equation 4, distances) is added up anew for each analysis, from numbers that are at hand.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from entitynlm.model.encoding.copying import KEPT, OPENING

Array = Any  # numpy arrays inside compiled loops

NO_WORD = -1
NOBODY = -1


@numba.njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def multiply(one: Array, other: Array) -> float:
    """The inner product of two vectors."""
    total = one.dtype.type(0)
    for i in range(len(one)):
        total += one[i] * other[i]
    return total


@numba.njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def update_state(out: Array, e: Array, h: Array, gate: Array, smallest: float) -> None:
    """Equation 8."""
    delta = 1 / (1 + np.exp(-multiply(gate, e)))
    square = e.dtype.type(0)
    for i in range(len(e)):
        v = delta * e[i] + (1 - delta) * h[i]
        out[i] = v
        square += v * v
    norm = max(np.sqrt(square), smallest)
    for i in range(len(e)):
        out[i] /= norm


@numba.njit(cache=True)
def score_lengths(out: Array, scores: Array, weights: Array, e: Array) -> None:
    """Equation 5 for every length: log-probabilities into ``out``."""
    highest = -np.inf
    for i in range(len(out)):
        out[i] = scores[i] + multiply(weights[i], e)
        highest = max(highest, out[i])
    total = 0.0
    for i in range(len(out)):
        total += np.exp(out[i] - highest)
    normaliser = highest + np.log(total)
    for i in range(len(out)):
        out[i] -= normaliser


@numba.njit(cache=True)
def choose_length(log_lengths: Array, length: int, reaches_end: bool) -> float:
    """log p(L), or log p(at least L) where the text's end may have cut the mention (``docs/decisions/021``)."""
    if not reaches_end:
        return log_lengths[length - 1]
    total = 0.0
    for i in range(length - 1, len(log_lengths)):
        total += np.exp(log_lengths[i])
    return np.log(total)


@numba.njit(cache=True)
def grow(table: Array, size: int, filling: int) -> Array:
    """The table, or where it has no room for ``size`` rows, a larger one filled up with ``filling``."""
    if size <= len(table):
        return table
    larger = np.full((max(size, 2 * len(table)), table.shape[1]), filling, dtype=table.dtype)
    larger[: len(table)] = table
    return larger


# Columns of the notes on states. CHILD, PRODUCT, LENGTHS and WORD hold the word at which the state's successor, q·e,
# lengths and first listed word were last found; the others hold what was found.
CHILD, PRODUCT, LENGTHS, WORD, CHILD_ROW, LENGTHS_ROW, WORD_ROW = range(7)


@numba.njit(cache=True)
def choose_entity(
    t: int, chosen: int, candidates: int, rows: Array, distances: Array, query: Array, offset: float, states: Array,
    notes: Array, products: Array, factors: Array, log_factors: Array, quantities: Array, lookup: Array,
) -> float:  # fmt: skip
    """Equation 4 for one mention: log p of the entity ``chosen`` among ``candidates`` old ones and a newborn.

    Scores are relative to the newborn's, ``offset``; ``products`` keeps q·e less that, and its exponential, per state.
    """
    farthest = lookup.shape[1] - 1
    total, score = 1.0, 0.0
    for n in range(1, candidates + 1):
        row = rows[n]
        if notes[row, PRODUCT] != t:
            notes[row, PRODUCT] = t
            products[row, 0] = multiply(query, states[row]) - offset
            products[row, 1] = np.exp(products[row, 0])
        term = products[row, 1]
        for q in quantities:
            term *= factors[lookup[q, min(distances[n, q], farthest)]]
        total += term
        if n == chosen:
            score = products[row, 0]
            for q in quantities:
                score += log_factors[lookup[q, min(distances[n, q], farthest)]]
    return score - np.log(total)


@numba.njit(cache=True)
def list_word(t: int, row: int, place: int, listed: int, words: Array, notes: Array) -> int:
    """The number of the listed (word, state, place); ``listed`` itself if it is new, and then it is on the list."""
    first = notes[row, WORD_ROW] if notes[row, WORD] == t else NO_WORD
    word = first
    while word != NO_WORD and words[word, 2] != place:
        word = words[word, 3]
    if word == NO_WORD:
        word = listed
        words[word, 0], words[word, 1], words[word, 2], words[word, 3] = t, row, place, first
        notes[row, WORD], notes[row, WORD_ROW] = t, word
    return word


@numba.njit(cache=True)
def measure_distances(t: int, sentence: int, mentions: int, candidates: int, last: Array, out: Array) -> None:
    """f(e) of all entities so far: words, sentences and mentions since, and how often (the order of ``QUANTITIES``)."""
    for n in range(1, candidates + 1):
        out[n, 0] = t - last[n, 0]
        out[n, 1] = sentence - last[n, 1]
        out[n, 2] = mentions + 1 - last[n, 2]
        out[n, 3] = last[n, 3]


@numba.njit(cache=True)
def walk_views(
    mention_type: Array, entity: Array, remaining: Array, place: Array, sentence: Array,
    log_types: Array, queries: Array, length_scores: Array, length_weights: Array, gates: Array, hidden: Array,
    new_entities: Array, factors: Array, log_factors: Array, quantities: Array, lookup: Array,
    keep_words: bool, smallest: float,
) -> Any:  # fmt: skip
    """Score R, E and L of all V analyses, and list the different (word, state, place) that predict words.

    :param births: (T, D) the vector of an entity born at each word.
    :param factors: exp(w_dist) and :param log_factors: w_dist, with one for "none" at their ends.
    :return: log-probabilities (V, 3); the states (S, D); the word that made each state (-1: a birth) and the state before it
        (S, 2); the listed words (N, 3); which of them each word of each analysis is (V, T).
    """
    views, length = entity.shape
    most = 1 + (entity.max() if entity.size else 0)
    scores = np.zeros((views, 3))
    states = np.zeros((1 + 2 * length, new_entities.shape[1]), dtype=new_entities.dtype)
    notes = np.full((len(states), 7), -1, dtype=np.int64)
    products = np.zeros((len(states), 2))
    lineage = np.full((len(states), 2), -1, dtype=np.int64)
    words = np.zeros((2 * length, 4), dtype=np.int64)
    word_of = np.full((views if keep_words else 0, length), NO_WORD, dtype=np.int32)
    lengths = np.zeros((views, length_scores.shape[1]))
    size, listed = 1, 0  # row 0 of the states is zero: no entity yet
    rows = np.zeros((views, most), dtype=np.int64)  # the newest state of each entity
    last = np.zeros((views, most, 4), dtype=np.int64)  # word, sentence, mention, count
    distances = np.zeros((most, 4), dtype=np.int64)
    entities = np.zeros(views, dtype=np.int64)
    mentions = np.zeros(views, dtype=np.int64)
    current = np.zeros(views, dtype=np.int64)
    left = np.zeros(views, dtype=np.int64)
    for t in range(length):
        states = grow(states, size + views + 1, 0)
        notes = grow(notes, len(states), -1)
        products = grow(products, len(states), 0)
        lineage = grow(lineage, len(states), -1)
        words = grow(words, listed + views, 0)
        new_entity, offset, found = NOBODY, 0.0, 0
        for v in range(views):
            n = entity[v, t]
            if left[v] == 0:
                scores[v, 0] += log_types[t, mention_type[v, t]]
            if left[v] == 0 and n > 0:  # a mention starts
                if new_entity == NOBODY:
                    new_entity, size = size, size + 1
                    states[new_entity] = new_entities[t]
                    offset = multiply(queries[t], new_entities[t])
                measure_distances(t, sentence[t], mentions[v], entities[v], last[v], distances)
                scores[v, 1] += choose_entity(
                    t, n, entities[v], rows[v], distances, queries[t], offset, states,
                    notes, products, factors, log_factors, quantities, lookup,
                )  # fmt: skip
                if n > entities[v]:
                    entities[v], rows[v, n] = n, new_entity
                row = rows[v, n]
                if notes[row, LENGTHS] != t:
                    notes[row, LENGTHS], notes[row, LENGTHS_ROW] = t, found
                    score_lengths(lengths[found], length_scores[t], length_weights, states[row])
                    found += 1
                left[v], current[v] = remaining[v, t], row
                reaches_end = t + left[v] >= length
                scores[v, 2] += choose_length(lengths[notes[row, LENGTHS_ROW]], left[v], reaches_end)
                mentions[v] += 1
                last[v, n, 2] = mentions[v]
                last[v, n, 3] += 1
            if keep_words:
                word_of[v, t] = list_word(t, current[v], place[v, t], listed, words, notes)
                listed = max(listed, word_of[v, t] + 1)
            if n > 0:  # the entity changes with the word
                before = rows[v, n]
                if notes[before, CHILD] != t:
                    notes[before, CHILD], notes[before, CHILD_ROW] = t, size
                    lineage[size, 0], lineage[size, 1] = t, before
                    update_state(states[size], states[before], hidden[t], gates[t], smallest)
                    size += 1
                rows[v, n] = current[v] = notes[before, CHILD_ROW]
                last[v, n, 0], last[v, n, 1] = t, sentence[t]
                left[v] -= 1
    return scores, states[:size], lineage[:size], words[:listed, :3], word_of


@numba.njit(cache=True)
def count_listed_copies(listed: Array, lineage: Array, x: Array) -> Any:
    """Chances, echoes and openings (``data.echoes``) of the listed words, of which those with a place are in a mention."""
    size = len(listed)
    copy_candidates = np.zeros(size, dtype=np.int32)
    copies = np.zeros(size, dtype=np.int32)
    opens = np.zeros(size, dtype=np.bool_)
    for i in range(size):
        t, row, place = listed[i]
        if place == 0:
            continue
        opens[i] = t == 0 or lineage[row, 0] != t - 1
        previous = OPENING if opens[i] else x[t - 1]
        for _ in range(KEPT):
            token, before = lineage[row]
            if token < 0:
                break
            stands_after = OPENING if lineage[before, 0] != token - 1 or token == 0 else x[token - 1]
            if stands_after == previous:
                copy_candidates[i] += 1
                copies[i] += x[token] == x[t]
            row = before
    return copy_candidates, copies, opens
