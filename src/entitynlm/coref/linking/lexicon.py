"""What a linker knows of words before it reads a text: the gender of names, and which nouns mean nearly the same.

Nouns that mean nearly the same have embeddings that point nearly the same way: "the painter" may be "the artist".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from entitynlm.coref.linking.gender_prior import GenderPrior
from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.encoding.vocabulary import Vocabulary
from entitynlm.model.entitynlm import EntityNetwork


@dataclass(frozen=True)
class Lexicon:
    """The gender prior, and unit vectors of words (None for unknown words)."""

    gender_prior: GenderPrior = field(default_factory=lambda: GenderPrior({}))
    find_vector: Callable[[str], np.ndarray | None] = lambda word: None


class HeadVectors:
    """A network's word embeddings as directions from their mean, computed when they are asked for."""

    def __init__(self, network: EntityNetwork, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._embeddings: np.ndarray = network.backbone.piece_vectors.detach().cpu().float().numpy()
        self._mean = self._embeddings.mean(axis=0)
        self._known: dict[str, np.ndarray | None] = {}

    def find(self, word: str) -> np.ndarray | None:
        """The direction of a word; None for one that the vocabulary does not have."""
        if word not in self._known:
            self._known[word] = None if self._vocabulary.is_unknown(word) else self._normalise(word)
        return self._known[word]

    def _normalise(self, word: str) -> np.ndarray:
        vector: np.ndarray = self._embeddings[self._vocabulary[word]] - self._mean
        return vector / max(float(np.linalg.norm(vector)), SMALLEST_NORM)
