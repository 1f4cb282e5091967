"""Resampling: which particles live on, and how often.

Each scheme gives particle i on average N·w_i offspring, which is what keeps the estimate of P(X) unbiased; they
differ in how far the counts stray from that average. ``systematic`` uses one random number and strays least in
practice, ``stratified`` one per stratum, ``multinomial`` draws every offspring independently.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from entitynlm.errors import ConfigError

Scheme = Literal["systematic", "stratified", "multinomial"]
SCHEMES: tuple[Scheme, ...] = ("systematic", "stratified", "multinomial")


def resample(
    weights: npt.ArrayLike, generator: np.random.Generator, *, scheme: Scheme = "systematic"
) -> npt.NDArray[np.int64]:
    """(N,) the parent of each new particle, in ascending order.

    :param weights: (N,) weights that sum to one.
    """
    weights = np.asarray(weights, dtype=np.float64)
    count = len(weights)
    if scheme == "systematic":
        points = (np.arange(count) + generator.random()) / count
    elif scheme == "stratified":
        points = (np.arange(count) + generator.random(count)) / count
    elif scheme == "multinomial":
        points = np.sort(generator.random(count))
    else:
        raise ConfigError(f"there is no resampling scheme {scheme!r}; choose one of {', '.join(SCHEMES)}")
    heights = np.cumsum(weights)
    # Dividing by the last height puts it at exactly one, so that rounding can't push a point beyond it.
    parents = np.searchsorted(heights / heights[-1], points, side="right")
    return np.minimum(parents, np.flatnonzero(weights)[-1]).astype(np.int64)
