"""Perplexity, its error, and the judgement over documents (whose statistics have tests of their own)."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.lm.scores import DocumentLogProb, ModelScores, compare_language_models


def make_scores(
    log_probs: Sequence[float], tokens: Sequence[int], errors: Sequence[float | None] | None = None
) -> ModelScores:
    columns = zip(tokens, log_probs, errors or [0.0] * len(tokens), strict=True)
    documents = (DocumentLogProb(str(number), *values) for number, values in enumerate(columns))
    return ModelScores("m", "exact", tuple(documents))


def test_perplexity_of_equal_words_is_their_number() -> None:
    assert make_scores([50 * math.log(1 / 7)], [50]).perplexity == pytest.approx(7)


def test_the_error_of_a_perplexity_is_that_of_repeated_draws() -> None:
    rng = np.random.default_rng(1)
    errors, sizes = [0.5, 1.0, 2.0], [100, 100, 100]
    draws = np.exp(-(-900 + rng.normal(0, errors, (200_000, 3)).sum(axis=1)) / 300)
    # The standard deviation of 200,000 draws is known to 0.16 %; the first-order rule itself is off by less than 0.01 %.
    assert make_scores([-300] * 3, sizes, errors).standard_error == pytest.approx(draws.std(), rel=0.01)
    assert math.isnan(make_scores([-300] * 3, sizes, [0.1, None, 0.1]).standard_error)


def test_few_documents_are_judged_exactly() -> None:
    before = make_scores([-10, -10, -10], [5, 5, 5])
    found = compare_language_models(before, make_scores([-9, -8, -9.5], [5, 5, 5]))
    assert found.p_value == 2 / 8  # all gains, or all losses, of eight patterns
    assert found.change == pytest.approx(math.exp(-3.5 / 15) - 1)
    assert (found.wins, found.documents) == (3, 3)
    same = compare_language_models(before, before)
    assert (same.change, same.low, same.high, same.p_value) == (0, 0, 0, 1)


def test_many_documents_are_judged_by_drawing() -> None:
    rng = np.random.default_rng(2)
    tokens = rng.integers(50, 500, 80)
    first = -5.0 * tokens
    better = first + 0.02 * tokens + rng.normal(0, 0.5, 80)
    clear = compare_language_models(make_scores(first, tokens), make_scores(better, tokens))  # type: ignore[arg-type]
    assert clear.p_value < 0.001
    assert clear.low < clear.change < clear.high < 0


@given(st.lists(st.tuples(st.floats(-50, 0), st.floats(-50, 0), st.integers(10, 40)), min_size=1, max_size=9))
def test_turning_the_comparison_round_turns_its_sign(rows: list[tuple[float, float, int]]) -> None:
    first, second, tokens = zip(*rows, strict=True)
    pair = make_scores(first, tokens), make_scores(second, tokens)
    there, back = compare_language_models(*pair), compare_language_models(*pair[::-1])
    assert (1 + there.change) * (1 + back.change) == pytest.approx(1)
    assert there.p_value == back.p_value
    assert 0 < there.p_value <= 1
