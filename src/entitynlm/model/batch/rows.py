"""Gathers and their gradients: rows taken from a table, rows of a table added to other rows.

Torch gives each gather a gradient of the whole table, mostly zeros, and then adds these up. A batch takes rows of its table of
LSTM states for three purposes; here they share one gradient, filled by a compiled loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from entitynlm.compilation import njit


class _TakeRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, *rows: Tensor) -> tuple[Tensor, ...]:
        ctx.rows, ctx.shape = rows, table.shape
        ctx.set_materialize_grads(False)
        return tuple(table.index_select(0, some) for some in rows)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor | None) -> tuple[Tensor | None, ...]:
        known = [(rows, grad) for rows, grad in zip(ctx.rows, grad_outputs, strict=True) if grad is not None]
        if not known:
            return (None,) * (1 + len(ctx.rows))
        total = known[0][1].new_zeros(ctx.shape)
        for rows, grad in known:
            _add_rows(total.numpy(), rows.numpy(), grad.contiguous().numpy())
        return total, *(None for _ in ctx.rows)


def take_rows(table: Tensor, *rows: Tensor) -> tuple[Tensor, ...]:
    """``table[rows]`` for several lists of rows."""
    if table.device.type == "cpu":
        result: tuple[Tensor, ...] = _TakeRows.apply(table, *rows)
        return result
    return tuple(table.index_select(0, some) for some in rows)


class _AddRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, base: Tensor, table: Tensor, rows: Tensor) -> Tensor:
        ctx.rows, ctx.shape = rows, table.shape
        return table.index_select(0, rows).add_(base)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        grad = grad_outputs[0].contiguous()
        grad_table = grad.new_zeros(ctx.shape)
        _add_rows(grad_table.numpy(), ctx.rows.numpy(), grad.numpy())
        return grad, grad_table, None


def add_rows(base: Tensor, table: Tensor, rows: Tensor) -> Tensor:
    """``base + table[rows]``."""
    if base.device.type == "cpu":
        result: Tensor = _AddRows.apply(base, table, rows)
        return result
    return base + table.index_select(0, rows)


@njit()
def _add_rows(total, rows, values):  # type: ignore[no-untyped-def]
    for k in range(len(rows)):
        row = total[rows[k]]
        for i in range(total.shape[1]):
            row[i] += values[k, i]


def as_rows(values: np.ndarray, device: torch.device) -> Tensor:
    """Row numbers as a tensor that can index."""
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int64)).to(device)
