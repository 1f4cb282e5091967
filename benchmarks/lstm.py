"""The plain LSTM language model that EntityNLM races against.

Nothing but ``torch.nn.LSTM`` between an embedding and the same word softmax, over padded batches, time first (which is the
quicker way round), with the same dropout. It is written apart from the package so that it stays what it is.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.config import ModelConfig
from entitynlm.model.backbones.base import draw_mask, initialise
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.softmax import make_softmax


class PlainLanguageModel(nn.Module):
    """p(x_t | x_1 … x_{t-1}) = softmax(h_{t-1})."""

    def __init__(self, config: ModelConfig, words: int, classes: WordClasses) -> None:
        super().__init__()
        self.dropout = config.dropout
        self.embedding = nn.Embedding(words, config.embedding_size)
        self.lstm = nn.LSTM(config.embedding_size, config.hidden_size)
        self.words = make_softmax(config, words, classes)
        initialise(self)

    def forward(self, batch: "Padded") -> Tensor:
        """(words of the batch,) log-probabilities."""
        embedded = self._drop(self.embedding(batch.inputs))
        hidden = self._drop(self.lstm(embedded)[0])
        contexts = hidden.reshape(-1, hidden.shape[-1]).index_select(0, batch.places)
        result: Tensor = self.words(contexts, batch.targets)
        return result

    def _drop(self, values: Tensor) -> Tensor:
        if not self.training or self.dropout == 0:
            return values
        return values * draw_mask(values, self.dropout)


class Padded:
    """A batch as (T, B) inputs, and the places and words that are predicted."""

    def __init__(self, documents: Sequence[EncodedDocument]) -> None:
        longest = max(len(document) for document in documents)
        inputs = np.zeros((longest, len(documents)), dtype=np.int64)
        targets = np.zeros_like(inputs)
        for column, document in enumerate(documents):
            inputs[1 : len(document), column] = document.x[:-1]
            targets[: len(document), column] = document.x
        flat = targets.reshape(-1)
        self.inputs = torch.from_numpy(inputs)
        self.places = torch.from_numpy(np.flatnonzero(flat))
        self.targets = torch.from_numpy(flat[flat > 0])
