"""Reranking (section 5.2): choose among a baseline's candidates by log P(R, E, L, X), or by a linear combination with its score.

What a combination weighs is called by name: ``baseline`` is the baseline's own score, ``P`` is log P(R, E, L, X), ``P.r``,
``P.e``, ``P.l`` and ``P.x`` are its parts, ``causal``, ``causal.e`` … the same of the proposal (which has no x).

The weight of log P is found by a grid search, on the CoNLL score of development documents. The weight of the baseline is one, and
that of P a multiple of the ratio of spreads (how much either score varies within a list), so that one grid serves systems of any
scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np

from entitynlm.coref.candidates.candidate_files import KBestList
from entitynlm.coref.metrics.coreference import CorpusCounts, join_counts
from entitynlm.coref.reranking.scores import PARTS, complete_candidates, score_candidates
from entitynlm.errors import ConfigError
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document

BASELINE = "baseline"
MODES = {"P": "generative", "causal": "causal"}


@dataclass(frozen=True, eq=False)
class ScoredList:
    """The baseline's (k,) scores of k candidates and, by a network's short name, (k, 4) log-probabilities of R, E, L and X."""

    baseline: np.ndarray
    parts: Mapping[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.baseline)

    def feature(self, name: str) -> np.ndarray:
        """(k,) the values of one name (see the module's text)."""
        if name == BASELINE:
            return self.baseline
        network, _, part = name.partition(".")
        if network not in self.parts or (part and part not in PARTS):
            raise ConfigError(
                f"there is no score {name!r}; this model gives {BASELINE}, "
                + ", ".join(f"{known} ({known}.r, {known}.e, …)" for known in self.parts)
            )
        values = self.parts[network]
        found: np.ndarray = values[:, PARTS.index(part)] if part else values.sum(axis=1)
        return found


@dataclass(frozen=True)
class Combination:
    """A linear combination: the weight of each name."""

    weights: Annotated[Mapping[str, float], msgspec.Meta(min_length=1)]

    def __post_init__(self) -> None:
        for name, weight in self.weights.items():
            if not math.isfinite(weight):
                raise ConfigError(f"the weight of {name!r} is not a finite number")

    def score(self, scored: ScoredList) -> np.ndarray:
        total = np.zeros(len(scored))
        for name, weight in self.weights.items():
            total += weight * scored.feature(name)
        return total

    def choose(self, scored: ScoredList) -> int:
        """The best candidate; of several, the one that the baseline has first."""
        return int(np.argmax(self.score(scored)))


BY_MODEL = Combination({"P": 1.0})


def list_networks(pretrained: Pretrained) -> dict[str, str]:
    """The networks of a model that can score candidates: mode by short name."""
    return {name: mode for name, mode in MODES.items() if mode in pretrained.networks}


def score_list(
    pretrained: Pretrained, document: Document, kbest: KBestList, names: Iterable[str] | None = None
) -> ScoredList:
    """Score the candidates of one document, with singletons if the model has them.

    :param names: what a combination weighs; None: the scores of all networks.
    """
    clusters = complete_candidates(pretrained.encoder, kbest)
    networks = list_networks(pretrained)
    if names is not None:
        wanted = dict.fromkeys(name.partition(".")[0] for name in names if name != BASELINE)
        networks = {name: MODES.get(name, name) for name in wanted}
    parts = {
        name: score_candidates(pretrained.get(mode), pretrained.encoder, document, clusters)
        for name, mode in networks.items()
    }
    return ScoredList(np.array([candidate.score for candidate in kbest.candidates]), parts)


GRID = (0.0, *(sign * 2.0**power for power in np.arange(-6, 3.5, 0.5).tolist() for sign in (1.0, -1.0)))


@dataclass(frozen=True)
class SearchResult:
    """The weight of log P beside the baseline's score, and the CoNLL score that it reached on the documents searched."""

    weight: float
    dev_conll: float

    @property
    def combination(self) -> Combination:
        return Combination({BASELINE: 1.0, "P": self.weight})


def search_weight(lists: Sequence[ScoredList], counts: Sequence[CorpusCounts]) -> SearchResult:
    """Choose the weight of the grid with the best CoNLL score, of equally good ones the smallest.

    :param counts: what the metrics count in each candidate of each list.
    """
    if not lists or len(lists) != len(counts):
        raise ConfigError("a weight can't be searched without development documents and their keys")
    spreads = [_measure_spread(scored.feature(name) for scored in lists) for name in (BASELINE, "P")]
    ratio = spreads[0] / spreads[1] if spreads[1] else 0.0
    found = []
    for weight in sorted((ratio * step for step in GRID), key=abs):
        combination = Combination({BASELINE: 1.0, "P": weight})
        chosen = [c.take([combination.choose(s)]) for s, c in zip(lists, counts, strict=True)]
        found.append(SearchResult(weight, join_counts(chosen).conll))
    best = max(result.dev_conll for result in found)
    return next(result for result in found if result.dev_conll >= best - 1e-9)


def _measure_spread(scores: Iterable[np.ndarray]) -> float:
    """Measure how much a score varies within lists: the root of the squared distances from the first candidate's."""
    return math.sqrt(sum(float(((values - values[0]) ** 2).sum()) for values in scores))
