"""Approximate randomisation (Noreen 1989): is one system better than another, or were the documents kind to
it?

If the two systems were of one kind, it would not matter which of them a document's counts came from. So the
counts of each document change sides with probability one half, the corpus scores are computed anew, and the
p-value is the share of trials whose difference is at least as large as the real one, in either direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from entitynlm.coref.metrics.chain_metrics import Floats, to_percent
from entitynlm.coref.metrics.coreference import CONLL, CONLL_METRICS, METRICS, CorpusCounts
from entitynlm.errors import ConfigError, DataError

TRIALS = 10_000
TOLERANCE = 1e-12  # sums in another order are the same difference
BLOCK = 1024  # trials at a time, so that a corpus of thousands of documents fits into memory


@dataclass(frozen=True)
class Comparison:
    """Two systems on one figure: their F1 in percent, the difference (second - first), the p-value."""

    first: float
    second: float
    p_value: float

    @property
    def difference(self) -> float:
        return self.second - self.first


def compare_systems(
    first: CorpusCounts, second: CorpusCounts, *, trials: int = TRIALS, seed: int = 0
) -> dict[str, Comparison]:
    """Test each metric that both have counted, and the CoNLL average where its three metrics are among them."""
    if trials < 1:
        raise ConfigError(f"a randomisation test needs at least one trial, not {trials}")
    if first.doc_ids != second.doc_ids:
        raise DataError("two systems can only be compared on the same documents in the same order")
    names = [name for name in first.by_metric if name in second.by_metric]
    observed_first = _score_totals({n: first.by_metric[n].sum(axis=0) for n in names})
    observed_second = _score_totals({n: second.by_metric[n].sum(axis=0) for n in names})
    generator = np.random.default_rng(seed)
    extreme = dict.fromkeys(observed_first, 0)
    for start in range(0, trials, BLOCK):
        swap = generator.random((min(BLOCK, trials - start), len(first))) < 0.5
        shuffled_first, shuffled_second = _shuffle(first, second, names, swap)
        for name in extreme:
            real = abs(observed_second[name] - observed_first[name])
            extreme[name] += int(
                np.sum(np.abs(shuffled_second[name] - shuffled_first[name]) >= real - TOLERANCE)
            )
    return {
        name: Comparison(
            to_percent(float(observed_first[name])),
            to_percent(float(observed_second[name])),
            (extreme[name] + 1) / (trials + 1),
        )
        for name in extreme
    }


def _shuffle(
    first: CorpusCounts, second: CorpusCounts, names: list[str], swap: np.ndarray
) -> tuple[Mapping[str, Floats], Mapping[str, Floats]]:
    """F1 of both sides after the swaps; ``swap`` has shape (trials, documents), results (trials,)."""
    weights = swap.astype(np.float64)
    totals_first: dict[str, Floats] = {}
    totals_second: dict[str, Floats] = {}
    for name in names:
        moved = weights @ (second.by_metric[name] - first.by_metric[name])  # (trials, counts)
        totals_first[name] = first.by_metric[name].sum(axis=0) + moved
        totals_second[name] = second.by_metric[name].sum(axis=0) - moved
    return _score_totals(totals_first), _score_totals(totals_second)


def _score_totals(totals: Mapping[str, Floats]) -> dict[str, Floats]:
    scores = {name: METRICS[name].summarise(counts)[..., 2] for name, counts in totals.items()}
    if all(name in scores for name in CONLL_METRICS):
        scores[CONLL] = np.mean([scores[name] for name in CONLL_METRICS], axis=0)
    return scores
