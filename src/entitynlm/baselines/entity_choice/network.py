"""A network that anticipates: an LSTM over the words so far, and a small network that judges each candidate.

A candidate is judged by its numbers (recency, frequency, what the training stories' statistics say), by how its head words and
the LSTM's state after its latest mention agree with the state before the mention to come, and by how likely the LSTM holds its
head words and its type to be next. Three side tasks (the head word and the type of the mention to come, the type of a mention
that was read) teach the LSTM what is to be expected; types are annotation, which is seen in training only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from entitynlm.baselines.entity_choice.stories import BOUNDARY, NumberedStory
from entitynlm.model.pairs import segment_log_softmax


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes and rates.

    :param words: vocabulary.  :param outcomes: types, known and new.  :param features: numbers per candidate.
    """

    words: int
    outcomes: int
    features: int
    embedding: int = 50
    hidden: int = 96
    match: int = 48
    judge: int = 96
    dropout: float = 0.4


@dataclass(frozen=True)
class Judgement:
    """log p of each pair (P,), and the side tasks' log-probabilities.

    :param words: (M, words) and :param outcomes: (M, outcomes) of the mention to come.
    :param kinds: (M, types) of the mention once it is read, and :param reading: (), the mean of all words as a language model
        foresees them; both only while the network learns.
    """

    log_probs: Tensor
    words: Tensor
    outcomes: Tensor
    kinds: Tensor | None
    reading: Tensor | None


class AnticipatingNetwork(nn.Module):
    """See the module's text."""

    mean: Tensor
    scale: Tensor

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.words, config.embedding)
        self.flag = nn.Embedding(3, 8)
        self.lstm = nn.LSTM(config.embedding + 8, config.hidden)
        self.query = nn.Linear(config.hidden, config.match)
        self.key = nn.Linear(config.hidden + 2 * config.embedding, config.match)
        self.newborn = nn.Parameter(torch.zeros(config.match))
        self.to_words = nn.Linear(config.hidden, config.words)
        self.to_outcomes = nn.Linear(config.hidden, config.outcomes)
        self.to_kinds = nn.Linear(config.hidden, config.outcomes // 2)
        self.word_kinds = nn.Embedding(config.words, config.outcomes // 2)
        nn.init.zeros_(self.word_kinds.weight)
        self.judge = nn.Sequential(
            nn.Linear(config.features + 2 * config.match + 4, config.judge),
            nn.ReLU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.judge, 1),
        )
        self.direct = nn.Linear(config.features, 1)
        self.drop = nn.Dropout(config.dropout)
        self.register_buffer("mean", torch.zeros(config.features))
        self.register_buffer("scale", torch.ones(config.features))

    def forward(self, stories: Sequence[NumberedStory]) -> Judgement:
        length = max(len(story.x) for story in stories)
        x = np.full((length, len(stories)), BOUNDARY, dtype=np.int64)
        flags = np.zeros_like(x)
        for column, story in enumerate(stories):
            x[: len(story.x), column] = story.x
            flags[: len(story.x), column] = story.flags
        embedded = torch.cat([self.embedding(_tensor(x)), self.flag(_tensor(flags))], dim=-1)
        hidden, _ = self.lstm(self._drop_columns(embedded))  # (T, B, D)
        table = self._drop_columns(hidden).reshape(-1, hidden.shape[-1])

        def rows(name: str) -> Tensor:
            places = [
                np.where(getattr(s, name) < 0, -1, getattr(s, name) * len(stories) + column)
                for column, s in enumerate(stories)
            ]
            return _tensor(np.concatenate(places))

        h = table[rows("places")]  # (M, D)
        latest = rows("latest")
        sizes = np.concatenate([np.diff(story.bounds) for story in stories])
        owners = _tensor(np.repeat(np.arange(len(sizes)), sizes))
        heads = _tensor(np.concatenate([story.heads for story in stories]))
        words = F.log_softmax(self.to_words(h), dim=-1)
        outcomes = F.log_softmax(self.to_outcomes(h), dim=-1)
        scores = self._judge(stories, h, table, latest, owners, heads, words, outcomes)
        kinds = reading = None
        if self.training:
            reading = self._foresee_words(table, x)
            read = _tensor(np.concatenate([story.words for story in stories]))
            kinds = self._guess_kinds(table[rows("places") + len(stories)], read)
        return Judgement(segment_log_softmax(scores, owners, len(sizes)), words, outcomes, kinds, reading)

    def _foresee_words(self, table: Tensor, x: np.ndarray) -> Tensor:
        """The mean log-probability of each next word; borders that follow each other are padding."""
        follows = (x[:-1] != BOUNDARY) | (x[1:] != BOUNDARY)
        rows = _tensor(np.flatnonzero(follows.ravel()))
        return -F.cross_entropy(self.to_words(table[rows]), _tensor(x[1:].ravel())[rows])

    def _guess_kinds(self, h: Tensor, heads: Tensor) -> Tensor:
        """(N, types) log-probabilities of the type of what was read, by the state after it and by its head word."""
        return F.log_softmax(self.to_kinds(h) + self.word_kinds(heads), dim=-1)

    def _judge(
        self, stories: Sequence[NumberedStory], h: Tensor, table: Tensor, latest: Tensor,
        owners: Tensor, heads: Tensor, words: Tensor, outcomes: Tensor,
    ) -> Tensor:  # fmt: skip
        """(P,) one score per pair."""
        features = torch.from_numpy(np.concatenate([story.features for story in stories]))
        features = (features - self.mean) / self.scale
        is_new = (latest < 0)[:, None]
        seen = torch.cat([table[latest.clamp_min(0)], self.embedding(heads).flatten(1)], dim=-1)
        key = torch.where(is_new, self.newborn, torch.tanh(self.key(seen)))
        query = self.query(h)[owners]
        called = words[owners[:, None], heads] / 3  # (P, 2)
        half = self.config.outcomes // 2
        new = outcomes[:, half:].logsumexp(-1)[owners][:, None]
        known = self._guess_kinds(table[latest.clamp_min(0)], heads[:, 1])
        fits = (outcomes[:, :half].exp()[owners] * known.exp()).sum(-1, keepdim=True)
        called = torch.cat([called, (fits + 1e-5).log() / 3], dim=-1)
        called = torch.where(is_new, new.expand(-1, 3), called)
        given = torch.cat([features, query * key, torch.where(is_new, query, query * 0), called, new], dim=-1)
        result: Tensor = (self.judge(self.drop(given)) + self.direct(features)).squeeze(-1)
        return result + (query * key).sum(-1)

    def _drop_columns(self, values: Tensor) -> Tensor:
        """The same dropout at every word of a story."""
        return values * self.drop(torch.ones_like(values[:1]))


def _tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values))
