"""Score equation 6 for all particles where words are pieces of one large softmax (a pretrained language model's).

A softmax over fifty thousand pieces for every particle would be too dear. But the logits of a piece split exactly,

    W (h + place + W_e e) + b = (W h + b) + (W place + (W W_e) e),

so the language model's own probabilities p_v are computed once per piece of the text, and what a state of an entity and a place
in a mention add, c_v, is a product of thin matrices. The normaliser is Σ_v p_v exp(c_v). Pieces that are likely are summed one by
one; the others, which together have less than a hundredth of the probability, as if their c_v were normal:

    Σ_v p_v exp(c_v) ≈ m exp(μ + σ² / 2), with the mass m and the mean μ of these pieces and a variance σ² of all pieces,

which is off by 4e-5 bits of a word on average and by 4e-4 at most (SmolLM2, 456 pairs of an OntoGUM text); pairs for which it
could be off by more are scored the plain way. The pieces that open a word are in front (``OutputLayer``), so the sum over these
alone, which the end of a word needs, is the first part.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from entitynlm.compilation import njit
from entitynlm.inference.kernels import FAST, exponentiate
from entitynlm.inference.particles import Segment
from entitynlm.inference.readings import WordTables
from entitynlm.inference.state_tables import StateTable
from entitynlm.inference.weights import FloatArray
from entitynlm.inference.words.word_scorer import WordPairs, WordScorer
from entitynlm.model.backbones.base import OutputLayer
from entitynlm.model.backbones.huggingface.tokenizer import OPEN
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.products import apply_linear

WORDS_AHEAD = 256
"""Words for which the language model's own probabilities are computed at once: W is read once for many."""

SUMMED_ALONE = 2e-6
"""Probability above which a piece's term is computed exactly."""

PIECES_AT_ONCE = 256
"""Pieces whose weights stay in the nearest cache while all pairs of a word pass by."""

PRODUCTS_AT_ONCE = 4
"""Dimensions of an entity's narrow vector that are multiplied together; zeros fill them up."""

HIGHEST = np.float32(80)
"""Weight c_v from which on sums are not trusted: its exponential is near the highest number of single precision."""

WIDEST = 1.0
"""Deviation of c_v above which sums of unlikely pieces are not trusted."""


class PiecesAhead(NamedTuple):
    """P pieces of the words ``first`` … ``last`` - 1 of a chunk, and the distributions over pieces in S states before them.

    END is decided in the state that the next piece is drawn from, so the two have one row.
    """

    first: int
    last: int
    bounds: np.ndarray  # (words + 1,) the pieces of each word
    rows: np.ndarray  # (P,) the state before each piece
    columns: np.ndarray  # (P,) the piece in the output layer's order; -1: END
    opens: np.ndarray  # (P,) whether it opens a word
    log_probs: np.ndarray  # (P,) log p of the piece among all; 0 for END
    starts: np.ndarray  # (S + 1,) where each state's likely pieces begin …
    openers: np.ndarray  # (S,) … and how many of these open a word
    likely: np.ndarray  # (L,) likely pieces
    probs: np.ndarray  # (L,) their probabilities
    others: np.ndarray  # (S, 2, places, 1 + rank) mass of the others, openers and the rest, and the mean of their weights · mass


