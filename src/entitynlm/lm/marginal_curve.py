"""Perplexity against the number of samples N, for both estimators and both proposals, with error bars.

A point is what one run with N samples gives: the mean over independent runs, and their standard deviation. (Table 1 takes the
log-mean-exp of all its repeats, which is as good as a run with all their samples.) The estimate of P(X) has no bias, that of its
logarithm has, so every curve falls towards the truth from above; the sooner it is flat, the better the estimator.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

import numpy as np

from entitynlm.errors import ConfigError, DataError
from entitynlm.inference.marginal import METHODS, PRIOR_SHARE, Method, estimate_documents
from entitynlm.lm.perplexity import to_perplexity
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress, track


@dataclass(frozen=True)
class CurvePoint:
    """One estimator with N samples.

    :param perplexities: of independent runs over the whole corpus.
    :param ess: mean effective sample size over documents.
    """

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

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> CurvePoint:
        try:
            return cls(
                str(values["method"]),
                str(values["proposal"]),
                int(values["particles"]),
                int(values["tokens"]),
                tuple(float(value) for value in values["perplexities"]),
                float(values["ess"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"this is not a point of a curve ({error!r})",
                found=str(values),
                expected="method, proposal, …",
            ) from error


def trace_curve(
    pretrained: Pretrained,
    documents: Sequence[EncodedDocument],
    *,
    particles: Sequence[int] = (1, 3, 10, 30, 100),
    methods: Sequence[Method] = METHODS,
    proposals: Sequence[str] | None = None,
    repeats: int = 4,
    prior_share: float = PRIOR_SHARE,
    seed: int = 0,
    workers: int = 1,
    progress: Progress = SILENT,
) -> list[CurvePoint]:
    """All points, by method, proposal and N; by default with every proposal that the model has."""
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
        estimates = estimate_documents(
            model,
            pretrained.get(name),
            documents,
            particles=count,
            repeats=repeats,
            method=method,
            prior_share=prior_share,
            seed=seed,
            workers=workers,
        )
        found = list(track(progress, f"{method}, {name} Q, N = {count}", estimates, len(documents)))
        runs = np.sum([estimate.repeats for estimate in found], axis=0)
        perplexities = tuple(to_perplexity(float(run), tokens) for run in runs)
        ess = float(np.mean([estimate.ess for estimate in found]))
        points.append(CurvePoint(method, name, count, tokens, perplexities, ess))
    return points
