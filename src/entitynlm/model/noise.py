"""The birth noise of equation 7, as an argument of its own.

A new entity's vector has a random part. Whoever scores a text says where that randomness comes from:

- training and marginalising draw it anew, from a ``torch.Generator``;
- comparing analyses of one text (reranking, tests, repeated scoring) fixes it by the *position* of the first mention, so that two
  analyses that start an entity at the same word give it the same vector, however many entities either has counted before;
- ``None`` leaves it out (σ = 0).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from torch import Tensor


class Noise(Protocol):
    """Standard normal numbers for newborn entities."""

    def draw(self, positions: np.ndarray, size: int) -> Tensor:
        """(M, D) noise for births at the given word positions of a document."""
        ...


class DrawnNoise:
    """Fresh noise from a generator."""

    def __init__(self, generator: torch.Generator | None = None) -> None:
        self.generator = generator

    def draw(self, positions: np.ndarray, size: int) -> Tensor:
        return torch.randn(len(positions), size, generator=self.generator)


class FixedNoise:
    """Noise that is a function of (seed, position): repeatable, and independent of how entities are numbered."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._known: dict[tuple[int, int], np.ndarray] = {}

    def draw(self, positions: np.ndarray, size: int) -> Tensor:
        rows = np.empty((len(positions), size))
        for row, position in enumerate(positions):
            key = (int(position), size)
            if key not in self._known:
                bits = np.random.Philox(key=self.seed, counter=[0, 0, 0, int(position)])
                self._known[key] = np.random.Generator(bits).standard_normal(size)
            rows[row] = self._known[key]
        return torch.from_numpy(rows)
