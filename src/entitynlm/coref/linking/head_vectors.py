"""Nouns that mean nearly the same have embeddings that point nearly the same way: "the painter" may be "the artist"."""

from __future__ import annotations

import numpy as np

from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.encoding.vocabulary import Vocabulary
from entitynlm.model.entitynlm import EntityNetwork


class HeadVectors:
    """A network's word embeddings as directions from their mean, worked out when they are asked for."""

    def __init__(self, network: EntityNetwork, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._embeddings: np.ndarray = network.reader.embedding.weight.detach().cpu().float().numpy()
        self._mean = self._embeddings.mean(axis=0)
        self._known: dict[str, np.ndarray | None] = {}

    def find(self, word: str) -> np.ndarray | None:
        """The direction of a word; None for one that the vocabulary does not have."""
        if word not in self._known:
            self._known[word] = None if self._vocabulary.is_unknown(word) else self._turn(word)
        return self._known[word]

    def _turn(self, word: str) -> np.ndarray:
        vector: np.ndarray = self._embeddings[self._vocabulary[word]] - self._mean
        return vector / max(float(np.linalg.norm(vector)), SMALLEST_NORM)
