"""Products of matrices whose rows do not depend on how many rows there are, not even in their last digit.

A library multiplies matrices in the order that is fastest for their size: one row by itself, or three, is added up in another
order than the same row among a hundred. From some size on, however, nothing but the number of tiles grows. So rows are filled up
to a multiple of 16; whether that is enough is tried out, once for each size of the matrix, with the library and the number of
threads that there are. Where it is not, sixteen rows are multiplied at a time, always in the same shape.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor, nn

ROWS = 16
TRIED = (16, 32, 48, 112, 208, 528)
MOST_COLUMNS = 2_048  # of a matrix that is tried


def multiply_rows(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """(N, D) · (V, D)ᵀ + (V,) → (N, V); each row depends on that row alone (on a CPU, where no gradient is asked for)."""
    if torch.is_grad_enabled() or rows.device.type != "cpu":
        return nn.functional.linear(rows, weight, bias)
    filled = fill_rows(rows)
    if products_agree(*weight.shape, weight.dtype, torch.get_num_threads()):
        return nn.functional.linear(filled, weight, bias)[: len(rows)]
    parts = [nn.functional.linear(part, weight, bias) for part in filled.split(ROWS)]
    return torch.cat(parts)[: len(rows)] if parts else rows.new_zeros(0, len(weight))


def fill_rows(rows: Tensor, multiple: int = ROWS) -> Tensor:
    """The rows, and zeros until their number is a multiple."""
    missing = -len(rows) % multiple
    return nn.functional.pad(rows, (0, 0, 0, missing)) if missing else rows


@lru_cache(maxsize=256)
def products_agree(outputs: int, inputs: int, dtype: torch.dtype, threads: int) -> bool:
    """Whether a row of a product with a matrix of this size is the same among any multiple of 16 rows, with so many threads."""
    draws = torch.Generator().manual_seed(1)
    weight = torch.randn(min(outputs, MOST_COLUMNS), inputs, generator=draws, dtype=dtype)
    rows = torch.randn(max(TRIED), inputs, generator=draws, dtype=dtype)
    with torch.no_grad():
        whole = nn.functional.linear(rows, weight)
        first = all(torch.equal(nn.functional.linear(rows[:n], weight), whole[:n]) for n in TRIED)
        return first and all(
            torch.equal(nn.functional.linear(rows[-n:], weight), whole[-n:]) for n in TRIED[:3]
        )
