"""The predictor network on the states of a backbone (decision 054).

The context is encoded from the states before the slot, a candidate from those after its latest and after its first mention; a
scorer compares both and adds features of recency, frequency and form. Side tasks are the head word and the type of the next
mention (types are annotation, which is seen in training only); the head word is expected as the language model expects it, by
its own output vectors of words, and corrected by the network. There is no recurrence: only slots are computed, so that a training
takes minutes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from entitynlm.model.batch.entity_choice import segment_log_softmax
from entitynlm.prediction.features import SIZE
from entitynlm.prediction.slot_batches import NO_HEAD, RECENT_CANDIDATES, SlotBatch

EMBEDDING = 50  # the size of word embeddings, as in the packaged GloVe
CONTEXT_STATE, CANDIDATE_STATE, STATE_DROPOUT = 128, 64, 0.3
"""The sizes that states are brought to, and their dropout."""
EXPECTED = 3  # numbers that the side tasks tell about a candidate


@dataclass(frozen=True)
class PredictorOutput:
    """Log-probabilities of each pair (P,), of the head word (M, words), and of type and newness (M, 2 types)."""

    log_probs: Tensor
    words: Tensor
    outcomes: Tensor


@dataclass(frozen=True)
class LayerSizes:
    """Sizes of the network's layers, and its dropout."""

    hidden: int
    match: int
    scorer: int
    dropout: float


class StateNetwork(nn.Module):
    """Scores the candidates of slots.

    :param outputs: (words, D) the language model's output vectors of the words; they are not stored.
    :param middle: the size of the states that slots and candidates are described by.
    """

    mean: Tensor
    scale: Tensor
    outputs: Tensor

    def __init__(self, *, outputs: Tensor, middle: int, types: int, sizes: LayerSizes) -> None:
        super().__init__()
        self.types, self.sizes = types, sizes
        words, width = outputs.shape
        hidden, match, dropout = sizes.hidden, sizes.match, sizes.dropout
        self.embedding = nn.Embedding(words, EMBEDDING)
        self.context_state = _read_state(middle, CONTEXT_STATE)
        self.context_last = _read_state(width, CONTEXT_STATE)
        self.latest_state = _read_state(middle, CANDIDATE_STATE)
        self.first_state = _read_state(middle, CANDIDATE_STATE)
        given = RECENT_CANDIDATES * EMBEDDING + 2 * CONTEXT_STATE
        self.encoder = nn.Sequential(
            nn.Dropout(dropout / 2), nn.Linear(given, hidden), nn.ReLU(), nn.Dropout(dropout)
        )
        self.query = nn.Linear(hidden, match)
        self.key = nn.Linear(2 * EMBEDDING + 2 * CANDIDATE_STATE, match)
        self.new_entity = nn.Parameter(torch.zeros(match))
        self.to_words = nn.Linear(hidden, words)
        self.to_outcomes = nn.Linear(hidden, 2 * types)
        self.scorer = nn.Sequential(
            nn.Linear(SIZE + 2 * match + EXPECTED, sizes.scorer),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(sizes.scorer, 1),
        )
        self.linear = nn.Linear(SIZE, 1)
        self.register_buffer("mean", torch.zeros(SIZE))
        self.register_buffer("scale", torch.ones(SIZE))
        self.trust = nn.Parameter(torch.ones(()))  # in the language model's own expectation of words
        self.register_buffer("outputs", outputs, persistent=False)

    def forward(self, slots: SlotBatch) -> PredictorOutput:
        owners, heads = as_tensor(slots.owners), as_tensor(slots.heads)
        states, last = torch.from_numpy(slots.states), as_tensor(slots.last_states)
        candidates = as_tensor(slots.candidate_rows)
        vectors = self.embedding(heads)
        h = self._encode(slots, vectors, states[as_tensor(slots.context_rows)], last)
        words = F.log_softmax(self.to_words(h) + self.trust * (last @ self.outputs.t()), dim=-1)
        outcomes = F.log_softmax(self.to_outcomes(h), dim=-1)
        is_new = (heads[:, 0] == NO_HEAD)[:, None]
        any_new = outcomes[:, self.types :].logsumexp(-1, keepdim=True)[owners]
        named = torch.where(is_new, any_new, words[owners[:, None], heads])
        mentioned = self.latest_state(states[candidates[:, 0]]), self.first_state(states[candidates[:, 1]])
        keys = torch.tanh(self.key(torch.cat([vectors.flatten(1), *mentioned], -1)))
        keys = torch.where(is_new, self.new_entity, keys)
        expected = torch.cat([named / 3, any_new], -1)
        return PredictorOutput(self._score(slots, owners, is_new, h, keys, expected), words, outcomes)

    def _encode(self, slots: SlotBatch, vectors: Tensor, middle: Tensor, last: Tensor) -> Tensor:
        """(M, hidden) each slot's context: its states and the nouns of the latest mentioned candidates."""
        recent = as_tensor(slots.recent)
        rows = recent.clamp_min(0) + as_tensor(slots.bounds[:-1, None])
        nouns = (vectors[rows][:, :, 1] * (recent >= 0)[:, :, None]).flatten(1)
        encoded: Tensor = self.encoder(
            torch.cat([nouns, self.context_state(middle), self.context_last(last)], -1)
        )
        return encoded

    def _score(
        self, slots: SlotBatch, owners: Tensor, is_new: Tensor, h: Tensor, keys: Tensor, expected: Tensor
    ) -> Tensor:
        """(P,) log-probabilities of the candidates of each slot."""
        query = self.query(h)[owners]
        features = (torch.from_numpy(slots.features) - self.mean) / self.scale
        given = torch.cat([features, query * keys, torch.where(is_new, query, query * 0), expected], dim=-1)
        given = given * F.dropout(given.new_ones(1, given.shape[1]), self.sizes.dropout / 2, self.training)
        scores = (self.scorer(given) + self.linear(features)).squeeze(-1) + (query * keys).sum(-1)
        return segment_log_softmax(scores, owners, len(slots))


def as_tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values))


def _read_state(width: int, size: int) -> nn.Sequential:
    normalised = nn.LayerNorm(width, elementwise_affine=False)
    return nn.Sequential(normalised, nn.Dropout(STATE_DROPOUT), nn.Linear(width, size))
