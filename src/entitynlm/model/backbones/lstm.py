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
class HiddenStates:
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
    """Word embeddings and an LSTM, with the dropout of strong LSTM language models as options.

    Words are laid out (T, B, …), time first, because that is how the fused LSTM kernel works: no copy before it or after.
    """

    def __init__(self, config: ModelConfig, words: int, start: int) -> None:
        super().__init__()
        self.config = config
        self.start = start
        self.embedding = nn.Embedding(words, config.embedding_size)
        self.lstm = nn.LSTM(config.embedding_size, config.hidden_size, config.layers)
        if config.mode == "lookahead":
            self.backward_lstm = nn.LSTM(config.embedding_size, config.hidden_size, config.layers)
            self.join = nn.Linear(2 * config.hidden_size, config.hidden_size)

    def forward(
        self,
        documents: Sequence[np.ndarray],
        *,
        sentences: Sequence[np.ndarray] | None = None,
        state: LstmState | None = None,
    ) -> HiddenStates:
        """Read word ids, one array per document (or the next window of each, given ``state``)."""
        if self.config.mode == "lookahead":
            return self._read_both_ways(documents)
        if self.config.restart_sentences:
            assert sentences is not None
            return self._read_sentences(documents, sentences)
        if state is None:
            hidden, final = self._run(self._pad(documents, first=1), None)  # (1 + T, B, D)
        else:
            hidden, final = self._run(self._pad(documents), state)
            hidden = torch.cat([state[0][-1:], hidden])  # in front, h of the last word already read
        hidden = self._drop(hidden, self.config.dropout)
        before = [column + len(documents) * np.arange(len(x)) for column, x in enumerate(documents)]
        after = [rows + len(documents) for rows in before]
        return HiddenStates(hidden.reshape(-1, hidden.shape[-1]), before, after, final)

    def _read_both_ways(self, documents: Sequence[np.ndarray]) -> HiddenStates:
        """Forward, and backward from each document's own end; row t is after word t and has seen all of them."""
        ids, reversed_ids = self._pad(documents), self._pad([x[::-1] for x in documents])
        flip = np.tile(np.arange(len(ids))[:, None], (1, len(documents)))
        for column, x in enumerate(documents):
            flip[: len(x), column] = flip[: len(x), column][::-1]
        forward, _ = self._run(ids, None)
        backward, _ = self._run(reversed_ids, None, self.backward_lstm)
        turned = torch.from_numpy(flip).to(ids.device)[..., None].expand_as(backward)
        both = torch.cat([forward, backward.gather(0, turned)], dim=-1)  # (T, B, 2 D)
        hidden = self._drop(torch.tanh(self.join(both)), self.config.dropout)
        rows = [column + len(documents) * np.arange(len(x)) for column, x in enumerate(documents)]
        return HiddenStates(hidden.reshape(-1, hidden.shape[-1]), rows, rows, None)

    def _read_sentences(
        self, documents: Sequence[np.ndarray], sentences: Sequence[np.ndarray]
    ) -> HiddenStates:
        """The authors' habit: each sentence is read from a fresh start."""
        pieces: list[np.ndarray] = []
        owners: list[int] = []
        for owner, (x, sentence) in enumerate(zip(documents, sentences, strict=True)):
            for piece in np.split(x, np.flatnonzero(np.diff(sentence)) + 1):
                pieces.append(piece)
                owners.append(owner)
        hidden, _ = self._run(self._pad(pieces, first=1), None)
        hidden = self._drop(hidden, self.config.dropout)
        before: list[list[np.ndarray]] = [[] for _ in documents]
        for column, (piece, owner) in enumerate(zip(pieces, owners, strict=True)):
            before[owner].append(column + len(pieces) * np.arange(len(piece)))
        joined = [np.concatenate(rows) for rows in before]
        after = [rows + len(pieces) for rows in joined]
        return HiddenStates(hidden.reshape(-1, hidden.shape[-1]), joined, after, None)

    def _pad(self, documents: Sequence[np.ndarray], first: int = 0) -> Tensor:
        """(first + T, B) word ids; before a document's words, and after them, stands the start symbol."""
        length = first + max(len(x) for x in documents)
        ids = np.full((max(1, length), len(documents)), self.start, dtype=np.int64)  # an LSTM wants a word
        for column, x in enumerate(documents):
            ids[first : first + len(x), column] = x
        return torch.from_numpy(ids).to(self.embedding.weight.device)

    def _run(
        self, ids: Tensor, state: LstmState | None, lstm: nn.LSTM | None = None
    ) -> tuple[Tensor, LstmState]:
        lstm = lstm or self.lstm
        embedded = self._drop(self.embedding(ids), self.config.dropout)  # (T, B, embedding size)
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
            return values * draw_mask(values[:1], rate)
        return values * draw_mask(values, rate)


def draw_mask(values: Tensor, rate: float) -> Tensor:
    """A dropout mask of the shape of ``values``: 0 with probability ``rate``, else 1 / (1 - rate).

    Torch draws one number of 64 bits per entry, which on a CPU takes a tenth of the time of a whole training step. Sixteen bits
    per entry are plenty: the rate is met to 1/65,536.
    """
    if values.device.type != "cpu":
        return torch.empty_like(values).bernoulli_(1 - rate).div_(1 - rate)
    draws = torch.empty((values.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    lanes = draws.view(torch.int16)[: values.numel()].view(values.shape)
    kept = lanes < min(round((1 - rate) * 65_536) - 32_768, 32_767)
    return kept.to(values.dtype).div_(1 - rate)


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
