"""Perplexity, its error, and the two judgements over documents."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.errors import ConfigError, DataError
from entitynlm.lm.scores import compare_language_models, propagate_error, to_perplexity


def test_perplexity_of_equal_words_is_their_number() -> None:
    assert to_perplexity(50 * math.log(1 / 7), 50) == pytest.approx(7)
    with pytest.raises(DataError, match="no words"):
        to_perplexity(0.0, 0)


def test_the_error_of_a_perplexity_is_that_of_repeated_draws() -> None:
    rng = np.random.default_rng(1)
    errors, tokens = np.array([0.5, 1.0, 2.0]), 300
    draws = np.exp(-(-900 + rng.normal(0, errors, (200_000, 3)).sum(axis=1)) / tokens)
    perplexity = to_perplexity(-900, tokens)
    # The standard deviation of 200,000 draws is known to 0.16 %; the first-order rule itself is off by less than 0.01 %.
    assert propagate_error(perplexity, errors, tokens) == pytest.approx(draws.std(), rel=0.01)
    assert math.isnan(propagate_error(perplexity, [0.1, math.nan], tokens))


def test_few_documents_are_judged_exactly() -> None:
    found = compare_language_models([-10, -10, -10], [-9, -8, -9.5], [5, 5, 5])
    assert found.p_value == 2 / 8  # all gains, or all losses, of eight patterns
    assert found.change == pytest.approx(math.exp(-3.5 / 15) - 1)
    assert (found.wins, found.documents) == (3, 3)
    mixed = compare_language_models([-10, -10, -10], [-9, -12, -7], [5, 5, 5])
    assert mixed.p_value == 6 / 8  # of |±1 ±2 ±3| = 6, 6, 4, 4, 2, 2, 0, 0 six are 2 or more
    assert mixed.wins == 2


def test_equal_models_do_not_differ() -> None:
    same = list(np.linspace(-90, -110, 40))
    found = compare_language_models(same, same, [20] * 40)
    assert (found.change, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_many_documents_are_judged_by_drawing() -> None:
    rng = np.random.default_rng(2)
    tokens = rng.integers(50, 500, 80)
    first = -5.0 * tokens
    clear = compare_language_models(first, first + 0.02 * tokens + rng.normal(0, 0.5, 80), tokens)
    assert clear.p_value < 0.001
    assert clear.low < clear.change < clear.high < 0
    unclear = compare_language_models(first, first + rng.normal(0, 3, 80), tokens)
    assert unclear.p_value > 0.01
    assert unclear.low < 0 < unclear.high


def test_the_test_is_wrong_as_often_as_it_says() -> None:
    """Of 200 comparisons without a difference about 10 have p ≤ 0.05; 22 or more have a chance below 0.0005."""
    rng = np.random.default_rng(3)
    tokens = np.full(16, 100)
    found = [
        compare_language_models(np.zeros(16), rng.normal(0, 2, 16), tokens, trials=400, seed=i).p_value
        for i in range(200)
    ]
    assert 1 <= sum(value <= 0.05 for value in found) < 22


@given(st.lists(st.tuples(st.floats(-50, 0), st.floats(-50, 0), st.integers(10, 40)), min_size=1, max_size=9))
def test_turning_the_comparison_round_turns_its_sign(rows: list[tuple[float, float, int]]) -> None:
    first, second, tokens = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    there, back = (
        compare_language_models(*pair, tokens, trials=600) for pair in ((first, second), (second, first))
    )
    assert (1 + there.change) * (1 + back.change) == pytest.approx(1)
    assert there.p_value == back.p_value
    assert 0 < there.p_value <= 1


def test_wrong_input_is_refused() -> None:
    with pytest.raises(DataError, match="same documents"):
        compare_language_models([-1.0], [-1.0, -2.0], [3, 3])
    with pytest.raises(DataError, match="same documents"):
        compare_language_models([], [], [])
    with pytest.raises(ConfigError, match="trial"):
        compare_language_models([-1.0], [-1.0], [3], trials=0)
