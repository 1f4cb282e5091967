"""Approximate randomisation (Noreen 1989): is one system better than another, or was it chance?

If the two systems did not differ, it would not matter which of them a document's counts came from. So the counts of each document
change sides with probability one half, the corpus scores are computed anew, and the p-value is the share of trials whose
difference is at least as large as the real one, in either direction.
"""

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
    observed = _score_swapped(first, second, np.zeros((1, len(first)), dtype=bool))
    generator = np.random.default_rng(seed)
    extreme = dict.fromkeys(observed, 0)
    for start in range(0, trials, BLOCK):
        swap = generator.random((min(BLOCK, trials - start), len(first))) < 0.5
        for name, shuffled in _score_swapped(first, second, swap).items():
            real = np.abs(np.diff(observed[name], axis=0))
            extreme[name] += int(np.sum(np.abs(np.diff(shuffled, axis=0)) >= real - TOLERANCE))
    results = {}
    for name, count in extreme.items():
        one, other = observed[name][:, 0].tolist()
        results[name] = Comparison(to_percent(one), to_percent(other), (count + 1) / (trials + 1))
    return results


def _score_swapped(first: CorpusCounts, second: CorpusCounts, swap: np.ndarray) -> dict[str, Floats]:
    """(2, trials) F1 of both sides after the swaps, by metric; ``swap`` has shape (trials, documents)."""
    weights = swap.astype(np.float64)
    scores = {}
    for name, counts in first.by_metric.items():
        if name in second.by_metric:
            others = second.by_metric[name]
            moved = weights @ (others - counts)  # (trials, counts)
            totals = np.stack([counts.sum(axis=0) + moved, others.sum(axis=0) - moved])
            scores[name] = METRICS[name].summarise(totals)[..., 2]
    if all(name in scores for name in CONLL_METRICS):
        scores[CONLL] = np.mean([scores[name] for name in CONLL_METRICS], axis=0)
    return scores
