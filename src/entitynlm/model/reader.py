"""Equation 2: the LSTM that reads words, run once per batch over padded documents.

``h_t`` depends on words alone, so a document's states are computed once and shared by everything that asks about it: its
annotation, a hundred samples, a hundred candidate analyses. They are handed out as one flat table with two columns of row
numbers per word: the state before the word (h_{t-1}, what the generative model predicts from) and the state after it (h_t).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.config import ModelConfig

LstmState = tuple[Tensor, Tensor]
"""(h, c), each (layers, B, D)."""


@dataclass(frozen=True)
class Reading:
    """What the LSTM made of a batch.

    :param table: (N, D) flat table of states.
    :param before: per document, (T,) rows of h_{t-1}.
    :param after: per document, (T,) rows of h_t.
    :param state: the LSTM's state after the longest document's last word, for the window that follows; it means nothing for a
        document that was shorter, because that one has ended.
    """

    table: Tensor
    before: list[np.ndarray]
    after: list[np.ndarray]
    state: LstmState | None


class WordReader(nn.Module):
    """Word embeddings and an LSTM, with the dropout of strong LSTM language models as options."""

    def __init__(self, config: ModelConfig, words: int, start: int) -> None:
        super().__init__()
        self.config = config
        self.start = start
        self.embedding = nn.Embedding(words, config.embedding_size)
        self.lstm = nn.LSTM(config.embedding_size, config.hidden_size, config.layers, batch_first=True)
        if config.mode == "lookahead":
            self.backward_lstm = nn.LSTM(
                config.embedding_size, config.hidden_size, config.layers, batch_first=True
            )
            self.join = nn.Linear(2 * config.hidden_size, config.hidden_size)

    def forward(
        self,
        documents: Sequence[np.ndarray],
        *,
        sentences: Sequence[np.ndarray] | None = None,
        state: LstmState | None = None,
    ) -> Reading:
        """Read word ids, one array per document (or the next window of each, given ``state``)."""
        if self.config.mode == "lookahead":
            return self._read_both_ways(documents)
        if self.config.restart_sentences:
            assert sentences is not None
            return self._read_sentences(documents, sentences)
        length = max(len(x) for x in documents)
        device = self.embedding.weight.device
        inputs = np.full((len(documents), length), self.start, dtype=np.int64)
        for row, x in enumerate(documents):
            inputs[row, : len(x)] = x
        ids = torch.from_numpy(inputs).to(device)  # (B, T)
        if state is None:
            ids = torch.cat([ids.new_full((len(documents), 1), self.start), ids], dim=1)  # (B, 1 + T)
            hidden, final = self._run(ids, None)
        else:
            before_first = state[0][-1][:, None]  # (B, 1, D): h of the last word already read
            hidden, final = self._run(ids, state)
            hidden = torch.cat([before_first, hidden], dim=1)
        hidden = self._drop(hidden, self.config.dropout)
        width = length + 1
        before = [row * width + np.arange(len(x)) for row, x in enumerate(documents)]
        after = [rows + 1 for rows in before]
        return Reading(hidden.reshape(-1, hidden.shape[-1]), before, after, final)

    def _read_both_ways(self, documents: Sequence[np.ndarray]) -> Reading:
        """Forward, and backward from each document's own end; row t is after word t and has seen all of them."""
        length = max(
            1, *(len(x) for x in documents)
        )  # an LSTM wants a word, even where all documents are empty
        device = self.embedding.weight.device
        inputs = np.full((2, len(documents), length), self.start, dtype=np.int64)
        flip = np.tile(np.arange(length), (len(documents), 1))
        for row, x in enumerate(documents):
            inputs[0, row, : len(x)] = x
            inputs[1, row, : len(x)] = x[::-1]
            flip[row, : len(x)] = flip[row, : len(x)][::-1]
        forward, _ = self._run(torch.from_numpy(inputs[0]).to(device), None)
        backward, _ = self._run(torch.from_numpy(inputs[1]).to(device), None, self.backward_lstm)
        turned = torch.from_numpy(flip).to(device)[..., None].expand_as(backward)
        both = torch.cat([forward, backward.gather(1, turned)], dim=-1)  # (B, T, 2 D)
        hidden = self._drop(torch.tanh(self.join(both)), self.config.dropout)
        rows = [row * length + np.arange(len(x)) for row, x in enumerate(documents)]
        return Reading(hidden.reshape(-1, hidden.shape[-1]), rows, rows, None)

    def _read_sentences(self, documents: Sequence[np.ndarray], sentences: Sequence[np.ndarray]) -> Reading:
        """The authors' habit: each sentence is read from a fresh start."""
        pieces: list[np.ndarray] = []
        owners: list[int] = []
        for owner, (x, sentence) in enumerate(zip(documents, sentences, strict=True)):
            for piece in np.split(x, np.flatnonzero(np.diff(sentence)) + 1):
                pieces.append(piece)
                owners.append(owner)
        length = max(len(piece) for piece in pieces)
        inputs = np.full((len(pieces), length + 1), self.start, dtype=np.int64)
        for row, piece in enumerate(pieces):
            inputs[row, 1 : len(piece) + 1] = piece
        hidden, _ = self._run(torch.from_numpy(inputs).to(self.embedding.weight.device), None)
        hidden = self._drop(hidden, self.config.dropout)
        before: list[list[np.ndarray]] = [[] for _ in documents]
        for row, (piece, owner) in enumerate(zip(pieces, owners, strict=True)):
            before[owner].append(row * (length + 1) + np.arange(len(piece)))
        joined = [np.concatenate(rows) for rows in before]
        return Reading(hidden.reshape(-1, hidden.shape[-1]), joined, [rows + 1 for rows in joined], None)

    def _run(
        self, ids: Tensor, state: LstmState | None, lstm: nn.LSTM | None = None
    ) -> tuple[Tensor, LstmState]:
        lstm = lstm or self.lstm
        embedded = self._drop(self.embedding(ids), self.config.dropout)  # (B, T, embedding size)
        if self.training and self.config.weight_dropout > 0:
            weights = {
                name: nn.functional.dropout(value, self.config.weight_dropout)
                if "weight_hh" in name
                else value
                for name, value in lstm.named_parameters()
            }
            hidden, final = torch.func.functional_call(lstm, weights, (embedded, state))
        else:
            hidden, final = lstm(embedded, state)
        return hidden, final

    def _drop(self, values: Tensor, rate: float) -> Tensor:
        if not self.training or rate == 0:
            return values
        if self.config.variational:
            mask = torch.full_like(values[:, :1], 1 - rate).bernoulli_() / (1 - rate)
            return values * mask
        return nn.functional.dropout(values, rate)


def initialise(module: nn.Module) -> None:
    """Glorot and Bengio's rule for all matrices (section 3), zero for biases; an LSTM starts out remembering."""
    for name, parameter in module.named_parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
        else:
            nn.init.zeros_(parameter)
        if "bias_ih" in name:
            quarter = len(parameter) // 4  # input, forget, cell and output gates lie one after the other
            parameter.data[quarter : 2 * quarter] = 1.0
