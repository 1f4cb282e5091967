"""The assignment of chains against all permutations and scipy's on the whole table; thin, tied and large tables."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from entitynlm.coref.metrics import assignment
from entitynlm.coref.metrics.assignment import Pair, assign

values = st.sampled_from([0.0, 0.0, 0.0, 0.25, 0.5, 1.0]) | st.floats(0.01, 1)
tables = st.integers(1, 5).flatmap(
    lambda size: st.lists(st.lists(values, min_size=size, max_size=size), min_size=size, max_size=size)
)


def add_assigned(table: np.ndarray) -> float:
    """Assign, check that no chain is used twice, and add up."""
    pairs: dict[Pair, float] = {(int(i), int(j)): float(table[i, j]) for i, j in np.argwhere(table > 0)}
    found = assign(pairs)
    assert len({i for i, _ in found}) == len({j for _, j in found}) == len(found)
    assert found == sorted(found)
    return sum(pairs[pair] for pair in found)


@given(tables)
@settings(max_examples=200, deadline=None)
def test_no_permutation_has_a_higher_sum(rows: list[list[float]]) -> None:
    table = np.array(rows)
    best = max(table[np.arange(len(table)), list(order)].sum() for order in permutations(range(len(table))))
    assert add_assigned(table) == pytest.approx(best)


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_large_tables_fall_into_components(share: float) -> None:
    rng = np.random.default_rng(1)
    table = rng.random((45, 60)) * (rng.random((45, 60)) < share)
    assert add_assigned(table) == pytest.approx(table[linear_sum_assignment(table, maximize=True)].sum())


@given(tables)
def test_large_components_are_solved_as_well(rows: list[list[float]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "MOST_CELLS", 0)
        sparse = add_assigned(np.array(rows))
    assert sparse == pytest.approx(add_assigned(np.array(rows)))


def test_nothing_to_assign() -> None:
    assert assign({}) == []
    assert assign({(3, 7): 0.5}) == [(3, 7)]
