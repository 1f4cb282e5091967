"""A log-linear model over candidates: p(c) ∝ exp(w · f(c)), fitted by maximum likelihood with a quadratic penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize


@dataclass(frozen=True)
class Examples:
    """Situations with their answers: features (candidates + 1, F) each, and the row that came true."""

    features: Sequence[np.ndarray]
    answers: Sequence[int]


def fit_weights(examples: Examples, *, penalty: float = 1e-4) -> np.ndarray:
    """(F,) weights, by L-BFGS; columns are taken as they are, so they should be of one scale."""
    sizes = np.array([len(rows) for rows in examples.features])
    table = np.concatenate(list(examples.features)).astype(np.float64)
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    chosen = bounds[:-1] + np.asarray(examples.answers)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    truth = table[chosen].sum(axis=0)

    def measure(weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = table @ weights
        highest = np.maximum.reduceat(scores, bounds[:-1])
        exponentials = np.exp(scores - highest[owners])
        totals = np.add.reduceat(exponentials, bounds[:-1])
        loss = (highest + np.log(totals)).sum() - scores[chosen].sum()
        gradient = (exponentials / totals[owners]) @ table - truth
        count = len(sizes)
        return loss / count + penalty * weights @ weights, gradient / count + 2 * penalty * weights

    return np.asarray(minimize(measure, np.zeros(table.shape[1]), jac=True, method="L-BFGS-B").x)
