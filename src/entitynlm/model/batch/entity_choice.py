"""Equation 4 over (mention, candidate) pairs: log p of the entity that each mention chose.

Each mention is compared with every entity so far. The pairs of a document are a ragged list; their scores are taken from one
small matrix, the products of all its mentions with all its states.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from entitynlm.model.batch.document_index import DocumentIndex
from entitynlm.model.batch.pieces import as_rows


def log_prob_chosen(
    queries: Tensor, states: Tensor, weights: Tensor, indexes: Sequence[DocumentIndex]
) -> Tensor:
    """(M,) log p(E = the chosen entity) of the mentions of a batch.

    :param queries: (M, D) hᵀ W_entity.  :param states: (S, D).
    :param weights: (F + 1,) w_dist and, after it, zero for "no feature".
    """
    device, chosen = queries.device, []
    by_mention = queries.split([index.mentions for index in indexes])
    by_state = states.split([index.size for index in indexes])
    for q, e, index in zip(by_mention, by_state, indexes, strict=True):
        mentions, rows = as_rows(index.pair_mentions, device), as_rows(index.pair_rows, device)
        features = torch.from_numpy(index.pair_features.astype(np.int64)).to(device)  # (K, W)
        scores = (q @ e.t())[mentions, rows] + weights[features].sum(-1)  # (K,)
        log_probs = segment_log_softmax(scores, mentions, index.mentions)
        chosen.append(log_probs[as_rows(index.chosen_pairs, device)])
    return torch.cat(chosen)


def segment_log_softmax(scores: Tensor, segments: Tensor, count: int) -> Tensor:
    """Log-softmax within each segment; ``segments`` (K,) names the segment of each score, ``count`` how many there are."""
    highest = scores.new_full((count,), -torch.inf).scatter_reduce(0, segments, scores.detach(), "amax")
    shifted = scores - highest[segments]
    total = scores.new_zeros(count).index_add(0, segments, shifted.exp())
    return shifted - total.log()[segments]
