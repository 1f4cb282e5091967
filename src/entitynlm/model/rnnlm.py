"""RNNLM (equations 1 and 2): the LSTM language model without entities.

It has the same reader, the same softmax and the same dropout as EntityNLM and is trained by the same loop; what it lacks is
e_current. A comparison between the two therefore measures the entities and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.config import ModelConfig
from entitynlm.model.backbones.lstm import WordReader, initialise
from entitynlm.model.batch.scores import BatchScores, Carried, Scores, Window, check_windows, cut_ranges
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.noise import Noise
from entitynlm.model.softmax import make_softmax


class LanguageModel(nn.Module):
    """p(X_t | h_{t-1}) = softmax(W h_{t-1} + b)."""

    def __init__(
        self, config: ModelConfig, words: int, start: int, classes: WordClasses | None = None
    ) -> None:
        super().__init__()
        self.config = config
        self.reader = WordReader(config, words, start)  # eq. 2
        self.words = make_softmax(config, words, start, classes)  # eq. 1
        initialise(self)

    @property
    def module(self) -> nn.Module:
        return self

    def cut(self, document: EncodedDocument, size: int) -> list[Window]:
        """The document in windows (see ``training.trainable``)."""
        check_windows(self.config, size)
        return [
            Window(document.x[start:end], document.sentence[start:end], None)
            for start, end in cut_ranges(len(document), size)
        ]

    def score(self, windows: Sequence[Window], noise: Noise | None, carried: Carried | None) -> BatchScores:
        """log p(X) of one window of each document; the other variables contribute nothing."""
        reading = self.reader(
            [window.x for window in windows],
            sentences=[window.sentence for window in windows],
            state=carried.lstm if carried else None,
        )
        rows = torch.from_numpy(np.concatenate(reading.before)).to(reading.table.device)
        x = torch.from_numpy(np.concatenate([window.x for window in windows])).to(reading.table.device)
        tied = self.reader.embedding.weight if self.config.tied else None
        log_x: Tensor = self.words(reading.table[rows], x, tied)
        nothing = torch.zeros_like(log_x)
        bounds = np.concatenate([[0], np.cumsum([len(window.x) for window in windows])])
        scores = Scores(nothing, nothing, nothing, log_x, bounds)
        return BatchScores(scores, Carried(reading.state, [nothing[:0]] * len(windows)))
