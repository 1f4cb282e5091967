"""Beside equation 6 (ours): a mention may repeat its entity's words, for all particles of a segment at once.

A row of P's state table belongs to one past of one entity, so it also knows the entity's words (``states``), and what could be
repeated depends on the row and the word alone: once for all particles that share the row.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from entitynlm.inference.entity_rows import count_row_copies
from entitynlm.inference.particles import Segment
from entitynlm.inference.state_tables import Rows
from entitynlm.model.entitynlm import COPY_EDGES, EntityNetwork


class Pairs(NamedTuple):
    """The different ways in which words of a segment are predicted. C contexts, K pairs of a context and a row.

    A context is a word or, where the network looks at it, a word at a place in its mention (``word_states``). Pairs
    of one context are neighbours.
    """

    words: np.ndarray  # (C,) which word of the segment
    places: np.ndarray  # (C,) which place, as ``find_word_states`` numbers them
    contexts: np.ndarray  # (K,)
    rows: np.ndarray  # (K,) row of e_current in P's state table
    pair: np.ndarray  # (S, N) which pair a particle is in


class CopyMixer:
    """Mixes the chance to repeat into the words' probabilities, as :meth:`EntityNetwork.mix_echoes` does."""

    def __init__(self, network: EntityNetwork) -> None:
        self.weight = np.ascontiguousarray(network.w_copy.detach().cpu().numpy().T)  # (D, 2)
        self.bias = network.copy_bias.detach().cpu().numpy().astype(np.float64)
        self.edges = np.array(COPY_EDGES)

    def mix(
        self, rows: Rows, pairs: Pairs, contexts: np.ndarray, segment: Segment, scores: np.ndarray
    ) -> None:
        """Change the pairs' log-probabilities (K,) in place. ``contexts``: (S, D) h_{t-1}."""
        logits = (contexts @ self.weight).astype(np.float64)  # (S, 2)
        _mix(
            rows.copy_words, rows.copy_before, rows.copy_seen, rows.copy_last,
            pairs.words, pairs.places, pairs.contexts, pairs.rows,
            segment.x, segment.before, segment.position, logits, self.bias, self.edges, scores,
        )  # fmt: skip


def make_copy_mixer(network: EntityNetwork) -> CopyMixer | None:
    """A mixer for networks whose mentions repeat words."""
    return CopyMixer(network) if network.config.copying else None


@numba.njit(cache=True, nogil=True)
def _mix(  # type: ignore[no-untyped-def]
    words, before, seen, last, context_words, context_places, contexts, rows,
    x, word_before, position, logits, bias, edges, scores,
):  # fmt: skip
    for k in range(len(rows)):
        c, row = contexts[k], rows[k]
        if context_places[c] == 0 or seen[row] == 0:
            continue
        s = context_words[c]
        previous = x[s - 1] if s > 0 else word_before
        opens, copy_candidates, copies = count_row_copies(
            words, before, seen, last, row, x[s], previous, position + s
        )
        if copy_candidates == 0:
            continue
        bucket = 0
        while bucket + 1 < len(edges) and edges[bucket + 1] <= copy_candidates:
            bucket += 1
        z = logits[s, int(opens)] + bias[int(opens), bucket]
        plain = scores[k] - np.log1p(np.exp(z)) if z < 0 else scores[k] - z - np.log1p(np.exp(-z))
        if copies > 0:
            log_copy = z - np.log1p(np.exp(z)) if z < 0 else -np.log1p(np.exp(-z))
            log_copy += np.log(copies / copy_candidates)
            plain = max(plain, log_copy) + np.log1p(np.exp(-abs(plain - log_copy)))
        scores[k] = plain
