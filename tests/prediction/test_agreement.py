"""Agreement with people: majority, shares, divergence."""

from __future__ import annotations

import numpy as np
import pytest

from entitynlm.prediction.choices import NEW
from entitynlm.prediction.evaluation import count_shares, find_majority, measure_divergence


def test_the_majority_comes_first_and_is_mapped_then() -> None:
    assert find_majority(["a", "x", "x", "y"], ["a"]) == NEW
    assert find_majority(["x", "a", "y", "a", "x"], ["a"]) == NEW  # of equals the one that stands first
    assert count_shares(["a", "x", "a", "y"], ["a", "b"]).tolist() == [0.5, 0, 0.5]


def test_divergence_has_its_known_values() -> None:
    one, other = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert measure_divergence(one, one) == 0
    assert measure_divergence(one, other) == pytest.approx(1)
