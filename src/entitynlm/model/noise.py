"""The noise of new entities (equation 7), passed as an argument.

The caller chooses the source of the noise:

- training and marginalising draw it anew, from a ``torch.Generator``;
- comparisons of analyses of one text (reranking, tests, repeated scoring) fix it by the *position* of the first mention, so that
  two analyses that start an entity at the same word give it the same vector, however many entities either has counted before;
- ``None`` leaves it out (σ = 0).
"""

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

NOISE_POSITIONS = 64  # positions whose fixed noise is drawn together


class DrawnNoise:
    """Fresh noise from a generator: (M, d) for entities first mentioned at the given word positions of a document."""

    def __init__(self, generator: torch.Generator | None = None) -> None:
        self.generator = generator

    def draw(self, positions: np.ndarray, size: int) -> Tensor:
        return torch.randn(len(positions), size, generator=self.generator)


class FixedNoise:
    """Noise that is a function of (seed, position): repeatable, and independent of how entities are numbered."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def draw(self, positions: np.ndarray, size: int) -> Tensor:
        blocks, places = np.unique(positions // NOISE_POSITIONS, return_inverse=True)
        if not len(blocks):
            return torch.zeros(0, size, dtype=torch.float64)
        table = np.concatenate([_draw_block(self.seed, block, size) for block in blocks.tolist()])
        return torch.from_numpy(table[places * NOISE_POSITIONS + positions % NOISE_POSITIONS])


Noise = DrawnNoise | FixedNoise
"""Standard normal numbers for new entities."""


@lru_cache(maxsize=256)
def _draw_block(seed: int, block: int, size: int) -> np.ndarray:
    """Draw (NOISE_POSITIONS, d) noise for neighbouring positions, because a generator per position takes long to set up."""
    bits = np.random.Philox(key=seed, counter=[0, 0, 0, block])
    return np.random.Generator(bits).standard_normal((NOISE_POSITIONS, size))
