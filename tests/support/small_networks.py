"""Tiny networks in double precision, with parameters so large that none of their distributions is flat."""

from typing import Any

import numpy as np

from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from support import small_models

WORDS = 9
CLASSES = (-1, 1, 0, 2, 0, 1, 2, 0, 2)


def make_network(mode: str, *, seed: int = 0, std: float = 0.6, **options: Any) -> EntityNetwork:
    """A network in evaluation mode; ``options`` are those of ``ModelConfig``."""
    settings = {"max_length": 3, "sigma": 0.0, "mode": mode, **options}
    return small_models.make_network(words=WORDS, seed=seed, std=std, classes=CLASSES, **settings)


def make_words(
    length: int, *, seed: int = 0, sentence_length: int = 3, name: str = "small"
) -> EncodedDocument:
    """Random words without mentions."""
    x = np.random.default_rng(seed).integers(1, WORDS, length)
    nothing = np.zeros(length, dtype=np.int64)
    places = np.arange(length)
    return EncodedDocument(name, x, nothing, nothing, nothing + 1, places // sentence_length, places)
