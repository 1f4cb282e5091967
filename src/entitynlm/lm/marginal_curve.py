"""Perplexity against the number of samples N, for both estimators and both proposals, with error bars.

A point is what one run with N samples gives: the mean over independent runs, and their standard deviation. (Table 1 takes the
log-mean-exp of all its repeats, which is as good as a run with all their samples.) The estimate of P(X) has no bias, that of its
logarithm has, so every curve falls towards the truth from above; the sooner it is flat, the better the estimator.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from entitynlm.errors import ConfigError, DataError
from entitynlm.inference.marginal import METHODS, Method
from entitynlm.lm.evaluation import Sampling
from entitynlm.lm.scores import to_perplexity
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress, track


@dataclass(frozen=True)
class CurvePoint:
    """One estimator with N samples: perplexities of independent runs over the whole corpus, mean effective sample size."""

    method: str
    proposal: str
    particles: int
    tokens: int
    perplexities: tuple[float, ...]
    ess: float

    @property
    def mean(self) -> float:
        return statistics.fmean(self.perplexities)

    @property
    def standard_deviation(self) -> float:
        """Of one run (nan where there is only one)."""
        return statistics.stdev(self.perplexities) if len(self.perplexities) > 1 else math.nan

    def to_dict(self) -> dict[str, Any]:
        deviation = self.standard_deviation if math.isfinite(self.standard_deviation) else None
        values = {**asdict(self), "perplexities": list(self.perplexities)}
        return {**values, "mean": self.mean, "standard_deviation": deviation}


def trace_curve(
    pretrained: Pretrained,
    documents: Sequence[EncodedDocument],
    *,
    particles: Sequence[int] = (1, 3, 10, 30, 100),
    methods: Sequence[Method] = METHODS,
    proposals: Sequence[str] | None = None,
    sampling: Sampling | None = None,
    progress: Progress = SILENT,
) -> list[CurvePoint]:
    """All points, by method, proposal (default: all that the model has) and N; ``sampling`` is what they have in common."""
    documents = [document for document in documents if len(document)]
    if not documents:
        raise DataError("the documents have no words")
    if not particles or min(particles) < 1:
        raise ConfigError("a curve needs numbers of samples from 1 on")
    model = pretrained.get("generative")
    if proposals is None:
        proposals = [name for name in ("causal", "lookahead") if name in pretrained.networks]
    tokens = sum(map(len, documents))
    points = []
    for method, name, count in product(methods, proposals, particles):
        own = replace(sampling or Sampling(), particles=count, method=method)
        estimates = own.estimate(model, pretrained.get(name), documents)
        found = list(track(progress, f"{method}, {name} Q, N = {count}", estimates, len(documents)))
        runs = np.sum([estimate.repeats for estimate in found], axis=0)
        perplexities = tuple(to_perplexity(float(run), tokens) for run in runs)
        ess = float(np.mean([estimate.ess for estimate in found]))
        points.append(CurvePoint(method, name, count, tokens, perplexities, ess))
    return points
