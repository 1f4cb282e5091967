"""Scores of (mention, candidate) pairs: row m of one matrix times row s of another, for a list of pairs (m, s).

Equation 4 compares each mention with every entity so far. The pairs are a ragged list, so a padded matrix product would
mostly multiply padding and a gather would copy the table once per pair. The compiled kernel does neither; the portable path
gathers in chunks.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor

CHUNK = 65_536  # pairs gathered at once on the portable path


class _CompiledPairs(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, left_rows: Tensor, right_rows: Tensor) -> Tensor:
        scores = left.new_empty(len(left_rows))
        _multiply(
            left.detach().numpy(),
            right.detach().numpy(),
            left_rows.numpy(),
            right_rows.numpy(),
            scores.numpy(),
        )
        ctx.save_for_backward(left, right, left_rows, right_rows)
        return scores

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        left, right, left_rows, right_rows = ctx.saved_tensors
        grad_left, grad_right = torch.zeros_like(left), torch.zeros_like(right)
        _multiply_backward(
            grad_outputs[0].contiguous().numpy(), left.detach().numpy(), right.detach().numpy(),
            left_rows.numpy(), right_rows.numpy(), grad_left.numpy(), grad_right.numpy(),
        )  # fmt: skip
        return grad_left, grad_right, None, None


def multiply_pairs(
    left: Tensor, right: Tensor, left_rows: Tensor, right_rows: Tensor, *, compiled: bool = True
) -> Tensor:
    """(K,) dot products ``left[left_rows[k]] · right[right_rows[k]]``."""
    if compiled and left.device.type == "cpu":
        result: Tensor = _CompiledPairs.apply(left.contiguous(), right.contiguous(), left_rows, right_rows)
        return result
    chunks = [
        (left[left_rows[i : i + CHUNK]] * right[right_rows[i : i + CHUNK]]).sum(-1)
        for i in range(0, len(left_rows), CHUNK)
    ]
    return torch.cat(chunks) if chunks else left.new_zeros(0)


@numba.njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def _multiply(left, right, left_rows, right_rows, scores):  # type: ignore[no-untyped-def]
    size = left.shape[1]
    for k in range(len(left_rows)):
        a = left[left_rows[k]]
        b = right[right_rows[k]]
        total = a[0] * b[0]
        for i in range(1, size):
            total += a[i] * b[i]
        scores[k] = total


@numba.njit(cache=True, fastmath={"reassoc", "contract", "nsz"})
def _multiply_backward(grad, left, right, left_rows, right_rows, grad_left, grad_right):  # type: ignore[no-untyped-def]
    size = left.shape[1]
    for k in range(len(left_rows)):
        a, b = left[left_rows[k]], right[right_rows[k]]
        grad_a, grad_b = grad_left[left_rows[k]], grad_right[right_rows[k]]
        g = grad[k]
        for i in range(size):
            grad_a[i] += g * b[i]
            grad_b[i] += g * a[i]


def segment_log_softmax(scores: Tensor, segments: Tensor, count: int) -> Tensor:
    """Log-softmax within each segment; ``segments`` (K,) names the segment of each score, ``count`` how many there are."""
    highest = scores.new_full((count,), -torch.inf).scatter_reduce(0, segments, scores.detach(), "amax")
    shifted = scores - highest[segments]
    total = scores.new_zeros(count).index_add(0, segments, shifted.exp())
    return shifted - total.log()[segments]


def as_rows(values: np.ndarray, device: torch.device) -> Tensor:
    """Row numbers as a tensor of the kind that indexing wants."""
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(device)
