"""Approximate randomisation over documents: is one coreference system better than another, or was it chance?

The scores are ratios of sums over documents, so whole documents' counts change sides, and every score is computed anew.
"""

from dataclasses import dataclass

import numpy as np

from entitynlm.coref.metrics.chain_metrics import Floats, to_percent
from entitynlm.coref.metrics.coreference import CONLL, CONLL_METRICS, METRICS, CorpusCounts
from entitynlm.errors import DataError
from entitynlm.statistics import TRIALS, Bools, randomise


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
    """Test each metric that both have counted, and the CoNLL average where its three metrics are among them.

    The same swaps serve all metrics.
    """
    if first.doc_ids != second.doc_ids:
        raise DataError("two systems can only be compared on the same documents in the same order")
    observed = _score_swapped(first, second, np.zeros((1, len(first)), dtype=np.bool_))

    def compare(swaps: Bools) -> Floats:
        return np.stack([side[1] - side[0] for side in _score_swapped(first, second, swaps).values()], axis=1)

    p_values = randomise(compare, len(first), trials=trials, seed=seed).tolist()
    return {
        name: Comparison(to_percent(float(one)), to_percent(float(other)), p_value)
        for (name, ((one,), (other,))), p_value in zip(observed.items(), p_values, strict=True)
    }


def _score_swapped(first: CorpusCounts, second: CorpusCounts, swaps: Bools) -> dict[str, Floats]:
    """Compute (2, trials) F1 of both sides after the swaps, by metric; ``swaps`` has shape (trials, documents)."""
    weights = swaps.astype(np.float64)
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
