"""Attention in blocks: what ``transformers`` gives, and the same last digit wherever calls begin and end."""

from __future__ import annotations

import pytest
import torch

from entitynlm.model.backbones.huggingface.attention import BLOCK, NAME, _attend, prepare_attention
from support.tiny_language_models import FAMILIES, make_model

LENGTH = 2 * BLOCK + 9


@pytest.mark.parametrize("heads", [4, 2], ids=["as many keys", "shared keys"])
def test_blocks_at_fixed_places(heads: int) -> None:
    draws = torch.Generator().manual_seed(2)
    query = torch.randn(2, 4, LENGTH, 8, generator=draws)
    key, value = torch.randn(2, 2, heads, LENGTH, 8, generator=draws)
    whole = _attend(query, key, value, 0, None)
    expected = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, is_causal=True, enable_gqa=heads != 4
    )
    assert torch.allclose(whole, expected, atol=1e-5)
    for start, stop in ((0, 1), (0, 40), (40, 41), (1, BLOCK), (BLOCK, LENGTH), (BLOCK - 1, LENGTH - 1)):
        part = _attend(query[:, :, start:stop], key[:, :, :stop], value[:, :, :stop], start, None)
        assert torch.equal(part, whole[:, :, start:stop])


@pytest.mark.parametrize("family", FAMILIES)
def test_models_are_prepared_once(family: str) -> None:
    model = make_model(family)
    assert prepare_attention(model) and prepare_attention(model)
    assert model.config._attn_implementation == NAME


def test_a_model_that_attends_in_its_own_way_is_left_alone() -> None:
    model = make_model("llama")
    model.set_attn_implementation("eager")
    assert not prepare_attention(model)
