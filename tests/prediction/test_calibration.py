"""Calibration of referent probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from entitynlm.errors import DataError
from entitynlm.prediction.calibration import group_predictions, measure_calibration
from entitynlm.text.document import Document
from support.small_bundles import make_bundle, make_documents


def test_bins_hold_all_predictions() -> None:
    probabilities, outcomes = np.array([0.05, 0.95, 1.0, 0.31, 0.39]), np.array([0, 1, 1, 0, 1])
    found = group_predictions(probabilities, outcomes, 10)
    assert [(b.low, b.count, b.observed) for b in found] == [(0.0, 1, 0.0), (0.3, 2, 0.5), (0.9, 2, 1.0)]
    assert found[1].predicted == pytest.approx(0.35)


def test_probabilities_of_each_mention_are_in_the_bins_once() -> None:
    pretrained, _ = make_bundle()
    found = measure_calibration(pretrained, make_documents())
    total = sum(b.count * b.predicted for b in found.bins)
    assert total == pytest.approx(found.mentions)  # there are never more than five referents here
    assert sum(b.count * b.observed for b in found.bins) == pytest.approx(found.mentions)
    assert 0 <= found.calibration_error <= 1


def test_mentions_are_needed() -> None:
    pretrained, _ = make_bundle()
    with pytest.raises(DataError, match="no mention in 1 document"):
        measure_calibration(pretrained, [Document("d", ("Ann",))])
