"""What the training loop asks of a network: P, both proposals and the LSTM baseline answer alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch import nn

from entitynlm.model.backbones.base import Backbone
from entitynlm.model.batch.scores import (
    BatchScores,
    Carried,
    Window,
    check_windows,
    cut_windows,
    score_windows,
)
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import Noise


class Trainable(Protocol):
    """A network with a way to cut documents into windows and to score them."""

    @property
    def module(self) -> nn.Module: ...

    @property
    def backbone(self) -> Backbone: ...

    def cut(self, document: EncodedDocument, size: int) -> list[Window]:
        """The document in windows, prepared for scoring."""
        ...

    def score(self, windows: Sequence[Window], noise: Noise | None, carried: Carried | None) -> BatchScores:
        """log-probabilities of one window of each document."""
        ...


class TrainableEntityNetwork:
    """P, or a proposal."""

    def __init__(self, network: EntityNetwork) -> None:
        self.module: nn.Module = network
        self.backbone: Backbone = network.backbone
        self.network = network

    def cut(self, document: EncodedDocument, size: int) -> list[Window]:
        check_windows(self.network.config, size)
        return cut_windows(document, self.network, size)

    def score(self, windows: Sequence[Window], noise: Noise | None, carried: Carried | None) -> BatchScores:
        return score_windows(self.network, windows, noise=noise, carried=carried)
