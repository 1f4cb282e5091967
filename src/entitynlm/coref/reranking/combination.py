"""Reranking (section 5.2): choose among a baseline's candidates by log P(R, E, L, X), or by a linear combination with its score.

What a combination weighs is called by name: ``baseline`` is the baseline's own score, ``P`` is log P(R, E, L, X), ``P.r``,
``P.e``, ``P.l`` and ``P.x`` are its parts, ``causal``, ``causal.e`` … the same of the proposal (which has no x).

Weights are found by a grid search, on the CoNLL score of development documents. The weight of the baseline is one, and the others
are multiples of the ratio of spreads (how much the baseline's score and the other one vary within a list), so that one grid
serves systems of any scale. Several weights are searched coordinate by coordinate from several starting points.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import msgspec
import numpy as np

from entitynlm.coref.candidates.candidate_files import KBestList
from entitynlm.coref.metrics.coreference import CONLL_METRICS, METRICS, CorpusCounts
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
ROUNDS = 6


@dataclass(frozen=True)
class SearchResult:
    """The best weights of a search, their CoNLL score on the documents searched, and how many settings were tried."""

    weights: Mapping[str, float]
    dev_conll: float
    tried: int

    @property
    def combination(self) -> Combination:
        return Combination(self.weights)


def search_weights(
    lists: Sequence[ScoredList], counts: Sequence[CorpusCounts], names: Sequence[str]
) -> SearchResult:
    """The weights of ``names`` beside the baseline's with the best CoNLL score; ``counts`` has those of each candidate."""
    if not lists or len(lists) != len(counts):
        raise ConfigError("weights can't be searched without development documents and their keys")
    space = _Space(lists, counts, names)
    weights, best = np.zeros(len(names)), space.measure(np.zeros((1, len(names))))[0]
    starts = [np.zeros(len(names))]
    if len(names) > 1:  # also from the best common weight: the sum of the parts
        common = np.array(GRID)[:, None] * np.ones(len(names))
        starts.append(common[space.best_row(common)])
    for start in starts:
        found, value = _climb(space, start)
        if value > best:
            weights, best = found, value
    real = zip(names, (weights * space.ratios).tolist(), strict=True)
    return SearchResult({BASELINE: 1.0, **dict(real)}, float(best), space.tried)


def _climb(space: _Space, start: np.ndarray) -> tuple[np.ndarray, float]:
    """One coordinate after the other along the grid, as long as that helps."""
    weights, best = start.copy(), space.measure(start[None])[0]
    for _ in range(ROUNDS):
        before = best
        for coordinate in range(len(weights)):
            tries = np.repeat(weights[None], len(GRID), axis=0)
            tries[:, coordinate] = GRID
            row = space.best_row(tries)
            value = space.measure(tries[row : row + 1])[0]
            if value > best:
                weights, best = tries[row], value
        if best == before:
            break
    return weights, float(best)


class _Space:
    """All lists as one padded array, so that a hundred settings are tried at once."""

    def __init__(
        self, lists: Sequence[ScoredList], counts: Sequence[CorpusCounts], names: Sequence[str]
    ) -> None:
        size = max(len(scored) for scored in lists)
        self.values = np.zeros((len(lists), size, 1 + len(names)))
        self.closed = np.zeros((len(lists), size), dtype=bool)  # beyond the end of a list
        self.counts = {name: np.zeros((len(lists), size, 4)) for name in CONLL_METRICS}
        for row, (scored, counted) in enumerate(zip(lists, counts, strict=True)):
            features = [scored.feature(name) for name in (BASELINE, *names)]
            self.values[row, : len(scored)] = np.stack([f - f[0] for f in features], axis=1)
            self.closed[row, len(scored) :] = True
            for name in CONLL_METRICS:
                self.counts[name][row, : len(scored)] = counted.by_metric[name]
        spread = np.sqrt((self.values**2).mean(axis=(0, 1)))
        usable = (spread[1:] > 0) & (spread[0] > 0)
        self.ratios = np.where(usable, spread[0] / np.where(usable, spread[1:], 1), 0.0)
        self.values[:, :, 1:] *= self.ratios
        self.tried = 0

    def measure(self, weights: np.ndarray) -> np.ndarray:
        """(settings,) CoNLL scores in percent of weights (settings, names)."""
        combined = self.values[:, :, :1] + self.values[:, :, 1:] @ weights.T  # (documents, k, settings)
        combined[self.closed] = -np.inf
        chosen = combined.argmax(axis=1)  # (documents, settings)
        documents = np.arange(len(chosen))[:, None]
        self.tried += len(weights)
        f1 = [
            METRICS[name].summarise(self.counts[name][documents, chosen].sum(axis=0))[:, 2]
            for name in CONLL_METRICS
        ]
        scores: np.ndarray = 100 * np.mean(f1, axis=0)
        return scores

    def best_row(self, weights: np.ndarray) -> int:
        """The best of several settings; of equally good ones, that with the smallest weights."""
        scores = self.measure(weights)
        best = np.flatnonzero(scores >= scores.max() - 1e-9)
        return int(best[np.argmin(np.abs(weights[best]).sum(axis=1))])
