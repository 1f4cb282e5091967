"""RNNLM (equations 1 and 2): the language model without entities, a backbone used alone.

It has the same backbone and the same dropout as EntityNLM and is trained by the same loop; it lacks e_current.
"""

from torch import nn

from entitynlm.config import ModelConfig
from entitynlm.model.backbones.base import Backbone, initialise, make_backbone
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
