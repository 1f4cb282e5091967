"""Products by oneDNN are those of torch's usual library, and so is attention that is made of them."""

import pytest
import torch
from torch import nn

from entitynlm.model.products import QUERIES_AT_ONCE, FastAttention, apply_linear, attend


def close(left: torch.Tensor, right: torch.Tensor) -> bool:
    return left.shape == right.shape and torch.allclose(left, right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(40, 24), (1, 33, 24), (3, 24), (0, 24)])
@pytest.mark.parametrize("biased", [True, False])
def test_a_linear_layer_is_that_of_torch(shape: tuple[int, ...], biased: bool) -> None:
    torch.manual_seed(0)
    x, weight, bias = torch.randn(shape), torch.randn(50, 24), torch.randn(50) if biased else None
    expected = nn.functional.linear(x, weight, bias)
    assert close(apply_linear(x, weight, bias), expected)
    assert close(apply_linear(x, weight.t().contiguous().t(), bias), expected), (
        "a transposed matrix is one too"
    )


def test_what_needs_a_gradient_has_one() -> None:
    torch.manual_seed(0)
    x, weight = torch.randn(40, 24), torch.randn(50, 24, requires_grad=True)
    (apply_linear(x, weight) ** 2).sum().backward()
    assert close(weight.grad, 2 * (x @ weight.detach().t()).t() @ x)


@pytest.mark.parametrize("count", [1, 20, QUERIES_AT_ONCE + 30])
@pytest.mark.parametrize("before", [0, 7])
@pytest.mark.parametrize("groups", [2, 6])
def test_attention_sees_what_comes_before(count: int, before: int, groups: int) -> None:
    torch.manual_seed(0)
    queries = torch.randn(6, count, 16)
    keys, values = torch.randn(groups, before + count, 16), torch.randn(groups, before + count, 16)
    mask = torch.ones(count, before + count, dtype=torch.bool).tril(before)
    expected = nn.functional.scaled_dot_product_attention(
        queries[None], keys[None], values[None], attn_mask=mask, scale=0.3, enable_gqa=True
    )
    assert close(attend(queries, keys, values, 0.3), expected[0])


def test_attention_of_other_kinds_is_left_alone() -> None:
    """Masks of other shapes, of other numbers, of several texts, and none at all."""
    torch.manual_seed(0)
    queries, keys, values = (torch.randn(2, 3, 20, 16) for _ in range(3))
    window = torch.ones(1, 1, 20, 20, dtype=torch.bool).tril().triu(-4)
    padding = (torch.arange(20) < 15).expand(1, 1, 20, 20)
    options = [
        {"attn_mask": window},
        {"attn_mask": padding},
        {"attn_mask": torch.randn(1, 1, 20, 20)},
        {"attn_mask": torch.ones(20, 20, dtype=torch.bool).tril()},
        {"is_causal": True},
        {"is_causal": True, "scale": 0.3},
        {},
    ]
    for texts in (1, 2):
        parts = [part[:texts] for part in (queries, keys, values)]
        for own in options:
            expected = nn.functional.scaled_dot_product_attention(*parts, **own)
            with FastAttention():
                assert close(nn.functional.scaled_dot_product_attention(*parts, **own), expected)


def test_causal_attention_is_made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "entitynlm.model.products.attend", lambda queries, *_: asked.append("attend") or queries
    )
    part, seen = torch.randn(1, 2, 20, 16), torch.ones(1, 1, 20, 20, dtype=torch.bool).tril()
    with FastAttention():
        nn.functional.scaled_dot_product_attention(part, part, part, attn_mask=seen)
        nn.functional.scaled_dot_product_attention(part, part, part, is_causal=True)
    assert asked == ["attend", "attend"]
