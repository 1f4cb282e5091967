"""Entity states: equation 8 along all chains of a batch, as one differentiable operation.

The scan is the only sequential part beside the backbone. An entity changes only at the words of its own mentions, so
the states of all entities of all documents live in one flat table; each update reads the row of the entity's state before and
writes the row after. Rows are laid out in text order, hence a state is always written before it is read, and one pass suffices.

It is a compiled loop over updates, O(D) work each, with the backward pass derived by hand below. Tensors of another device come
to the CPU for it.

Forward, with g = h W_δ computed beforehand for all updates in one product (equation 8):
    δ = σ(g·e),  v = δ e + (1-δ) h,  n = max(‖v‖, ε),  e' = v / n
Backward, from the gradient ē' of e':
    v̄ = (ē' - (e'·ē') e') / n,  δ̄ = v̄·(e - h),  s̄ = δ̄ δ (1-δ),
    ē += δ v̄ + s̄ g,  h̄ += (1-δ) v̄,  ḡ += s̄ e
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from entitynlm.compilation import njit

SMALLEST_NORM = 1e-8


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, initial: Tensor, hidden: Tensor, gates: Tensor, size: int,
        initial_rows: np.ndarray, rows: np.ndarray, previous: np.ndarray,
    ) -> Tensor:  # fmt: skip
        table = hidden.new_zeros(size, hidden.shape[1])
        table[initial_rows] = initial
        deltas, norms = hidden.new_empty(len(rows)), hidden.new_empty(len(rows))
        _scan_forward(
            table.numpy(), hidden.detach().numpy(), gates.detach().numpy(), rows, previous, deltas.numpy(), norms.numpy(),
        )  # fmt: skip
        ctx.rows = (initial_rows, rows, previous)
        ctx.save_for_backward(table, hidden, gates, deltas, norms)
        return table

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        table, hidden, gates, deltas, norms = ctx.saved_tensors
        initial_rows, rows, previous = ctx.rows
        grad_table = grad_outputs[0].contiguous().clone()
        grad_hidden = torch.empty_like(hidden)
        grad_gates = torch.empty_like(gates)
        _scan_backward(
            grad_table.numpy(), grad_hidden.numpy(), grad_gates.numpy(), table.numpy(), hidden.detach().numpy(),
            gates.detach().numpy(), rows, previous, deltas.numpy(), norms.numpy(),
        )  # fmt: skip
        return grad_table[initial_rows], grad_hidden, grad_gates, None, None, None, None


def scan_states(
    initial: Tensor,
    hidden: Tensor,
    gates: Tensor,
    size: int,
    initial_rows: np.ndarray,
    rows: np.ndarray,
    previous: np.ndarray,
) -> Tensor:
    """Compute the table of all entity states, (S, D).

    :param initial: (I, D) initial vectors, of new entities and carried states, for :param initial_rows: (I,).
    :param hidden: (U, D) h and :param gates: (U, D) h W_δ of each update.
    :param size: S, rows of the table; rows that are neither initial nor written stay zero.
    :param rows: (U,) row written by each update, in text order.
    :param previous: (U,) row of the same entity's state before the update.
    """
    inputs = (values.cpu().contiguous() for values in (initial, hidden, gates))
    result: Tensor = _Scan.apply(*inputs, size, initial_rows, rows, previous)
    return result.to(hidden.device)


@njit(fastmath={"reassoc", "contract", "nsz"})
def _scan_forward(table, hidden, gates, rows, previous, deltas, norms):  # type: ignore[no-untyped-def]
    size = table.shape[1]
    for u in range(len(rows)):
        e = table[previous[u]]
        h = hidden[u]
        out = table[rows[u]]
        score = gates[u, 0] * e[0]
        for i in range(1, size):
            score += gates[u, i] * e[i]
        delta = 1 / (1 + np.exp(-score))
        square = score * 0
        for i in range(size):
            v = delta * e[i] + (1 - delta) * h[i]
            out[i] = v
            square += v * v
        norm = max(np.sqrt(square), SMALLEST_NORM)
        for i in range(size):
            out[i] /= norm
        deltas[u] = delta
        norms[u] = norm


@njit(fastmath={"reassoc", "contract", "nsz"})
def _scan_backward(  # type: ignore[no-untyped-def]
    grad_table, grad_hidden, grad_gates, table, hidden, gates, rows, previous, deltas, norms
):
    size = table.shape[1]
    for step in range(len(rows)):
        u = len(rows) - 1 - step
        e = table[previous[u]]
        h = hidden[u]
        e_next = table[rows[u]]
        grad_next = grad_table[rows[u]]
        grad_e = grad_table[previous[u]]
        grad_h = grad_hidden[u]
        delta, norm = deltas[u], norms[u]
        along = e_next[0] * grad_next[0]
        for i in range(1, size):
            along += e_next[i] * grad_next[i]
        if norm <= SMALLEST_NORM:
            along *= 0
        grad_delta = along * 0
        for i in range(size):
            grad_v = (grad_next[i] - along * e_next[i]) / norm
            grad_delta += grad_v * (e[i] - h[i])
            grad_e[i] += delta * grad_v
            grad_h[i] = (1 - delta) * grad_v
        grad_score = grad_delta * delta * (1 - delta)
        for i in range(size):
            grad_e[i] += grad_score * gates[u, i]
            grad_gates[u, i] = grad_score * e[i]
