"""Reranking (section 5.2): choose among a baseline's candidates by log P(R, E, L, X), alone or added to the baseline's score.

P sees outermost mentions on its own words (``docs/decisions/002``), so that several candidates may be the same analysis to it: a
*view*.

The weight of log P beside the baseline's score is found by a grid search for the best CoNLL score on development documents. The
grid is in units of the ratio of spreads (how much either score varies within a list), so that it fits systems of any scale.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from entitynlm.coref.candidates.candidate_files import Clusters, KBestList
from entitynlm.coref.metrics.coreference import CorpusCounts, join_counts
from entitynlm.errors import ConfigError, ModelError
from entitynlm.inference.scoring import score_together
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.variables import analyse, select_mentions
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document, Span

PARTS = ("r", "e", "l", "x")


def score_candidates(
    network: EntityNetwork, encoder: Encoder, document: Document, candidates: Sequence[Clusters]
) -> np.ndarray:
    """(candidates, 4) log P of R, E, L and X (zero for a proposal); each view is a particle of one population (decision 060)."""
    words, analyses, view_of = view_candidates(encoder, document, candidates)
    parts = np.zeros((analyses.shape[1], len(PARTS)))
    if len(words):
        parts = score_together(network, words, analyses)
    if not np.isfinite(parts).all():
        raise ModelError("the model gives a candidate no finite probability; its weights are out of bounds")
    found: np.ndarray = parts[view_of]
    return found


def view_candidates(
    encoder: Encoder, document: Document, candidates: Sequence[Clusters]
) -> tuple[EncodedDocument, np.ndarray, np.ndarray]:
    """Map every candidate's entities to the model's words, and merge candidates that are the same analysis to the model.

    :return: the words, (3, V, T) R, E and L of the V different analyses, and (candidates,) the view of each candidate.
    """
    if encoder.types:
        raise ConfigError(
            "this model tells types of entities apart, and candidates have no types; rerank with a model without types"
        )
    words = encoder.prepare(document)
    numbers: dict[bytes, int] = {}
    analyses: list[np.ndarray] = []
    view_of = np.zeros(len(candidates), dtype=np.int64)
    for row, clusters in enumerate(candidates):
        mentions, _ = select_mentions(document.with_clusters(clusters), singletons=encoder.singletons)
        laid_out, _, _ = analyse(mentions, words, max_length=encoder.max_length)
        view = np.stack(laid_out)
        view_of[row] = numbers.setdefault(view.tobytes(), len(numbers))
        if len(numbers) > len(analyses):
            analyses.append(view)
    return encoder.encode_words(document, words), np.stack(analyses, axis=1), view_of


def add_singletons(candidates: Sequence[Clusters], mentions: Sequence[Span] = ()) -> list[Clusters]:
    """Add the mentions that candidates leave out as singleton entities, for a model that was trained with singletons."""
    spans = mentions or [span for clusters in candidates for cluster in clusters for span in cluster]
    ordered = sorted(set(spans), key=lambda span: (span[0], -span[1]))

    def complete(clusters: Clusters) -> Clusters:
        taken = {token for cluster in clusters for span in cluster for token in range(*span)}
        added = []
        for span in ordered:
            if taken.isdisjoint(range(*span)):
                taken.update(range(*span))
                added.append((span,))
        return (*clusters, *added)

    completed = {clusters: complete(clusters) for clusters in dict.fromkeys(candidates)}
    return [completed[clusters] for clusters in candidates]


def complete_candidates(encoder: Encoder, kbest: KBestList) -> list[Clusters]:
    """Return a list's candidates as the model sees them: with singletons if it was trained with singletons."""
    clusters = [candidate.clusters for candidate in kbest.candidates]
    return add_singletons(clusters, kbest.mentions) if encoder.singletons == "keep" else clusters


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
        """Choose the best candidate; among equal ones the first in the baseline's order."""
        return int(np.argmax(self.combine(weight)))


def score_list(pretrained: Pretrained, document: Document, kbest: KBestList) -> ScoredList:
    """Score the candidates of one document, with singletons if the model was trained with them."""
    clusters = complete_candidates(pretrained.encoder, kbest)
    parts = score_candidates(pretrained.get("generative"), pretrained.encoder, document, clusters)
    return ScoredList(np.array([candidate.score for candidate in kbest.candidates]), parts.sum(axis=1))


GRID = (0.0, *(sign * 2.0**power for power in np.arange(-6, 3.5, 0.5).tolist() for sign in (1.0, -1.0)))


@dataclass(frozen=True)
class SearchResult:
    """The weight of log P beside the baseline's score, and the CoNLL score with it on the documents searched."""

    weight: float
    dev_conll: float


def search_weight(lists: Sequence[ScoredList], counts: Sequence[CorpusCounts]) -> SearchResult:
    """Choose the weight of the grid with the best CoNLL score; among equally good ones the smallest.

    :param counts: metric counts of each candidate of each list.
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
