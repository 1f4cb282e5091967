"""RNNLM (equations 1 and 2): the language model without entities, a backbone used alone.

It has the same backbone and the same dropout as EntityNLM and is trained by the same loop; it lacks e_current.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn

from entitynlm.config import ModelConfig
from entitynlm.model.backbones.base import Backbone, initialise, make_backbone
from entitynlm.model.batch.pieces import Pieces, draw_words, stand_for_all
from entitynlm.model.batch.rows import as_rows
from entitynlm.model.batch.scores import BatchScores, Carried, Scores, Window, cut_ranges
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.encoding.word_classes import WordClasses


class LanguageModel(nn.Module):
    """p(X_t | h_{t-1}) = softmax(W h_{t-1} + b)."""

    def __init__(
        self, config: ModelConfig, pieces: int, start: int, classes: WordClasses | None = None
    ) -> None:
        super().__init__()
        self.config = config
        self.backbone: Backbone = make_backbone(config, pieces, start, classes)
        initialise(self)

    def cut(self, document: EncodedDocument, size: int) -> list[Window]:
        """The document in windows."""
        return [Window(document.words[start:end], None) for start, end in cut_ranges(len(document), size)]

    def score(
        self, windows: Sequence[Window], carried: Carried | None = None, word_share: float = 1.0
    ) -> BatchScores:
        """log p(X) of one window of each document; the other variables contribute nothing.

        :param word_share: the share of the words, drawn at random, that stand for all.
        """
        words = [window.words for window in windows]
        reading = self.backbone.read(words, carried.backbone if carried else None)
        joined, device = EncodedWords.join(words), reading.table.device
        chosen = draw_words(len(joined), word_share)
        pieces = Pieces(joined, device, chosen)
        rows = as_rows(np.concatenate(reading.piece_rows), device)[pieces.index]
        states = self.backbone.output_states(reading.table[rows])
        log_x = pieces.sum_words(self.backbone.log_prob(states, pieces.ids, pieces.places))
        log_x = stand_for_all(log_x, chosen, len(joined), word_share)
        nothing = torch.zeros_like(log_x)
        bounds = np.concatenate([[0], np.cumsum([len(window) for window in words])])
        scores = Scores(nothing, nothing, nothing, log_x, bounds)
        return BatchScores(scores, Carried(reading.carry, [nothing[:0]] * len(windows)))
