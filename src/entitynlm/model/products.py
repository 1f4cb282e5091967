"""Products of float32 matrices by oneDNN, which torch includes but uses for other types of numbers only.

Torch's library for float32 uses half the vector width of AMD's processors. Attention consists of the same products, a block of
queries at a time, without keys that come after all of these queries.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

FEWEST_ROWS = 16
"""Rows from which on oneDNN is asked: below, reading the weights takes longer than the arithmetic."""

FEW_ROWS = 4
"""Rows up to which W xᵀ with an even number of columns is computed: the usual library reads output layers twice as fast then."""

QUERIES_AT_ONCE = 256
"""Queries whose scores are computed at once: they stay in the cache."""


def apply_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """(…, D) · (N, D)ᵀ + (N,) → (…, N), as ``torch.nn.functional.linear``, which is asked where a gradient is wanted."""
    plain = x.dtype == weight.dtype == torch.float32 and x.device.type == "cpu"
    wanted = torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad)
    rows = x.numel() // x.shape[-1]
    if plain and not wanted and 0 < rows <= FEW_ROWS:
        even = x.reshape(rows, -1) if rows % 2 == 0 else nn.functional.pad(x.reshape(rows, -1), (0, 0, 0, 1))
        few = (weight @ even.t())[:, :rows].t().contiguous().view(*x.shape[:-1], len(weight))
        return few if bias is None else few + bias
    if not plain or wanted or rows < FEWEST_ROWS or not hasattr(torch.ops.mkldnn, "_linear_pointwise"):
        return nn.functional.linear(x, weight, bias)
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return product


def attend(queries: Tensor, keys: Tensor, values: Tensor, scale: float) -> Tensor:
    """Compute causal attention of n pieces to themselves and to the k - n pieces before them.

    :param queries: (heads, n, d).
    :param keys: (groups of heads, k, d), and :param values: of the same shape.
    :return: (heads, n, d).
    """
    heads, count, _ = queries.shape
    before, together = keys.shape[1] - count, heads // len(keys)
    out = torch.empty_like(queries)
    later = torch.full((QUERIES_AT_ONCE, QUERIES_AT_ONCE), -torch.inf).triu_(1)
    for start in range(0, count, QUERIES_AT_ONCE):
        stop = min(start + QUERIES_AT_ONCE, count)
        size, seen = stop - start, before + stop
        for head in range(heads):
            group = head // together
            scores = apply_linear(queries[head, start:stop] * scale, keys[group, :seen])
            scores[:, seen - size :] += later[:size, :size]
            out[head, start:stop] = apply_linear(torch.softmax(scores, -1), values[group, :seen].t())
    return out


class ExactProducts(TorchFunctionMode):
    """Makes linear layers that are called under it multiply in double precision."""

    def __torch_function__(self, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        if function is not nn.functional.linear:
            return function(*arguments, **(options or {}))
        x, weight, bias = arguments
        product = function(x.double(), weight.double(), None if bias is None else bias.double())
        return product.to(x.dtype)


class FastAttention(TorchFunctionMode):
    """Makes the attention of modules that are called under it by :func:`attend`."""

    def __init__(self) -> None:
        super().__init__()
        self._causal: Tensor | None = None  # a mask that allows what ``attend`` does

    def __torch_function__(self, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        options = options or {}
        if function is nn.functional.scaled_dot_product_attention and self._is_causal(*arguments, **options):
            queries, keys, values = arguments
            scale = options.get("scale") or queries.shape[-1] ** -0.5
            return attend(queries[0], keys[0], values[0], scale)[None]
        return function(*arguments, **options)

    def _is_causal(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        attn_mask: Tensor | None = None,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        **rest: Any,
    ) -> bool:
        """Tell whether the mask is causal and without padding, for one text."""
        shape = (1, 1, queries.shape[2], keys.shape[2])
        plain = queries.dtype == torch.float32 and queries.device.type == "cpu" and not dropout_p
        if not plain or len(queries) > 1 or queries.shape[2] < FEWEST_ROWS:
            return False
        if attn_mask is None:
            return is_causal and shape[2] == shape[3]
        if attn_mask is not self._causal and attn_mask.dtype == torch.bool and attn_mask.shape == shape:
            every = torch.ones(shape, dtype=torch.bool)
            self._causal = attn_mask if torch.equal(attn_mask, every.tril(shape[3] - shape[2])) else None
        return attn_mask is self._causal