class SoftmaxWordScorer(WordScorer):
    """Scores words as :class:`WordScorer` does, with less work per pair."""

    def __init__(self, network: EntityNetwork) -> None:
        super().__init__(network)
        output = network.backbone.output_layer()
        assert output is not None
        self.output: OutputLayer = output.to(network.W_e)
        weight = self._fill(self.output.weight @ network.W_e.detach())  # (V, rank)
        self._rank, self._covariance = weight.shape[1], torch.cov(weight.t()).reshape(2 * weight.shape[1:])
        of_places = weight.new_zeros(len(weight), self.places)
        if network.additions.positions is not None:
            of_places = self.output.weight @ network.additions.positions.vectors.detach().t()
        self._weights = torch.cat([weight, of_places], 1).numpy()  # (V, rank + places)
        moments = torch.cat([torch.ones_like(weight[:, :1]), weight], 1)
        self._moments = (of_places.exp()[:, :, None] * moments[:, None]).flatten(
            1
        )  # (V, places · (1 + rank))
        self._lift = of_places.amax(1).exp().numpy()
        self._ahead_of: WordTables | None = None
        self._ahead: PiecesAhead | None = None
        self.without_entities: list[float] = []  # log p of each word so far by the language model alone

    def _score_pairs(
        self, states: StateTable, tables: WordTables, segment: Segment, pairs: WordPairs
    ) -> FloatArray:
        ahead = self._look_ahead(tables, segment)
        narrow = self._fill(self.network.narrow_entity(torch.from_numpy(states.vectors[pairs.rows])))
        spread = ((narrow @ self._covariance) * narrow).sum(1).numpy()
        scores, first = np.zeros(len(pairs.rows)), segment.first - ahead.first
        _score_words(ahead, self._weights, narrow.numpy(), spread, pairs, first, scores)
        if len(doubtful := np.flatnonzero(np.isnan(scores))):
            some = WordPairs(*(values[doubtful] for values in pairs))
            scores[doubtful] = super()._score_pairs(states, tables, segment, some)
        return scores

    @staticmethod
    def _fill(values: Tensor) -> Tensor:
        return torch.nn.functional.pad(values, (0, -values.shape[1] % PRODUCTS_AT_ONCE))

    def _look_ahead(self, tables: WordTables, segment: Segment) -> PiecesAhead:
        """Compute distributions over pieces for the words of a segment and some after them."""
        first, last = segment.first, segment.first + len(segment.sentence)
        ahead = self._ahead
        if ahead is not None and self._ahead_of is tables and ahead.first <= first and last <= ahead.last:
            return ahead
        words = tables.words
        assert words.piece_bounds is not None and words.piece_places is not None
        last = min(max(last, first + WORDS_AHEAD), len(words))
        bounds = words.piece_bounds[first : last + 1]
        some = slice(int(bounds[0]), int(bounds[-1]))
        ids, opens, end = words.all_pieces[some], words.piece_places[some] == OPEN, len(self.output.weight)
        own_state = np.ones(len(ids), dtype=bool)
        own_state[1:] = ids[:-1] != end
        rows = np.cumsum(own_state) - 1
        columns = np.where(ids == end, -1, self.output.columns[np.minimum(ids, end - 1)].numpy())
        logits = self.output.logits(torch.from_numpy(tables.piece_states[some][own_state]))
        own = logits.numpy()[rows, columns].astype(np.float64)
        split = self.output.openers
        log_totals, opening, starts, openers, likely, probs = _split_likely(logits.numpy(), split, self._lift)
        shape = len(logits), self.places, 1 + self._rank
        parts = (
            apply_linear(logits[:, :split], self._moments[:split].t()),
            apply_linear(logits[:, split:], self._moments[split:].t()),
        )
        others = torch.stack([part.view(shape) for part in parts], 1).numpy()
        log_probs = np.where(columns < 0, 0.0, own - log_totals[rows])
        self._ahead_of = tables
        self._ahead = ahead = PiecesAhead(
            first, last, bounds - bounds[0], rows, columns, opens, log_probs, starts, openers, likely, probs, others
        )  # fmt: skip
        log_opening = np.log(opening)[rows]
        alone = np.where(columns < 0, log_opening, log_probs - np.where(opens, log_opening, 0.0))
        until = np.concatenate([[0.0], np.cumsum(alone)])[ahead.bounds]
        del self.without_entities[segment.position :]
        self.without_entities += np.diff(until).tolist()
        return ahead


@njit(nogil=True, fastmath=FAST)
def _split_likely(logits, openers, lift):  # type: ignore[no-untyped-def]
    """Turn logits (S, V), in place, into the probabilities of the pieces that are not likely in any place.

    :return: (S,) log Σ exp(logits), (S,) the probability of pieces that open a word, and four fields of :class:`PiecesAhead`.
    """
    states, size = logits.shape
    log_totals, opening = np.empty(states), np.empty(states)
    starts, found = np.zeros(states + 1, dtype=np.int64), np.zeros(states, dtype=np.int64)
    shifted, powers, bits = np.empty_like(logits[0]), np.empty_like(logits[0]), np.empty(size, dtype=np.int32)
    for i in range(states):
        highest = logits[i, 0]
        for v in range(1, size):
            highest = max(highest, logits[i, v])
        for v in range(size):
            shifted[v] = logits[i, v] - highest
        exponentiate(shifted, powers, bits)
        first, second = np.float64(0), np.float64(0)
        for start in range(0, size, PIECES_AT_ONCE):
            stop = min(start + PIECES_AT_ONCE, size)
            cut = min(max(openers, start), stop)
            one, two = powers[0] * 0, powers[0] * 0
            for v in range(start, cut):
                one += powers[v]
            for v in range(cut, stop):
                two += powers[v]
            first, second = first + one, second + two
        log_totals[i], opening[i] = highest + np.log(first + second), first / (first + second)
        scale, count = logits.dtype.type(1 / (first + second)), 0
        for v in range(size):
            logits[i, v] = powers[v] * scale
            count += logits[i, v] * lift[v] >= SUMMED_ALONE
        starts[i + 1] = starts[i] + count
    likely, probs = np.empty(starts[states], dtype=np.int32), np.empty(starts[states], dtype=logits.dtype)
    for i in range(states):
        place = starts[i]
        for v in range(size):
            if logits[i, v] * lift[v] >= SUMMED_ALONE:
                likely[place], probs[place] = v, logits[i, v]
                place += 1
                found[i] += v < openers
                logits[i, v] = 0
    return log_totals, opening, starts, found, likely, probs


