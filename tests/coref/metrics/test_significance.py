"""The randomisation test: exact where all swaps can be enumerated, repeatable by its seed."""

from itertools import product

import numpy as np
import pytest

from entitynlm.coref.metrics.coreference import CONLL_METRICS, METRICS, CorpusCounts, compare_systems
from entitynlm.errors import ConfigError, DataError


def make_counts(seed: int, documents: int, skill: float = 0.5) -> CorpusCounts:
    generator = np.random.default_rng(seed)
    by_metric = {}
    for name in CONLL_METRICS:
        totals = generator.integers(5, 20, size=documents).astype(float)
        right = np.floor(totals * np.clip(generator.normal(skill, 0.1, size=documents), 0, 1))
        by_metric[name] = np.stack([right, totals, right, totals + 1], axis=1)
    return CorpusCounts(tuple(f"d{i}" for i in range(documents)), by_metric)


def enumerate_p_value(first: CorpusCounts, second: CorpusCounts, name: str) -> float:
    """The share of all 2^n swaps with a difference at least as large, by loops."""

    def difference(swaps: tuple[bool, ...]) -> float:
        sides = [np.zeros(4), np.zeros(4)]
        for row, swap in enumerate(swaps):
            sides[swap] += first.by_metric[name][row]
            sides[not swap] += second.by_metric[name][row]
        one, other = (METRICS[name].summarise(side)[2] for side in sides)
        return abs(one - other)

    every = [difference(swaps) for swaps in product([False, True], repeat=len(first))]
    return float(np.mean([value >= every[0] - 1e-12 for value in every]))


@pytest.mark.parametrize("skill", [0.5, 0.6])
def test_p_values_come_near_the_exact_ones(skill: float) -> None:
    first, second = make_counts(1, 7), make_counts(2, 7, skill)
    found = compare_systems(first, second, trials=10_000, seed=3)
    for name in CONLL_METRICS:
        exact = enumerate_p_value(first, second, name)
        # four standard errors of a share of 10,000 trials
        assert found[name].p_value == pytest.approx(
            exact, abs=4 * np.sqrt(exact * (1 - exact) / 10_000) + 1e-4
        )


def test_equal_systems_do_not_differ() -> None:
    counts = make_counts(1, 10)
    assert {found.p_value for found in compare_systems(counts, counts, trials=500).values()} == {1.0}


def test_a_difference_on_every_document_gets_the_smallest_p_value() -> None:
    worse, better = make_counts(1, 40, 0.3), make_counts(1, 40, 0.9)
    found = compare_systems(worse, better, trials=999)
    assert set(found) == {*CONLL_METRICS, "conll"}
    assert found["conll"].p_value == 1 / 1000
    assert found["conll"].difference == pytest.approx(better.conll - worse.conll)


def test_the_seed_decides_and_the_sides_do_not() -> None:
    first, second = make_counts(1, 12), make_counts(2, 12)
    once = compare_systems(first, second, trials=2000, seed=5)
    assert once == compare_systems(first, second, trials=2000, seed=5)
    swapped = compare_systems(second, first, trials=2000, seed=5)
    for name, found in once.items():
        assert swapped[name].p_value == found.p_value
        assert swapped[name].difference == -found.difference


def test_only_the_same_documents_can_be_compared() -> None:
    with pytest.raises(DataError, match="same documents"):
        compare_systems(make_counts(1, 3), make_counts(1, 4))
    with pytest.raises(ConfigError, match="at least one trial"):
        compare_systems(make_counts(1, 3), make_counts(1, 3), trials=0)
