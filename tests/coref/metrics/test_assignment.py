"""The assignment of chains against scipy's, on tables that are full, thin, tied and large."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from entitynlm.coref.metrics.assignment import LARGE, Pair, assign

values = st.sampled_from([0.0, 0.0, 0.0, 0.25, 0.5, 1.0]) | st.floats(0.01, 1)
tables = st.tuples(st.integers(1, 9), st.integers(1, 9)).flatmap(
    lambda size: st.lists(
        st.lists(values, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
    )
)


def to_pairs(table: np.ndarray) -> dict[Pair, float]:
    return {(int(i), int(j)): float(table[i, j]) for i, j in np.argwhere(table > 0)}


def check(table: np.ndarray) -> None:
    pairs = to_pairs(table)
    found = assign(pairs)
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)
    assert found == sorted(found)
    rows, columns = linear_sum_assignment(-table)
    assert sum(pairs[pair] for pair in found) == pytest.approx(table[rows, columns].sum())


@given(tables)
@settings(max_examples=300, deadline=None)
def test_the_sum_is_scipys(table: list[list[float]]) -> None:
    check(np.array(table))


@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
def test_large_tables(share: float) -> None:
    rng = np.random.default_rng(1)
    table = rng.random((LARGE + 5, LARGE + 20)) * (rng.random((LARGE + 5, LARGE + 20)) < share)
    check(table)
    check(table.T)


def test_nothing_to_assign() -> None:
    assert assign({}) == []
    assert assign({(3, 7): 0.5}) == [(3, 7)]
