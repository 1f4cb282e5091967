"""Equation 4 over (mention, candidate) pairs: log p of the entity that each mention chose.

Each mention is compared with every entity so far. The pairs are a ragged list, so a padded matrix product would mostly multiply
padding, and a gather would copy the table of states once per pair. The compiled kernel goes through the pairs once, forward and
backward, and keeps one number per pair. Tensors of another device are moved to the CPU for it.

Forward, for the candidates k of mention m:  s_k = q_m · e_k + Σ w_dist[hot buckets of k],  p = softmax(s),  out_m = log p_chosen

Backward, from the gradient ō:  s̄_k = ō_m ([k = chosen] - p_k),  q̄_m += s̄_k e_k,  ē_k += s̄_k q_m,  w̄_dist[hot] += s̄_k
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from entitynlm.compilation import njit


class _Choice(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, queries: Tensor, states: Tensor, weights: Tensor,
        bounds: np.ndarray, rows: np.ndarray, features: np.ndarray, chosen: np.ndarray,
    ) -> Tensor:  # fmt: skip
        scores = queries.new_empty(len(rows))
        _score(
            queries.detach().numpy(), states.detach().numpy(), weights.detach().numpy(),
            bounds, rows, features, scores.numpy(),
        )  # fmt: skip
        found = scores[torch.from_numpy(chosen)]
        probs = scores.exp_()  # torch's exponential is vectorised, the compiled loops' is not
        totals = queries.new_empty(len(queries))
        _normalise(bounds, probs.numpy(), totals.numpy())
        ctx.pairs = (bounds, rows, features, chosen)
        ctx.save_for_backward(queries, states, weights, probs)
        return found - totals.log_()

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        queries, states, weights, probs = ctx.saved_tensors
        grads = tuple(torch.zeros_like(value) for value in (queries, states, weights))
        _choose_backward(
            grad_outputs[0].contiguous().numpy(), queries.detach().numpy(), states.detach().numpy(),
            *ctx.pairs, probs.numpy(), *(grad.numpy() for grad in grads),
        )  # fmt: skip
        return *grads, None, None, None, None


def log_prob_chosen(queries: Tensor, states: Tensor, weights: Tensor, *pairs: np.ndarray) -> Tensor:
    """(M,) log p(E = the chosen entity).

    :param queries: (M, D) hᵀ W_entity.  :param states: (S, D).
    :param weights: (F + 1,) w_dist and, at its end, zero for "no feature".
    :param pairs: K pairs of a mention and a candidate entity, mention after mention: (M + 1,) where each mention's begin; (K,)
        the candidates' rows of ``states``; (K, W) hot buckets of f(e), where number F means none; (M,) the pair that came true.
    """
    inputs = (values.cpu().contiguous() for values in (queries, states, weights))
    result: Tensor = _Choice.apply(*inputs, *pairs)
    return result.to(queries.device)


@njit(fastmath={"reassoc", "contract", "nsz"})
def _score(queries, states, weights, bounds, rows, features, scores):  # type: ignore[no-untyped-def]
    """Score all pairs, less the highest score of their mention."""
    size, width = queries.shape[1], features.shape[1]
    for m in range(len(queries)):
        q = queries[m]
        for k in range(bounds[m], bounds[m + 1]):
            e = states[rows[k]]
            score = queries.dtype.type(0)
            for i in range(size):
                score += q[i] * e[i]
            for f in range(width):
                score += weights[features[k, f]]
            scores[k] = score
        highest = scores[bounds[m]]
        for k in range(bounds[m], bounds[m + 1]):
            highest = max(highest, scores[k])
        for k in range(bounds[m], bounds[m + 1]):
            scores[k] -= highest


@njit()
def _normalise(bounds, probs, totals):  # type: ignore[no-untyped-def]
    for m in range(len(totals)):
        total = probs[bounds[m]] * 0
        for k in range(bounds[m], bounds[m + 1]):
            total += probs[k]
        for k in range(bounds[m], bounds[m + 1]):
            probs[k] /= total
        totals[m] = total


@njit(fastmath={"reassoc", "contract", "nsz"})
def _choose_backward(  # type: ignore[no-untyped-def]
    grad, queries, states, bounds, rows, features, chosen, probs, grad_queries, grad_states, grad_weights
):
    size, width = queries.shape[1], features.shape[1]
    for m in range(len(queries)):
        q, grad_q = queries[m], grad_queries[m]
        for k in range(bounds[m], bounds[m + 1]):
            g = -grad[m] * probs[k]
            if k == chosen[m]:
                g += grad[m]
            e, grad_e = states[rows[k]], grad_states[rows[k]]
            for i in range(size):
                grad_q[i] += g * e[i]
                grad_e[i] += g * q[i]
            for f in range(width):
                grad_weights[features[k, f]] += g
