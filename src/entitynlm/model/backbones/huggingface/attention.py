"""Attention in blocks that lie at fixed places, so that what follows a piece changes nothing about it, not even a last digit.

The last digits of a sum depend on how many terms it has room for: attention to 70 keys is added up in another order than
attention to the first 70 of 80 keys, the rest of which is masked. So queries are taken in blocks of 64 that begin at multiples of
64 within their chunk (see ``reader``), wherever a call begins or ends. A block that is not full is filled up with zeros, and its
keys always end where it would end if it were full: all shapes depend on the place in the text alone. It costs no time: a block
does not look at the keys behind it, which a mask over a whole chunk would have to cross out.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from entitynlm.extras import require
from entitynlm.model.language_models import EXTRA

NAME = "entitynlm_blocks"
"""Under this name models of ``transformers`` find it."""

BLOCK = 64


class _Place(threading.local):
    """Where the reading of this thread stands: how many pieces of the chunk were read before this call; None: not in blocks."""

    before: int | None = None


_place = _Place()


@contextmanager
def attend_in_blocks(before: int) -> Iterator[None]:
    """Let models that were prepared attend in blocks, unless a gradient is asked for.

    :param before: how many pieces of the chunk were read before this call.
    """
    _place.before = None if torch.is_grad_enabled() else before
    try:
        yield
    finally:
        _place.before = None


def prepare_attention(model: Any) -> bool:
    """Let a model attend in blocks where it is asked to; whether it can."""
    purpose = "A pretrained language model"
    interface = require("transformers.modeling_utils", extra=EXTRA, purpose=purpose).ALL_ATTENTION_FUNCTIONS
    masks = require("transformers.masking_utils", extra=EXTRA, purpose=purpose).ALL_MASK_ATTENTION_FUNCTIONS
    if model.config._attn_implementation == "sdpa":
        if NAME not in interface:
            interface.register(NAME, _make_attention(interface["sdpa"]))
            masks.register(NAME, _make_masking(masks["sdpa"]))
        model.set_attn_implementation(NAME)
    return bool(model.config._attn_implementation == NAME)


def _make_masking(usual: Any) -> Any:
    def make_mask(*arguments: Any, **options: Any) -> Any:
        return usual(*arguments, **options) if _place.before is None else None

    return make_mask


def _make_attention(usual: Any) -> Any:
    def attend(
        module: Any, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
    ) -> tuple[Tensor, None]:
        if _place.before is None:
            found: tuple[Tensor, None] = usual(module, query, key, value, attention_mask, **options)
            return found
        return _attend(query, key, value, _place.before, options.get("scaling")).transpose(1, 2), None

    return attend


def _attend(query: Tensor, key: Tensor, value: Tensor, before: int, scale: float | None) -> Tensor:
    """(B, heads, n, size) from queries of the last n pieces and keys and values of all that they may see."""
    count, kept = query.shape[2], key.shape[2] - query.shape[2]
    first = kept - before % BLOCK  # where the first block begins among the keys
    missing = -(before % BLOCK + count) % BLOCK
    if missing:
        key, value = (functional.pad(part, (0, 0, 0, missing)) for part in (key, value))
    query = functional.pad(query, (0, 0, kept - first, missing))
    found = [
        functional.scaled_dot_product_attention(
            query[:, :, start - first : start - first + BLOCK],
            key[:, :, : start + BLOCK],
            value[:, :, : start + BLOCK],
            attn_mask=_make_mask(start, query.dtype, query.device),
            scale=scale,
            enable_gqa=key.shape[1] != query.shape[1],
        )
        for start in range(first, key.shape[2], BLOCK)
    ]
    return torch.cat(found, dim=2)[:, :, kept - first : kept - first + count]


@lru_cache(maxsize=64)
def _make_mask(start: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """(BLOCK, start + BLOCK) what is added to scores: nothing, and minus infinity where a key comes after the query."""
    keys, queries = (
        torch.arange(start + BLOCK, device=device),
        torch.arange(start, start + BLOCK, device=device),
    )
    mask = torch.zeros(BLOCK, start + BLOCK, dtype=dtype, device=device)
    return mask.masked_fill(keys > queries[:, None], -torch.inf)
