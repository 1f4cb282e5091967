"""A network that anticipates: what the words and mentions so far let expect, and a judge of each candidate.

The expectation at a slot is made from the nearest words one by one, the verbs, the words of the sentence and of the text before
it as heaps, the scenario, the types of those who were mentioned last and of all who are there. It has to foresee the head word
and the type of the mention to come (types are annotation, which is seen in training only). A candidate is judged by its numbers
(recency, frequency, shares and rates from the training stories), by how its words and types agree with the expectation, and by
how likely the expectation holds its head words and types to be next. There is no recurrence: only slots cost anything, so that a
training takes a minute.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from entitynlm.model.batch.entity_choice import segment_log_softmax
from entitynlm.prediction.network.inputs import (
    NEAREST,
    NOTHING,
    RECENT,
    SPECIAL_WORDS,
    UNKNOWN,
    NumberedSlots,
)


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes and rates.

    :param words: vocabulary.  :param types: of entities.  :param scenarios: of stories.  :param features: numbers per candidate.
    :param word_dropout: how often a word before the slot is hidden in training.
    """

    words: int
    types: int
    scenarios: int
    features: int
    embedding: int = 50
    hidden: int = 128
    match: int = 48
    judge: int = 96
    kind: int = 24
    dropout: float = 0.4
    word_dropout: float = 0.1


@dataclass(frozen=True)
class Judgement:
    """log p of each pair (P,), of the head word (M, words) and of type and newness (M, 2 types) of the mention to come."""

    log_probs: Tensor
    words: Tensor
    outcomes: Tensor


class PredictionNetwork(nn.Module):
    """See the module's text."""

    mean: Tensor
    scale: Tensor

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        width = config.embedding
        self.embedding = nn.Embedding(config.words, width)
        self.scenario = nn.Embedding(config.scenarios, config.kind)
        self.kind = nn.Linear(config.types, config.kind, bias=False)
        self.present = nn.Linear(config.types, 2 * config.kind, bias=False)
        given = (NEAREST + 3 + 2 + RECENT) * width + (1 + RECENT + 2) * config.kind
        self.expect = nn.Sequential(
            nn.Dropout(config.dropout / 2),
            nn.Linear(given, config.hidden),
            nn.ReLU(),
            nn.Dropout(config.dropout),
        )
        self.query = nn.Linear(config.hidden, config.match)
        self.key = nn.Linear(config.kind + 2 * width, config.match)
        self.new_entity = nn.Parameter(torch.zeros(config.match))
        self.to_words = nn.Linear(config.hidden, config.words)
        self.to_outcomes = nn.Linear(config.hidden, 2 * config.types)
        self.judge = nn.Sequential(
            nn.Linear(config.features + 2 * config.match + 5, config.judge),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.judge, 1),
        )
        self.direct = nn.Linear(config.features, 1)
        self.register_buffer("mean", torch.zeros(config.features))
        self.register_buffer("scale", torch.ones(config.features))

    def forward(self, slots: NumberedSlots) -> Judgement:
        sizes = np.diff(slots.bounds)
        owners = _tensor(np.repeat(np.arange(len(sizes)), sizes))
        beliefs, heads = _tensor(slots.beliefs), _tensor(slots.heads)
        vectors, kinds = self.embedding(heads), self.kind(beliefs)
        there = beliefs.new_zeros(len(sizes), self.config.types).index_add_(0, owners, beliefs)
        h = self.expect(self._look(slots, vectors, kinds, there))
        words = F.log_softmax(self.to_words(h), dim=-1)
        outcomes = F.log_softmax(self.to_outcomes(h), dim=-1)
        is_new = (heads[:, 0] == NOTHING)[:, None]
        key = torch.where(
            is_new, self.new_entity, torch.tanh(self.key(torch.cat([vectors.flatten(1), kinds], -1)))
        )
        query = self.query(h)[owners]
        called = self._call(words, outcomes, beliefs, there, owners, heads, is_new)
        features = (torch.from_numpy(slots.features) - self.mean) / self.scale
        given = torch.cat([features, query * key, torch.where(is_new, query, query * 0), called], dim=-1)
        given = given * F.dropout(given.new_ones(1, given.shape[1]), self.config.dropout / 2, self.training)
        scores = (self.judge(given) + self.direct(features)).squeeze(-1) + (query * key).sum(-1)
        return Judgement(segment_log_softmax(scores, owners, len(sizes)), words, outcomes)

    def _look(self, slots: NumberedSlots, vectors: Tensor, kinds: Tensor, there: Tensor) -> Tensor:
        """(M, everything that the expectation is made from)."""
        recent = _tensor(slots.recent)
        seen = (recent >= 0)[:, :, None]
        rows = recent.clamp_min(0)
        heaps = []
        for heap in (slots.sentence, slots.past):
            numbers = _tensor(heap)
            filled = (numbers >= SPECIAL_WORDS).float()[:, :, None]
            total = (self.embedding(numbers) * filled).sum(1)
            heaps.append(total / filled.sum(1).clamp_min(1))
        return torch.cat(
            [
                self.embedding(self._hide(slots.nearest)).flatten(1),
                self.embedding(self._hide(slots.verbs)).flatten(1),
                *heaps,
                (vectors[rows][:, :, 1] * seen).flatten(1),
                self.scenario(_tensor(slots.scenario)),
                (kinds[rows] * seen).flatten(1),
                self.present(there.clamp_max(1)),
            ],
            dim=-1,
        )

    def _call(
        self, words: Tensor, outcomes: Tensor, beliefs: Tensor, there: Tensor,
        owners: Tensor, heads: Tensor, is_new: Tensor,
    ) -> Tensor:  # fmt: skip
        """(P, 5) how likely the expectation holds the candidate's words and types, and a new entity, to be next."""
        known, new = outcomes.exp().split(self.config.types, dim=-1)
        free = (new * (1 - there).clamp_min(0)).sum(-1)[owners][:, None]
        any_new = new.sum(-1)[owners][:, None]
        fits = (known[owners] * beliefs).sum(-1, keepdim=True)
        both = ((known + new)[owners] * beliefs).sum(-1, keepdim=True)
        types = torch.where(is_new, torch.cat([free, any_new], -1), torch.cat([fits, both], -1))
        named = torch.where(is_new, (any_new + 1e-5).log(), words[owners[:, None], heads])
        return torch.cat([(types + 1e-5).log() / 3, named / 3, (any_new + 1e-5).log()], dim=-1)

    def _hide(self, numbers: np.ndarray) -> Tensor:
        """Some words become unknown while the network learns, so that it does not lean on any one of them."""
        found = _tensor(numbers)
        if not self.training or not self.config.word_dropout:
            return found
        hidden = torch.rand(found.shape) < self.config.word_dropout
        return torch.where(hidden & (found >= SPECIAL_WORDS), UNKNOWN, found)


def _tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values))