@njit(nogil=True, fastmath=FAST)
def _score_words(ahead, weights, narrow, spread, pairs, first, scores):  # type: ignore[no-untyped-def]
    """Add up log p of every pair's pieces; nan where it must be computed the plain way. Pairs of one word are neighbours."""
    # rows of a round number of bytes would push each other out of the cache
    block = np.zeros((weights.shape[1], PIECES_AT_ONCE + 16), dtype=weights.dtype)
    sums = np.empty((len(scores), 2))
    start = 0
    while start < len(scores):
        word, stop = pairs.words[start], start
        while stop < len(scores) and pairs.words[stop] == word:
            stop += 1
        for piece in range(ahead.bounds[first + word], ahead.bounds[first + word + 1]):
            state, own = ahead.rows[piece], ahead.columns[piece]
            low, high = ahead.starts[state], ahead.starts[state + 1]
            middle = low + ahead.openers[state]
            sums[start:stop] = 0
            _add_likely(ahead, weights, narrow, pairs.places, start, stop, low, middle, block, sums[:, 0])
            if not ahead.opens[piece]:
                _add_likely(
                    ahead, weights, narrow, pairs.places, start, stop, middle, high, block, sums[:, 1]
                )
            for k in range(start, stop):
                place = pairs.places[k]
                opening = sums[k, 0] + _add_others(ahead.others[state, 0, place], narrow[k], spread[k])
                total = opening + sums[k, 1]
                if not ahead.opens[piece]:
                    total += _add_others(ahead.others[state, 1, place], narrow[k], spread[k])
                added = np.float64(0)
                if own >= 0:
                    for d in range(narrow.shape[1]):
                        added += weights[own, d] * narrow[k, d]
                    added += weights[own, narrow.shape[1] + place]
                scores[k] += ahead.log_probs[piece] + added - np.log(total)
                if own < 0:
                    scores[k] += np.log(opening)
                unknown = ahead.others[state, 0, place, 0] + ahead.others[state, 1, place, 0]
                if not (opening > 1e-25 and total < 1e25) or (unknown > 0 and spread[k] > WIDEST):
                    scores[k] = np.nan
        start = stop


@njit(nogil=True, fastmath=FAST)
def _add_likely(ahead, weights, narrow, places, start, stop, low, high, block, sums):  # type: ignore[no-untyped-def]
    """sums[k] += Σ p_v exp(c_v) over some likely pieces, for the pairs ``start`` … ``stop`` - 1: block by block, two at a time.

    Loops have a fixed number of turns, which the compiler makes the most of; pieces that are none have no probability.
    """
    rank, probs = narrow.shape[1], np.empty(PIECES_AT_ONCE, dtype=block.dtype)
    added, other, powers = np.empty_like(probs), np.empty_like(probs), np.empty_like(probs)
    bits = np.empty(PIECES_AT_ONCE, dtype=np.int32)
    for first in range(low, high, PIECES_AT_ONCE):
        probs[:] = 0
        for j in range(min(PIECES_AT_ONCE, high - first)):
            v, probs[j] = ahead.likely[first + j], ahead.probs[first + j]
            for d in range(weights.shape[1]):
                block[d, j] = weights[v, d]
        for k in range(start, stop, 2):
            m = min(k + 1, stop - 1)
            _multiply_two(block, rank + places[k], rank + places[m], narrow, k, m, added, other)
            sums[k] += _add_powers(added, probs, powers, bits)
            if m > k:
                sums[m] += _add_powers(other, probs, powers, bits)


@njit(nogil=True, fastmath=FAST, makes_arrays=False)
def _multiply_two(block, place, other_place, narrow, k, m, added, other):  # type: ignore[no-untyped-def]
    """Compute c_v of a block for the pairs k and m: each load of a weight serves both."""
    for j in range(PIECES_AT_ONCE):
        added[j], other[j] = block[place, j], block[other_place, j]
    for d in range(0, narrow.shape[1], PRODUCTS_AT_ONCE):
        a, b, c, f = narrow[k, d], narrow[k, d + 1], narrow[k, d + 2], narrow[k, d + 3]
        p, q, r, s = narrow[m, d], narrow[m, d + 1], narrow[m, d + 2], narrow[m, d + 3]
        for j in range(PIECES_AT_ONCE):
            w, x, y, z = block[d, j], block[d + 1, j], block[d + 2, j], block[d + 3, j]
            added[j] += a * w + b * x + c * y + f * z
            other[j] += p * w + q * x + r * y + s * z


@njit(nogil=True, fastmath=FAST, makes_arrays=False)
def _add_powers(added, probs, powers, bits):  # type: ignore[no-untyped-def]
    """Σ p_v exp(c_v) over the pieces of a block; a sum from the second piece on would leave 63 to be added one by one."""
    for j in range(PIECES_AT_ONCE):
        added[j] = min(added[j], HIGHEST)
    exponentiate(added, powers, bits)
    total = probs[0] * 0
    for j in range(PIECES_AT_ONCE):
        total += probs[j] * powers[j]
    return total


@njit(nogil=True)
def _add_others(others, narrow, spread):  # type: ignore[no-untyped-def]
    """Σ p_v exp(c_v) over the pieces that are not likely."""
    mass, mean = others[0], 0.0
    if mass <= 0:
        return 0.0
    for d in range(len(narrow)):
        mean += others[1 + d] * narrow[d]
    return mass * np.exp(mean / mass + spread / 2)
