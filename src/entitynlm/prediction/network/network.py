"""The predictor network: an encoder of the context, and a scorer of each candidate (decision 054).

Side tasks are the head word and the type of the next mention (types are annotation, which is seen in training only). With a
frozen language model, the context has its state before the slot, a candidate that after its latest mention. There is no
recurrence: only slots are computed, so that a training takes a minute.
"""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from entitynlm.model.batch.entity_choice import segment_log_softmax
from entitynlm.prediction.network.inputs import (
    FEATURES,
    NEAREST,
    NOTHING,
    RECENT,
    SPECIAL_WORDS,
    UNKNOWN,
    SlotBatch,
)

EMBEDDING, TYPE_EMBEDDING = 50, 24
"""The sizes of word embeddings (as in the packaged GloVe) and of embeddings of types and scenarios."""

CONTEXT_STATE, CANDIDATE_STATE, STATE_DROPOUT = 128, 64, 0.3
"""The sizes that a language model's states are brought to, and their dropout."""


@dataclass(frozen=True)
class PredictorOutput:
    """Log-probabilities of each pair (P,), of the head word (M, words), and of type and newness (M, 2 types)."""

    log_probs: Tensor
    words: Tensor
    outcomes: Tensor


class PredictionNetwork(nn.Module):
    mean: Tensor
    scale: Tensor

    def __init__(
        self, *, words: int, types: int, scenarios: int,
        hidden: int, match: int, scorer: int, dropout: float, word_dropout: float, state_width: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.types, self.dropout, self.word_dropout = types, dropout, word_dropout
        self.embedding = nn.Embedding(words, EMBEDDING)
        self.scenario = nn.Embedding(scenarios, TYPE_EMBEDDING)
        self.type_embedding = nn.Linear(types, TYPE_EMBEDDING, bias=False)
        self.present_types = nn.Linear(types, 2 * TYPE_EMBEDDING, bias=False)
        given = (NEAREST + 3 + 2 + RECENT) * EMBEDDING + (1 + RECENT + 2) * TYPE_EMBEDDING
        key_size = TYPE_EMBEDDING + 2 * EMBEDDING
        self.state_width = state_width
        if state_width:
            self.context_state = _read_state(state_width, CONTEXT_STATE)
            self.candidate_state = _read_state(state_width, CANDIDATE_STATE)
            given, key_size = given + CONTEXT_STATE, key_size + CANDIDATE_STATE
        self.encoder = nn.Sequential(
            nn.Dropout(dropout / 2), nn.Linear(given, hidden), nn.ReLU(), nn.Dropout(dropout)
        )
        self.query = nn.Linear(hidden, match)
        self.key = nn.Linear(key_size, match)
        self.new_entity = nn.Parameter(torch.zeros(match))
        self.to_words = nn.Linear(hidden, words)
        self.to_outcomes = nn.Linear(hidden, 2 * types)
        self.scorer = nn.Sequential(
            nn.Linear(FEATURES + 2 * match + 5, scorer), nn.ReLU(), nn.Dropout(dropout), nn.Linear(scorer, 1)
        )
        self.linear = nn.Linear(FEATURES, 1)
        self.register_buffer("mean", torch.zeros(FEATURES))
        self.register_buffer("scale", torch.ones(FEATURES))

    def forward(self, slots: SlotBatch) -> PredictorOutput:
        owners = _tensor(np.repeat(np.arange(len(slots)), slots.sizes))
        type_probs, heads = _tensor(slots.type_probs), _tensor(slots.heads)
        vectors, types = self.embedding(heads), self.type_embedding(type_probs)
        present = type_probs.new_zeros(len(slots), self.types).index_add_(0, owners, type_probs)
        embedded, key_inputs = self._embed(slots, vectors, types, present), [vectors.flatten(1), types]
        if self.state_width:
            states = _tensor(slots.states)
            embedded = torch.cat([embedded, self.context_state(states[_tensor(slots.context_rows)])], -1)
            key_inputs.append(self.candidate_state(states[_tensor(slots.candidate_rows)]))
        h = self.encoder(embedded)
        words = F.log_softmax(self.to_words(h), dim=-1)
        outcomes = F.log_softmax(self.to_outcomes(h), dim=-1)
        is_new = (heads[:, 0] == NOTHING)[:, None]
        key = torch.tanh(self.key(torch.cat(key_inputs, -1)))
        key = torch.where(is_new, self.new_entity, key)
        query = self.query(h)[owners]
        expected = self._compare(words, outcomes, type_probs, present, owners, heads, is_new)
        features = (torch.from_numpy(slots.features) - self.mean) / self.scale
        given = torch.cat([features, query * key, torch.where(is_new, query, query * 0), expected], dim=-1)
        given = given * F.dropout(given.new_ones(1, given.shape[1]), self.dropout / 2, self.training)
        scores = (self.scorer(given) + self.linear(features)).squeeze(-1) + (query * key).sum(-1)
        return PredictorOutput(segment_log_softmax(scores, owners, len(slots)), words, outcomes)

    def _embed(self, slots: SlotBatch, vectors: Tensor, types: Tensor, present: Tensor) -> Tensor:
        recent = _tensor(slots.recent)
        exists = (recent >= 0)[:, :, None]
        rows = recent.clamp_min(0) + _tensor(slots.bounds[:-1, None])
        averages = [self._average(slots.sentence), self._average(slots.past)]
        return torch.cat(
            [
                self.embedding(self._hide(slots.nearest)).flatten(1),
                self.embedding(self._hide(slots.verbs)).flatten(1),
                *averages,
                (vectors[rows][:, :, 1] * exists).flatten(1),
                self.scenario(_tensor(slots.scenario)),
                (types[rows] * exists).flatten(1),
                self.present_types(present.clamp_max(1)),
            ],
            dim=-1,
        )

    def _average(self, words: np.ndarray) -> Tensor:
        """(M, embedding) the mean over the known words."""
        ids = _tensor(words)
        is_word = (ids >= len(SPECIAL_WORDS)).float()[:, :, None]
        return (self.embedding(ids) * is_word).sum(1) / is_word.sum(1).clamp_min(1)

    def _compare(
        self, words: Tensor, outcomes: Tensor, type_probs: Tensor, present: Tensor,
        owners: Tensor, heads: Tensor, is_new: Tensor,
    ) -> Tensor:  # fmt: skip
        """(P, 5) how likely the side tasks hold the candidate's types and words, and a new entity, to be next."""
        known, new = outcomes.exp().split(self.types, dim=-1)
        absent = (new * (1 - present).clamp_min(0)).sum(-1, keepdim=True)[owners]  # of no candidate's type
        any_new = new.sum(-1, keepdim=True)[owners]
        mentioned = (known[owners] * type_probs).sum(-1, keepdim=True)
        any_age = ((known + new)[owners] * type_probs).sum(-1, keepdim=True)
        types = torch.where(is_new, torch.cat([absent, any_new], -1), torch.cat([mentioned, any_age], -1))
        named = torch.where(is_new, (any_new + 1e-5).log(), words[owners[:, None], heads])
        return torch.cat([(types + 1e-5).log() / 3, named / 3, (any_new + 1e-5).log()], dim=-1)

    def _hide(self, words: np.ndarray) -> Tensor:
        """Word dropout: in training some words become unknown."""
        found = _tensor(words)
        if not self.training or not self.word_dropout:
            return found
        hidden = torch.rand(found.shape) < self.word_dropout
        return torch.where(hidden & (found >= len(SPECIAL_WORDS)), UNKNOWN, found)


def _read_state(width: int, size: int) -> nn.Sequential:
    normalised = nn.LayerNorm(width, elementwise_affine=False)
    return nn.Sequential(normalised, nn.Dropout(STATE_DROPOUT), nn.Linear(width, size))


def _tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values))
