"""Tiny networks in double precision, with parameters so large that none of their distributions is flat."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from entitynlm.config import ModelConfig
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.entitynlm import EntityNetwork

WORDS = 9
CLASSES = np.array([-1, 1, 0, 2, 0, 1, 2, 0, 2])


def make_network(mode: str, *, seed: int = 0, std: float = 0.6, **options: Any) -> EntityNetwork:
    """A network in evaluation mode; ``options`` are those of ``ModelConfig``."""
    settings: dict[str, Any] = {
        "hidden_size": 5,
        "embedding_size": 4,
        "max_length": 3,
        "sigma": 0.0,
        **options,
    }
    if settings.get("tied"):
        settings["embedding_size"] = settings["hidden_size"]
    network = EntityNetwork(ModelConfig(mode=mode, **settings), WORDS, 0, WordClasses(CLASSES))  # type: ignore[arg-type]
    generator = torch.Generator().manual_seed(seed)
    for parameter in network.parameters():
        parameter.data = std * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    return network.double().eval()


def make_words(
    length: int, *, seed: int = 0, sentence_length: int = 3, name: str = "small"
) -> EncodedDocument:
    """Random words without mentions."""
    x = np.random.default_rng(seed).integers(1, WORDS, length)
    nothing = np.zeros(length, dtype=np.int64)
    places = np.arange(length)
    return EncodedDocument(name, x, nothing, nothing, nothing + 1, places // sentence_length, places)
