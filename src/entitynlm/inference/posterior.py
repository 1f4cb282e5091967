"""Draw weighted analyses of a text from the posterior P(R, E, L | X), or take the proposal's best guess.

A particle filter's particles share their past. Their paths are followed back from the last word to the first, so that
what comes out is N whole analyses, of which the beginnings may be few different ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from entitynlm.inference.marginal import check_document, make_filter
from entitynlm.inference.particle_filter import FilterConfig, ParticleFilter, SegmentRecord
from entitynlm.inference.readings import Readings
from entitynlm.inference.weights import FloatArray
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.variables import Analysis
from entitynlm.model.entitynlm import EntityNetwork


@dataclass(frozen=True, eq=False)
class WeightedAnalyses:
    """N different analyses of the same T words. Their weighted mean of anything estimates its mean under P(R, E, L | X).

    :param mention_type: (T, N) R, :param entity: (T, N) E and :param remaining: (T, N) L, as in :class:`Analysis`.
    :param weights: (N,) that sum to one.
    :param log_p: (N,) log P(R, E, L, X) of each analysis, with the noise of new entities that it was drawn with.
    :param log_q: (N,) log-probability of having drawn it, from Q and P mixed (from Q alone with ``prior_share=0``).
    :param log_prob: the estimate of log P(X) that comes with them.
    """

    mention_type: np.ndarray
    entity: np.ndarray
    remaining: np.ndarray
    weights: FloatArray
    log_p: FloatArray
    log_q: FloatArray
    log_prob: float

    def __len__(self) -> int:
        return len(self.weights)

    def __getitem__(self, number: int) -> Analysis:
        return Analysis(self.mention_type[:, number], self.entity[:, number], self.remaining[:, number])

    def best(self) -> Analysis:
        """The analysis that is most probable under P."""
        return self[int(np.argmax(self.log_p))]

    def span_posterior(self) -> dict[tuple[int, int], float]:
        """The probability of each span (start, end) that is a mention in some analysis."""
        found: dict[tuple[int, int], float] = {}
        before = np.vstack([np.ones((1, len(self)), dtype=self.remaining.dtype), self.remaining[:-1]])
        starts, owners = np.nonzero((self.mention_type > 0) & (before == 1))
        ends = np.minimum(starts + self.remaining[starts, owners], len(self.remaining))
        for start, end, owner in zip(starts.tolist(), ends.tolist(), owners.tolist(), strict=True):
            found[start, end] = found.get((start, end), 0.0) + float(self.weights[owner])
        return found

    @cached_property
    def new_entities(self) -> np.ndarray:
        """(T, N) the word at which the word's entity was first mentioned, -1 outside of mentions.

        Entities are numbered in each analysis by itself; the word of the first mention is a name that analyses share.
        """
        new_entities = np.full(self.entity.shape, -1, dtype=np.int64)
        place = np.zeros((int(self.entity.max(initial=0)) + 1, len(self)), dtype=np.int64) - 1
        for t, entities in enumerate(self.entity):
            inside = np.flatnonzero(entities)
            numbers = entities[inside]
            new = place[numbers, inside] < 0
            place[numbers[new], inside[new]] = t
            new_entities[t, inside] = place[numbers, inside]
        return new_entities

    def link_posterior(self, first: int, second: int) -> float:
        """The probability that two words are in mentions of one entity."""
        one, other = self.new_entities[[first, second]]
        return float(self.weights[(one >= 0) & (one == other)].sum())


def find_best_sample(
    model: EntityNetwork,
    proposal: EntityNetwork,
    document: EncodedDocument,
    *,
    samples: int,
    seed: int = 0,
    readings: Readings | None = None,
) -> Analysis:
    """Draw so many analyses from the proposal alone and take the one that is most probable under P.

    Not from the posterior's particles: those are led away, word by word, to whatever explains the words so far, which is good
    for sums over analyses and bad for a single one (LitBank dev, 20 samples: mention F1 53 against 79).
    """
    options: dict[str, Any] = {"method": "importance", "prior_share": 0.0, "readings": readings}
    return sample_analyses(model, proposal, document, particles=samples, seed=seed, **options).best()


def sample_analyses(
    model: EntityNetwork,
    proposal: EntityNetwork,
    document: EncodedDocument,
    *,
    readings: Readings | None = None,
    **options: Any,
) -> WeightedAnalyses:
    """Draw weighted analyses of a document's words; its annotation is not looked at.

    :param readings: of the document's words, where they were read before.
    :param options: those of :func:`entitynlm.inference.marginal.make_filter`.
    """
    particle_filter = make_filter(model, proposal, document, keep=True, **options)
    for chunk in (readings or Readings(document)).read(model, proposal):
        log_evidence = particle_filter.advance(chunk, end=len(document))
    mention_type, entity, remaining = trace_paths(particle_filter.records)
    figures = particle_filter.shares, particle_filter.log_p, particle_filter.log_q, float(log_evidence[0, -1])
    return WeightedAnalyses(mention_type, entity, remaining, *figures)


def decode_greedy(
    proposal: EntityNetwork, document: EncodedDocument, *, readings: Readings | None = None
) -> tuple[Analysis, float]:
    """Take Q's most probable choice at every step; return the analysis and its log Q."""
    check_document(document)
    seed = np.random.SeedSequence(0)  # nothing is drawn
    particle_filter = ParticleFilter(proposal, proposal, FilterConfig(greedy=True, keep=True), seed)
    for chunk in (readings or Readings(document)).read(proposal):
        particle_filter.advance(chunk, end=len(document))
    best = Analysis(*(path[:, 0] for path in trace_paths(particle_filter.records)))
    return best, float(particle_filter.log_q[0])


def trace_paths(records: Sequence[SegmentRecord]) -> list[np.ndarray]:
    """Give (T, N) R, E and L of the paths that lead to the last particles."""
    lineage = np.arange(records[-1].entity.shape[1])
    segments = []
    for *choices, origin, parents in reversed(records):
        lineage = lineage if parents is None else parents[lineage]
        segments.append([values[:, lineage] for values in choices])
        lineage = origin[lineage]
    return [np.concatenate(path) for path in zip(*reversed(segments), strict=True)]
