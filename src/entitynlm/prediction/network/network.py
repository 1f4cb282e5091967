"""The predictor network: an encoder of the context, and a scorer of each candidate (decision 054).

Side tasks are the head word and the type of the next mention (types are annotation, which is seen in training only). There is no
recurrence: only slots are computed, so that a training takes a minute. :class:`PredictionNetwork` sees the words before a slot
and what was counted in training stories, ``state_network`` a frozen language model's states instead.
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
    CountedBatch,
    SlotBatch,
)

EMBEDDING, TYPE_EMBEDDING = 50, 24
"""The sizes of word embeddings (as in the packaged GloVe) and of embeddings of types and scenarios."""


@dataclass(frozen=True)
class PredictorOutput:
    """Log-probabilities of each pair (P,), of the head word (M, words), and of type and newness (M, 2 types)."""

    log_probs: Tensor
    words: Tensor
    outcomes: Tensor


@dataclass(frozen=True)
class Sizes:
    """Of a network's layers, and its dropout; ``word_dropout`` is for words that are given one by one."""

    hidden: int
    match: int
    scorer: int
    dropout: float
    word_dropout: float


class SlotNetwork(nn.Module):
    """What networks of both kinds have in common: the layers after their inputs, and how candidates are scored."""

    mean: Tensor
    scale: Tensor

    def __init__(self, words: int, types: int, sizes: Sizes) -> None:
        super().__init__()
        self.types, self.sizes = types, sizes
        self.embedding = nn.Embedding(words, EMBEDDING)

    def _add_layers(self, given: int, key_size: int, features: int, expected: int) -> None:
        """:param given: numbers that a context is encoded from.  :param expected: what the side tasks tell about a candidate."""
        hidden, match, scorer, dropout = (
            self.sizes.hidden, self.sizes.match, self.sizes.scorer, self.sizes.dropout
        )  # fmt: skip
        words = self.embedding.num_embeddings
        self.encoder = nn.Sequential(
            nn.Dropout(dropout / 2), nn.Linear(given, hidden), nn.ReLU(), nn.Dropout(dropout)
        )
        self.query = nn.Linear(hidden, match)
        self.key = nn.Linear(key_size, match)
        self.new_entity = nn.Parameter(torch.zeros(match))
        self.to_words = nn.Linear(hidden, words)
        self.to_outcomes = nn.Linear(hidden, 2 * self.types)
        self.scorer = nn.Sequential(
            nn.Linear(features + 2 * match + expected, scorer),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(scorer, 1),
        )
        self.linear = nn.Linear(features, 1)
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("scale", torch.ones(features))

    def _list_recent(self, slots: SlotBatch) -> tuple[Tensor, Tensor]:
        """(M, RECENT) the pairs of the latest mentioned candidates, and (M, RECENT, 1) whether there are that many."""
        recent = as_tensor(slots.recent)
        return recent.clamp_min(0) + as_tensor(slots.bounds[:-1, None]), (recent >= 0)[:, :, None]

    def _score(
        self,
        slots: SlotBatch,
        owners: Tensor,
        is_new: Tensor,
        h: Tensor,
        key_inputs: Tensor,
        expected: Tensor,
    ) -> Tensor:
        """(P,) log-probabilities of the candidates of each slot."""
        key = torch.where(is_new, self.new_entity, torch.tanh(self.key(key_inputs)))
        query = self.query(h)[owners]
        features = (torch.from_numpy(slots.features) - self.mean) / self.scale
        given = torch.cat([features, query * key, torch.where(is_new, query, query * 0), expected], dim=-1)
        given = given * F.dropout(given.new_ones(1, given.shape[1]), self.sizes.dropout / 2, self.training)
        scores = (self.scorer(given) + self.linear(features)).squeeze(-1) + (query * key).sum(-1)
        return segment_log_softmax(scores, owners, len(slots))


class PredictionNetwork(SlotNetwork):
    def __init__(self, *, words: int, types: int, scenarios: int, sizes: Sizes) -> None:
        super().__init__(words, types, sizes)
        self.scenario = nn.Embedding(scenarios, TYPE_EMBEDDING)
        self.type_embedding = nn.Linear(types, TYPE_EMBEDDING, bias=False)
        self.present_types = nn.Linear(types, 2 * TYPE_EMBEDDING, bias=False)
        given = (NEAREST + 3 + 2 + RECENT) * EMBEDDING + (1 + RECENT + 2) * TYPE_EMBEDDING
        self._add_layers(given, TYPE_EMBEDDING + 2 * EMBEDDING, FEATURES, 5)

    def forward(self, slots: CountedBatch) -> PredictorOutput:
        owners = as_tensor(slots.owners)
        type_probs, heads = as_tensor(slots.type_probs), as_tensor(slots.heads)
        vectors, types = self.embedding(heads), self.type_embedding(type_probs)
        present = type_probs.new_zeros(len(slots), self.types).index_add_(0, owners, type_probs)
        h = self.encoder(self._embed(slots, vectors, types, present))
        words = F.log_softmax(self.to_words(h), dim=-1)
        outcomes = F.log_softmax(self.to_outcomes(h), dim=-1)
        is_new = (heads[:, 0] == NOTHING)[:, None]
        expected = self._compare(words, outcomes, type_probs, present, owners, heads, is_new)
        key_inputs = torch.cat([vectors.flatten(1), types], -1)
        return PredictorOutput(self._score(slots, owners, is_new, h, key_inputs, expected), words, outcomes)

    def _embed(self, slots: CountedBatch, vectors: Tensor, types: Tensor, present: Tensor) -> Tensor:
        rows, exists = self._list_recent(slots)
        averages = [self._average(slots.sentence), self._average(slots.past)]
        return torch.cat(
            [
                self.embedding(self._hide(slots.nearest)).flatten(1),
                self.embedding(self._hide(slots.verbs)).flatten(1),
                *averages,
                (vectors[rows][:, :, 1] * exists).flatten(1),
                self.scenario(as_tensor(slots.scenario)),
                (types[rows] * exists).flatten(1),
                self.present_types(present.clamp_max(1)),
            ],
            dim=-1,
        )

    def _average(self, words: np.ndarray) -> Tensor:
        """(M, embedding) the mean over the known words."""
        ids = as_tensor(words)
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
        found = as_tensor(words)
        if not self.training or not self.sizes.word_dropout:
            return found
        hidden = torch.rand(found.shape) < self.sizes.word_dropout
        return torch.where(hidden & (found >= len(SPECIAL_WORDS)), UNKNOWN, found)


def as_tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values))
