"""Score equation 6, log p(x_t | h_{t-1}, e_current), for all particles of a segment at once.

Particles that share e_current share the word's probability, so the sampler hands over distinct pairs (word, row).
With the class-factored softmax, what depends on the row alone is computed once, when the row is new: its part of the class
scores. Since

    Σ_c exp(u_c + v_c) = Σ_c exp(u_c) · exp(v_c),

the sum over classes for a pair is a product of two vectors that are there already, one of the word and one of the
row. What is left per pair is the softmax within the word's class, which is a matrix product per class.
"""

import copy
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch

from entitynlm.compilation import njit
from entitynlm.inference.kernels import FAST, exponentiate, multiply_block, multiply_rows
from entitynlm.inference.particles import Choices, Segment
from entitynlm.inference.readings import WordTables
from entitynlm.inference.state_tables import StateTable
from entitynlm.inference.weights import FloatArray
from entitynlm.model.additions import count_mention_positions
from entitynlm.model.batch.scores import log_prob_chosen_words
from entitynlm.model.entitynlm import EntityNetwork

LARGEST_BATCH = 2**20
"""Numbers gathered or scored at once: bounds the memory, and keeps it near the processor."""

CONTEXTS_AHEAD = 128
"""Words whose contexts are computed together."""

PAIRS_AT_ONCE = 24
"""Pairs whose products are made together."""

SMALLEST_SUM = 1e-25
"""A sum of products below this may have lost terms to underflow, and is computed again without products."""


class WordPairs(NamedTuple):
    """The different ways in which words of a segment are predicted: a word, its place in its mention, a row of P's state table.

    Places are as ``find_mention_positions`` numbers them; a network that does not look at them has one. Pairs of one word
    are neighbours.
    """

    words: np.ndarray  # (K,) which word of the segment
    places: np.ndarray  # (K,)
    rows: np.ndarray  # (K,) row of e_current


