"""Standardising the states of a pretrained language model, one dimension at a time.

In such states a single dimension may hold 95 % of the squared norm, and the first pieces of a text have activations a thousand
times larger than all others: means and deviations leave these out, and what is left is clipped.
"""

import torch
from torch import Tensor, nn

LARGEST_ACTIVATION = 1_000.0
CLIP = 5.0


class Standardisation(nn.Module):
    """(h - mean) / deviation of each dimension, within ±5; mean 0 and deviation 1 until it was fitted."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size))
        self.register_buffer("deviation", torch.ones(size))

    def forward(self, h: Tensor) -> Tensor:
        return ((h - self.mean) / self.deviation).clamp(-CLIP, CLIP)

    @torch.no_grad()
    def fit(self, states: Tensor) -> None:
        """Take mean and deviation from states (N, size)."""
        usual = states[states.abs().amax(1) < LARGEST_ACTIVATION]
        usual = states if len(usual) < 2 else usual
        if len(usual) > 1:
            self.mean.copy_(usual.mean(0))
            self.deviation.copy_(usual.std(0).clamp_min(1e-6))
