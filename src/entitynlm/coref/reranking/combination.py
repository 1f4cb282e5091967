"""Reranking (section 5.2): choose among a baseline's candidates by log P(R, E, L, X), or by a linear combination with its score.

The weight of log P beside the baseline's score is found by a grid search, on the CoNLL score of development documents. The grid
is in units of the ratio of spreads (how much either score varies within a list), so that it serves systems of any scale.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from entitynlm.coref.candidates.candidate_files import KBestList
from entitynlm.coref.metrics.coreference import CorpusCounts, join_counts
from entitynlm.coref.reranking.scores import complete_candidates, score_candidates
from entitynlm.errors import ConfigError
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document


@dataclass(frozen=True, eq=False)
class ScoredList:
    """The baseline's (k,) scores of k candidates, and (k,) log P of each."""

    baseline: np.ndarray
    log_probs: np.ndarray

    def combine(self, weight: float | None) -> np.ndarray:
        """(k,) the baseline's score + this weight times log P; None: log P alone."""
        if weight is not None and not math.isfinite(weight):
            raise ConfigError(f"the weight of log P is not a finite number: {weight}")
        return self.log_probs if weight is None else self.baseline + weight * self.log_probs

    def choose(self, weight: float | None) -> int:
        """Choose the best candidate; of several, the one that the baseline has first."""
        return int(np.argmax(self.combine(weight)))


def score_list(pretrained: Pretrained, document: Document, kbest: KBestList) -> ScoredList:
    """Score the candidates of one document, with singletons if the model has them."""
    clusters = complete_candidates(pretrained.encoder, kbest)
    parts = score_candidates(pretrained.get("generative"), pretrained.encoder, document, clusters)
    return ScoredList(np.array([candidate.score for candidate in kbest.candidates]), parts.sum(axis=1))


GRID = (0.0, *(sign * 2.0**power for power in np.arange(-6, 3.5, 0.5).tolist() for sign in (1.0, -1.0)))


@dataclass(frozen=True)
class SearchResult:
    """The weight of log P beside the baseline's score, and the CoNLL score that it reached on the documents searched."""

    weight: float
    dev_conll: float


def search_weight(lists: Sequence[ScoredList], counts: Sequence[CorpusCounts]) -> SearchResult:
    """Choose the weight of the grid with the best CoNLL score, of equally good ones the smallest.

    :param counts: what the metrics count in each candidate of each list.
    """
    if not lists or len(lists) != len(counts):
        raise ConfigError("a weight can't be searched without development documents and their keys")
    spread = _measure_spread(scored.log_probs for scored in lists)
    ratio = _measure_spread(scored.baseline for scored in lists) / spread if spread else 0.0
    found = []
    for weight in sorted((ratio * step for step in GRID), key=abs):
        chosen = [c.take([s.choose(weight)]) for s, c in zip(lists, counts, strict=True)]
        found.append(SearchResult(weight, join_counts(chosen).conll))
    best = max(result.dev_conll for result in found)
    return next(result for result in found if result.dev_conll >= best - 1e-9)


def _measure_spread(scores: Iterable[np.ndarray]) -> float:
    """Measure how much a score varies within lists: the root of the squared distances from the first candidate's."""
    return math.sqrt(sum(float(((values - values[0]) ** 2).sum()) for values in scores))