@torch.no_grad()
def score_words(
    network: EntityNetwork, tables: WordTables, words: np.ndarray, vectors: np.ndarray, places: np.ndarray
) -> FloatArray:
    """(n,) equation 6 for pairs of a word, given by its row in the tables, and a vector of e_current, a few at a time.

    :param places: (n,) the place of each word in its mention, as ``find_mention_positions`` numbers them.
    """
    device, dtype = network.W_r.device, network.W_r.dtype
    piece_states = torch.from_numpy(tables.piece_states).to(device)
    scores = np.empty(len(words))
    batch = max(1, LARGEST_BATCH // network.backbone.vocabulary_size)
    for start in range(0, len(words), batch):
        some = slice(start, start + batch)
        own = torch.from_numpy(np.array(vectors[some])).to(device, dtype)
        We = network.project_entity(own)
        positions = torch.from_numpy(places[some].astype(np.int64)).to(device)
        found = log_prob_chosen_words(network, piece_states, tables.words, words[some], We, positions)
        scores[some] = found.double().cpu().numpy()
    return scores


class WordScorer:
    """Scores words under P, whatever its softmax."""

    def __init__(self, network: EntityNetwork) -> None:
        self.network = network
        self.places = count_mention_positions(network.config) if network.config.mention_positions else 1
        self.without_entities: list[float] = []

    def score(self, states: StateTable, tables: WordTables, segment: Segment, choices: Choices) -> FloatArray:
        """Return (S, N) log-probabilities of a segment's words, for every particle; ``tables`` are P's."""
        used = int(choices.pairs[0])
        columns = (choices.pair_words, choices.pair_places, choices.pair_rows)
        pairs = WordPairs(*(column[:used] for column in columns))
        return self._score_pairs(states, tables, segment, pairs)

    def _score_pairs(
        self, states: StateTable, tables: WordTables, segment: Segment, pairs: WordPairs
    ) -> FloatArray:
        """Return (K,) log-probabilities of the pairs' words."""
        words = segment.first + pairs.words.astype(np.int64)
        return score_words(self.network, tables, words, states.vectors[pairs.rows], pairs.places)

    def keep(self, rows: np.ndarray) -> None:
        """Keep only these rows of the cache, after the state table has dropped all others."""

    def fork(self) -> "WordScorer":
        """Make a scorer of the same network for another state table."""
        return copy.copy(self)


class ClassWeights(NamedTuple):
    """The parameters of equation 6 with a class-factored softmax, multiplied out; a class is a range of slots (``ClassSoftmax``).

    The score of a word in its class is w·(h + place + W_e e) + b. What a place or an entity adds to it is a product with weights
    that no text changes, so that these products are made once.
    """

    classes: np.ndarray  # (V,) the class of each word
    slots: np.ndarray  # (V,) the slot of each word
    offsets: np.ndarray  # (C + 1,) where each class begins among the slots
    class_weight: np.ndarray  # (C, D)
    place_scores: np.ndarray  # (places, C) what each place adds to the scores of classes, with their biases
    entity_scores: np.ndarray  # (C, d) what an entity adds to them
    word_weight: np.ndarray  # (slots, D)
    place_logits: np.ndarray  # (places, slots) what each place adds to the scores of words, with their biases
    entity_weight: np.ndarray  # (slots, d) what an entity adds to them


_PREPARED: WeakKeyDictionary[EntityNetwork, tuple[object, ClassWeights]] = WeakKeyDictionary()


@torch.no_grad()
def prepare_weights(network: EntityNetwork, places: int) -> ClassWeights:
    """Multiply out the weights of a network, once until its parameters change."""
    version = [(parameter.data_ptr(), parameter._version) for parameter in network.parameters()]
    if network in _PREPARED and _PREPARED[network][0] == version:
        return _PREPARED[network][1]
    factors = network.backbone.class_factors()
    assert factors is not None
    softmax, weight = factors[0], factors[0].weights(factors[1]).detach()
    projection = network.project_entity(torch.eye(network.config.hidden_size).to(weight))  # (d, D)
    vectors = weight.new_zeros(places, weight.shape[1])
    if network.additions.positions is not None:
        vectors = network.additions.positions.vectors
    class_weight = softmax.class_weight.detach()
    prepared = ClassWeights(
        softmax.class_of_np,
        softmax.slot_of.numpy(),
        softmax.offsets,
        class_weight.numpy(),
        (vectors @ class_weight.t() + softmax.class_bias).numpy(),
        (class_weight @ projection.t()).numpy(),
        np.ascontiguousarray(weight.numpy()),
        (vectors @ weight.t() + softmax.word_bias).numpy(),
        (weight @ projection.t()).numpy(),
    )
    _PREPARED[network] = (version, prepared)
    return prepared


class Contexts(NamedTuple):
    """The contexts of the words ``first`` … ``last`` - 1 of a chunk, all places of a word after those of the one before it."""

    scores: np.ndarray  # (words · places, C) their class scores, of which the largest is 0
    exponentials: np.ndarray  # (words · places, C)
    first: int
    last: int


class RowScores(NamedTuple):
    """What the rows of a state table add to class scores: computed when a row is asked for."""

    scores: np.ndarray  # (rows, C) of which the largest is 0
    exponentials: np.ndarray  # (rows, C)
    known: np.ndarray  # (rows,)


class ClassWordScorer(WordScorer):
    """Scores words under a class-factored softmax on a CPU as :class:`WordScorer` does, with less work per pair."""

    def __init__(self, network: EntityNetwork) -> None:
        super().__init__(network)
        self.weights = prepare_weights(network, self.places)
        nothing = self.weights.place_scores[:0]
        self._rows = RowScores(nothing, nothing, np.zeros(0, dtype=np.bool_))
        self._ahead_of: WordTables | None = None
        self._ahead = Contexts(np.zeros((0, 0)), np.zeros((0, 0)), 0, 0)
        longest = int(np.diff(self.weights.offsets).max())
        self._bits = np.empty(max(len(self.weights.class_weight), longest), dtype=np.int32)

    def _score_pairs(
        self, states: StateTable, tables: WordTables, segment: Segment, pairs: WordPairs
    ) -> FloatArray:
        if states.used > len(self._rows.known):
            self._make_room(len(states.rows.vectors))
        self._look_ahead(tables, segment)
        scores: FloatArray = _score_pairs(
            self.weights, self._ahead, self._rows, states.rows.vectors, tables.contexts, segment, pairs, self._bits
        )  # fmt: skip
        return scores

    def _make_room(self, count: int) -> None:
        shape, old = (count, len(self.weights.class_weight)), self._rows
        scores = np.zeros(shape, self.weights.class_weight.dtype)
        self._rows = RowScores(scores, np.zeros_like(scores), np.zeros(count, dtype=np.bool_))
        for values, new in zip(old, self._rows, strict=True):
            new[: len(values)] = values

    def _look_ahead(self, tables: WordTables, segment: Segment) -> None:
        """Compute what contexts contribute for the words of a segment and some after them: one product for many segments."""
        first, last = segment.first, segment.first + len(segment.x)
        if self._ahead_of is tables and self._ahead.first <= first and last <= self._ahead.last:
            return
        last = min(max(last, first + CONTEXTS_AHEAD), tables.tokens)
        weight = torch.from_numpy(self.weights.class_weight)
        of_words = (torch.from_numpy(tables.contexts[first:last]) @ weight.t()).numpy()
        scores = (of_words[:, None] + self.weights.place_scores).reshape(-1, len(weight))
        exponentials = np.empty_like(scores)
        shift_and_exponentiate(scores, 0, len(scores), exponentials, self._bits)
        self._ahead_of, self._ahead = tables, Contexts(scores, exponentials, first, last)

    def keep(self, rows: np.ndarray) -> None:
        rows = rows[: np.searchsorted(rows, len(self._rows.known))]
        for values in self._rows:
            values[: len(rows)] = values[rows]
        self._rows.known[len(rows) :] = False

    def fork(self) -> WordScorer:
        other = copy.copy(self)
        other._rows, other._bits = RowScores(*(values[:0] for values in self._rows)), self._bits.copy()
        return other


@njit(nogil=True)
def _score_pairs(weights, ahead, rows, vectors, h, segment, pairs, bits):  # type: ignore[no-untyped-def]
    """Give (K,) log p of every pair's word; ``h`` are the states before the chunk's words."""
    scores, x = np.empty(len(pairs.rows)), segment.x
    _project_rows(weights.entity_scores, vectors, pairs.rows, rows, bits)
    contexts = (pairs.words + (segment.first - ahead.first)) * len(weights.place_scores) + pairs.places
    _score_classes(
        ahead.scores, ahead.exponentials, rows.scores, rows.exponentials,
        weights.classes, x, pairs.words, contexts, pairs.rows, scores,
    )  # fmt: skip
    _add_words(
        h, vectors, weights.word_weight, weights.place_logits, weights.entity_weight,
        weights.classes, weights.offsets, weights.slots, x, segment.first, pairs.words, pairs.places, pairs.rows, scores, bits,
    )  # fmt: skip
    return scores


@njit(nogil=True)
def _project_rows(weight, vectors, wanted, rows, bits):  # type: ignore[no-untyped-def]
    """Compute an entity's part of the class scores for rows that were not asked for before, some at a time."""
    numbers = np.empty(PAIRS_AT_ONCE, dtype=np.int64)
    some = np.empty((PAIRS_AT_ONCE, vectors.shape[1]), dtype=vectors.dtype)
    found = np.empty((PAIRS_AT_ONCE, len(weight)), dtype=vectors.dtype)
    count = 0
    for k in range(len(wanted)):
        if not rows.known[wanted[k]]:
            rows.known[wanted[k]] = True
            numbers[count], some[count] = wanted[k], vectors[wanted[k]]
            count += 1
        if count == PAIRS_AT_ONCE or (count > 0 and k == len(wanted) - 1):
            multiply_block(weight, 0, len(weight), some, count, found)
            for i in range(count):
                rows.scores[numbers[i]] = found[i]
                shift_and_exponentiate(rows.scores, numbers[i], numbers[i] + 1, rows.exponentials, bits)
            count = 0


@njit(nogil=True)
def shift_and_exponentiate(scores, start, stop, exponentials, bits):  # type: ignore[no-untyped-def]
    """Shift the scores in each row so that the largest is 0; and their exponentials."""
    for i in range(start, stop):
        highest = scores[i, 0]
        for j in range(1, scores.shape[1]):
            highest = max(highest, scores[i, j])
        for j in range(scores.shape[1]):
            scores[i, j] -= highest
        exponentiate(scores[i], exponentials[i], bits)


@njit(nogil=True, fastmath=FAST)
def _score_classes(u, exp_u, v, exp_v, classes, x, words, contexts, rows, scores):  # type: ignore[no-untyped-def]
    """log p(class of the word) of every pair."""
    for k in range(len(rows)):
        t, row, c = contexts[k], rows[k], classes[x[words[k]]]
        total = exp_u[t, 0] * exp_v[row, 0]
        for j in range(1, u.shape[1]):
            total += exp_u[t, j] * exp_v[row, j]
        normaliser = np.log(total) if total > SMALLEST_SUM else _add_carefully(u, t, v, row)
        scores[k] = u[t, c] + v[row, c] - normaliser


@njit(nogil=True)
def _add_carefully(u, t, v, row):  # type: ignore[no-untyped-def]
    """log Σ_c exp(u_c + v_c), less the largest summand, where the product of exponentials would underflow."""
    highest = u[t, 0] + v[row, 0]
    for j in range(1, u.shape[1]):
        highest = max(highest, u[t, j] + v[row, j])
    total = 0.0
    for j in range(u.shape[1]):
        total += np.exp(u[t, j] + v[row, j] - highest)
    return highest + np.log(total)


@njit(nogil=True, fastmath=FAST)
def _add_words(  # type: ignore[no-untyped-def]
    h, states, word_weight, place_logits, entity_weight, classes, offsets, slots, x, first, words, places, rows, scores, bits
):  # fmt: skip
    """Add log p(word | its class). Pairs of one word are neighbours; they are done in blocks."""
    vectors = np.empty((PAIRS_AT_ONCE, states.shape[1]), dtype=states.dtype)
    logits = np.empty((PAIRS_AT_ONCE, len(bits)), dtype=states.dtype)
    of_word, exponentials = np.empty(len(bits), dtype=states.dtype), np.empty(len(bits), dtype=states.dtype)
    start, word, low, high = 0, -1, 0, 0
    while start < len(rows):
        if words[start] != word:
            word = words[start]
            low, high = offsets[classes[x[word]]], offsets[classes[x[word]] + 1]
            multiply_rows(word_weight[low:high], h[first + word], of_word)
        slot, count = slots[x[word]] - low, 0
        while count < PAIRS_AT_ONCE and start + count < len(rows) and words[start + count] == word:
            vectors[count] = states[rows[start + count]]
            count += 1
        multiply_block(entity_weight, low, high, vectors, count, logits)
        for i in range(count):
            place = places[start + i]
            highest = logits[i, 0] + of_word[0] + place_logits[place, low]
            for j in range(high - low):
                logits[i, j] += of_word[j] + place_logits[place, low + j]
                highest = max(highest, logits[i, j])
            for j in range(high - low):
                logits[i, j] -= highest
            exponentiate(logits[i, : high - low], exponentials, bits)
            total = exponentials[0]
            for j in range(1, high - low):
                total += exponentials[j]
            scores[start + i] += logits[i, slot] - np.log(total)
        start += count
