"""Score equation 6 for all particles where words are pieces of one large softmax (a pretrained language model's).

A softmax over fifty thousand pieces for every particle would be too dear. But the logits of a piece split exactly,

    W (h + W_e e) + b = (W h + b) + (W W_e) e,

so the first part is computed once per piece of the text and the second once per state of an entity, and since

    Σ_v exp(a_v + c_v) = Σ_v exp(a_v) · exp(c_v),

what is left per pair of a piece and a state is a product of two vectors: of many pairs, a matrix product. The pieces that open
a word are in front (``OutputLayer``), so the sum over these alone, which the end of a word needs, is the first part of it.
"""

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

PIECES_AT_ONCE = 4_096
"""Pieces whose logits are made together: so few that these never leave the processor's cache."""

LOGITS_AHEAD = 64
"""Words whose logits without entities are computed at once."""

SMALLEST_SUM = 1e-25
"""A sum of products below this may have lost terms to underflow, and is done again with care, as one that overflowed is."""

_HIGHEST = np.float32(89.0)
"""Its exponential is infinity in single precision."""


class SoftmaxWordScorer(WordScorer):
    """Scores words as :class:`WordScorer` does, with one product of vectors per pair."""

    def __init__(self, network: EntityNetwork) -> None:
        super().__init__(network)
        output = network.backbone.output_layer()
        assert output is not None
        self.output: OutputLayer = output.to(network.W_e)
        self.end = len(self.output.weight)  # the pseudo-piece that ends a word
        self._entity_weight = self.output.weight @ network.W_e.detach()  # (V, rank)
        self._shapes = bool(self._entity_weight.any())  # else entities say nothing about words
        self._place_logits: Tensor | None = None
        if network.additions.positions is not None:
            places = network.additions.positions.vectors.detach()
            self._place_logits = places @ self.output.weight.t()  # (places, V)
        self._ahead_of: WordTables | None = None
        self._ahead_words, self._ahead_piece = (0, 0), 0
        self._ahead_rows = np.zeros(0, dtype=np.int64)  # of each piece from that one on
        self._ahead_logits = self._entity_weight.new_zeros(0, 0)
        self.without_entities: list[float] = []  # log p of each word so far by the language model alone

    def _score_pairs(
        self, states: StateTable, tables: WordTables, segment: Segment, pairs: WordPairs
    ) -> FloatArray:
        rows, which = np.unique(pairs.rows, return_inverse=True)
        rows = rows if self._shapes else rows[:1]
        which = which if self._shapes else np.zeros_like(which)
        vectors = torch.from_numpy(states.vectors[rows]).to(self._entity_weight)
        narrow = self.network.narrow_entity(vectors)  # (R, rank)
        contexts, of_pair = np.unique(pairs.contexts, return_inverse=True)
        log_probs = self._score_contexts(tables, segment, contexts, narrow)
        scores: FloatArray = log_probs[of_pair, which]
        return scores

    def _score_contexts(
        self, tables: WordTables, segment: Segment, contexts: np.ndarray, narrow: Tensor
    ) -> FloatArray:
        """Give (C, R) log-probabilities of each context's word with each of R rows."""
        words = tables.words
        chosen, places = divmod(contexts.astype(np.int64), self.places)
        index, owners = words.expand(segment.first + chosen)
        assert owners is not None and words.piece_places is not None
        ids, opens = words.all_pieces[index], words.piece_places[index] == OPEN
        self._look_ahead(tables, segment)
        of_words = self._ahead_rows[index - self._ahead_piece]
        states, of_state = np.unique(np.stack([of_words, places[owners]]), axis=1, return_inverse=True)
        logits = self._ahead_logits[torch.from_numpy(states[0])]  # (H, V)
        if self._place_logits is not None:
            logits += self._place_logits[torch.from_numpy(states[1])]
        log_opening, log_total = self._sum_pieces(logits, narrow)  # (H, R)
        columns = self.output.columns[torch.from_numpy(np.minimum(ids, self.end - 1))]
        of_pieces = torch.from_numpy(of_state)
        added = (self._entity_weight[columns][:, None] * narrow).sum(-1)
        own = logits[of_pieces, columns].double()[:, None] + added  # (P, R)
        opening, total = log_opening[of_pieces], log_total[of_pieces]
        is_end, is_open = torch.from_numpy(ids == self.end)[:, None], torch.from_numpy(opens)[:, None]
        log_probs = torch.where(is_end, opening - total, own - torch.where(is_open, opening, total))
        result = log_probs.new_zeros(len(contexts), len(narrow))
        summed: FloatArray = result.index_add(0, torch.from_numpy(owners), log_probs).numpy()
        return summed

    def _sum_pieces(self, logits: Tensor, narrow: Tensor) -> tuple[Tensor, Tensor]:
        """(H, R) log Σ exp(logits + what the row adds), over the pieces that open a word and over all, block by block."""
        highest = logits.amax(1, keepdim=True) if len(logits) else logits[:, :1]
        sums = torch.zeros(2, len(logits), len(narrow), dtype=torch.float64)
        openers, size = self.output.openers, logits.shape[1]
        bits = np.empty(PIECES_AT_ONCE, dtype=np.int32)
        for part, low, high in ((0, 0, openers), (1, openers, size)):
            for start in range(low, high, PIECES_AT_ONCE):
                stop = min(start + PIECES_AT_ONCE, high)
                added = narrow @ self._entity_weight[start:stop].t()  # (R, stop - start)
                shifted = logits[:, start:stop] - highest
                _add_products(shifted.numpy(), added.numpy(), bits, sums[part].numpy())
        opening, total = sums[0], sums[0] + sums[1]
        log_opening, log_total = (values.log() + highest.double() for values in (opening, total))
        unsafe = (opening < SMALLEST_SUM) | ~torch.isfinite(total)
        self._add_carefully(logits, narrow, unsafe, log_opening, log_total)
        return log_opening, log_total

    def _add_carefully(
        self, logits: Tensor, narrow: Tensor, chosen: Tensor, log_opening: Tensor, log_total: Tensor
    ) -> None:
        """Sum, the plain way, over pairs whose products under- or overflowed."""
        for state, row in chosen.nonzero().tolist():
            scores = (logits[state] + self._entity_weight @ narrow[row]).double()
            log_opening[state, row] = scores[: self.output.openers].logsumexp(0)
            log_total[state, row] = scores.logsumexp(0)

    def _look_ahead(self, tables: WordTables, segment: Segment) -> None:
        """Compute the language model's own logits for the words of a segment and some after them: W is read once for many.

        END is decided in the state that the next piece is drawn from, so the two have one row.
        """
        first, last = segment.first, segment.first + len(segment.sentence)
        if self._ahead_of is tables and self._ahead_words[0] <= first and last <= self._ahead_words[1]:
            return
        bounds, places = tables.words.piece_bounds, tables.words.piece_places
        assert bounds is not None and places is not None
        stop = min(max(last, first + LOGITS_AHEAD), len(tables.words))
        low, high = int(bounds[first]), int(bounds[stop])
        own_state = np.ones(high - low, dtype=bool)
        own_state[1:] = tables.words.all_pieces[low : high - 1] != self.end
        h = torch.from_numpy(tables.piece_states[low:high][own_state]).to(self._entity_weight)
        self._ahead_of, self._ahead_words, self._ahead_piece = tables, (first, stop), low
        self._ahead_rows = np.cumsum(own_state) - 1
        self._ahead_logits = self.output.logits(h)
        ids, opens = torch.from_numpy(tables.words.all_pieces[low:high]), places[low:high] == OPEN
        rows = torch.from_numpy(self._ahead_rows)
        log_probs = self.output.log_prob(self._ahead_logits, rows, ids, torch.from_numpy(opens))
        until = np.concatenate([[0.0], np.cumsum(log_probs.double().numpy())])[bounds[first : stop + 1] - low]
        del self.without_entities[segment.position :]
        self.without_entities += np.diff(until).tolist()


@njit(nogil=True, fastmath=FAST)
def _add_products(scores, added, bits, sums):  # type: ignore[no-untyped-def]
    """sums[i, k] += Σ_v exp(scores[i, v]) · exp(added[k, v]), pair by pair."""
    width = scores.shape[1]
    powers, others = np.empty_like(scores), np.empty_like(added)
    for i in range(len(scores)):
        exponentiate(scores[i], powers[i], bits)
    for k in range(len(added)):
        if added.itemsize == 4:
            for v in range(width):
                added[k, v] = min(added[k, v], _HIGHEST)
        exponentiate(added[k], others[k], bits)
    for i in range(len(scores)):
        for k in range(len(added)):
            total = powers[i, 0] * others[k, 0]
            for v in range(1, width):
                total += powers[i, v] * others[k, v]
            sums[i, k] += total
