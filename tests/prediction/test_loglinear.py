"""Log-linear models of candidates."""

import numpy as np
import pytest

from entitynlm.prediction.loglinear import fit_weights


def test_fitted_weights_recover_frequencies() -> None:
    rows = np.eye(2)
    answers = [0] * 30 + [1] * 10
    weights = fit_weights([rows] * 40, answers, penalty=0)
    probability = 1 / (1 + np.exp(weights[1] - weights[0]))
    assert probability == pytest.approx(0.75, abs=1e-3)
