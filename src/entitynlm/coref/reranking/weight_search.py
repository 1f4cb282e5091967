"""Grid search for the weights of a combination, on the CoNLL score of development documents.

The weight of the baseline is one, and the others are multiples of the ratio of spreads (how much the baseline's score and the
other one vary within a list), so that one grid serves systems of any scale. One weight is searched along the whole grid; several,
coordinate by coordinate from several starting points, which is a grid search that does not visit every corner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from entitynlm.coref.metrics.coreference import CONLL_METRICS, METRICS, CorpusCounts
from entitynlm.coref.reranking.combination import BASELINE, Combination, ScoredList
from entitynlm.errors import ConfigError

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
