"""Products whose rows do not depend on how many rows there are."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from entitynlm.model import row_products
from entitynlm.model.row_products import fill_rows, multiply_rows, products_agree


@pytest.fixture(params=[True, False], ids=["at once", "in parts"])
def agree(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the library's products agree is said here; the second is always right."""
    if not request.param:
        monkeypatch.setattr(row_products, "products_agree", lambda *_: False)


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


@pytest.mark.usefixtures("agree")
@pytest.mark.parametrize("shape", [(7, 16), (300, 64), (64, 576)])
def test_a_row_is_the_same_among_any_number_of_rows(shape: tuple[int, int]) -> None:
    rows, weight, bias = draw(150, shape[1]), draw(*shape), draw(shape[0])
    with torch.no_grad():
        whole = multiply_rows(rows, weight, bias)
        for count in (0, 1, 2, 3, 15, 16, 17, 40, 149):
            assert torch.equal(multiply_rows(rows[:count], weight, bias), whole[:count])
    assert torch.allclose(whole, rows @ weight.t() + bias, atol=1e-4)


def test_gradients_go_through_as_ever() -> None:
    rows, weight = draw(5, 8).requires_grad_(), draw(3, 8)
    multiply_rows(rows, weight).sum().backward()
    assert rows.grad is not None and torch.allclose(rows.grad, weight.sum(0).expand(5, 8))


def test_what_is_filled_up_is_zero() -> None:
    assert fill_rows(draw(16, 2)).shape == (16, 2)
    assert fill_rows(draw(17, 2)).shape == (32, 2) and not fill_rows(draw(17, 2))[17:].any()
    assert fill_rows(draw(3, 2), 5).shape == (5, 2)


def test_products_are_tried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A library that adds up otherwise from a hundred rows on is found out."""
    plain = torch.nn.functional.linear

    def multiply(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        found = plain(rows, weight, bias)
        return found if len(rows) < 100 else torch.nextafter(found, found + 1)

    monkeypatch.setattr(torch.nn.functional, "linear", multiply)
    products_agree.cache_clear()
    assert not products_agree(6, 8, torch.float32, 1)
    products_agree.cache_clear()
