"""What a linker knows of words before it reads a text: the gender of names, and which nouns mean nearly the same.

Nouns that mean nearly the same have embeddings that point nearly the same way: "the painter" may be "the artist".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

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


def find_head_vectors(network: EntityNetwork, vocabulary: Vocabulary) -> Callable[[str], np.ndarray | None]:
    """A function that gives a word's embedding as a direction from the mean of all; None for an unknown word."""
    embeddings: np.ndarray = network.backbone.piece_vectors.detach().cpu().float().numpy()
    mean = embeddings.mean(axis=0)

    @cache
    def find(word: str) -> np.ndarray | None:
        if vocabulary.is_unknown(word):
            return None
        vector: np.ndarray = embeddings[vocabulary[word]] - mean
        return vector / max(float(np.linalg.norm(vector)), SMALLEST_NORM)

    return find
