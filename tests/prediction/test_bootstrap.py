"""Tests and intervals over clusters."""

import pytest

from entitynlm.errors import ConfigError
from entitynlm.prediction.evaluation import bootstrap_mean, compare_paired


def test_clusters_widen_the_interval() -> None:
    values = [0.0] * 50 + [1.0] * 50
    alone = bootstrap_mean(values, [str(i) for i in range(100)], trials=2000)
    together = bootstrap_mean(values, [str(i // 10) for i in range(100)], trials=2000)
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert alone.low < 0.5 < alone.high


def test_a_difference_in_one_story_is_no_difference() -> None:
    first, second = [0.0] * 40, [1.0] * 20 + [0.0] * 20
    one_story = compare_paired(first, second, ["a"] * 20 + [str(i) for i in range(20)], trials=2000)
    many = compare_paired(first, second, [str(i) for i in range(40)], trials=2000)
    assert one_story.p_value == 1
    assert many.p_value < 0.01
    assert many.difference == 0.5


def test_equal_systems_do_not_differ() -> None:
    same = compare_paired([1.0, 0.0], [1.0, 0.0], ["a", "b"], trials=100)
    assert (same.difference, same.p_value) == (0, 1)
    with pytest.raises(ConfigError):
        compare_paired([1.0], [1.0, 2.0], ["a"])
    with pytest.raises(ConfigError):
        bootstrap_mean([], [])
