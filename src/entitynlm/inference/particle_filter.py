"""A population of particles on its way through one text: importance sampling and the particle filter differ in one step.

The particles go segment by segment. Over a segment they make their choices (``sampler``), then their words are
scored (``word_scorer``), which gives every particle's weight after every word:

    w_t = Π_{s ≤ t} P(r_s, e_s, l_s, x_s | past) / Q(r_s, e_s, l_s | past, X)

The mean weight after word t estimates P(x_1 … x_t) without bias. The particle filter looks at the weights after each
segment and, when too few particles carry them, resamples: the mean so far is kept as a factor, heavy particles are
copied, light ones dropped, and all weights start again at one. Importance sampling never does. Nothing else differs.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from entitynlm.errors import InferenceError
from entitynlm.inference import weights
from entitynlm.inference.particles import Choices, Population, Segment, make_choices
from entitynlm.inference.readings import Chunk
from entitynlm.inference.sampler import advance
from entitynlm.inference.softmax_scorer import SoftmaxWordScorer
from entitynlm.inference.state_tables import NetworkArrays
from entitynlm.inference.weights import FloatArray
from entitynlm.inference.word_cache import WordCache
from entitynlm.inference.word_scorer import ClassWordScorer, WordScorer
from entitynlm.model.encoding.copying import AHEAD, OPENING, get_rarity
from entitynlm.model.encoding.tokenizer import FREQUENT
from entitynlm.model.entitynlm import EntityNetwork

IMPORTANCE_WORDS = 128
"""Words per segment where nobody looks at the weights in between: enough for matrix products to pay off."""

FilterType = TypeVar("FilterType", bound="ParticleFilter")

_FREE = np.zeros((0, 0, 0), dtype=np.int64)


@dataclass(frozen=True)
class FilterConfig:
    """How a particle filter goes through a text.

    :param words: words per segment.
    :param share: how much of P's own distribution is mixed into Q's, at every choice.
    :param threshold: resample where the effective sample size is below this share of the particles (0: never).
    """

    words: int
    share: float = 0.0
    threshold: float = 0.0


class SegmentRecord(NamedTuple):
    """What the particles chose over one segment, (S, N) each, and whose copies they became after it (None: nobody's)."""

    mention_type: np.ndarray
    entity: np.ndarray
    remaining: np.ndarray
    parents: np.ndarray | None


class ParticleFilter:
    """One population and its weights.

    A network that is its own proposal (``proposal is model``) is scored once, without the noise of new entities.

    :param seed: three independent streams are made from it: for choices, for new entities and for resampling. So the
        choices until the first resampling do not depend on whether and when there is one.
    :param keep: keep all choices, so that the particles' paths can be followed back.
    :param greedy: take Q's best choice everywhere instead of drawing.
    :param cache_share: share of a word cache in P's words (``word_cache``).
    """

    def __init__(
        self,
        model: EntityNetwork,
        proposal: EntityNetwork,
        *,
        particles: int,
        seed: np.random.SeedSequence,
        filter_config: FilterConfig,
        keep: bool = False,
        greedy: bool = False,
        cache_share: float = 0.0,
    ) -> None:
        self.model, self.proposal = model, proposal
        self.count = particles
        self.filter_config = filter_config
        self.keep, self.greedy = keep, greedy
        streams = [np.random.default_rng(child) for child in seed.spawn(3)]
        self._for_choices, self._for_new_entities, self._for_parents = streams
        self._population: Population | None = None
        self._words = make_word_scorer(model) if model.config.mode == "generative" else None
        self.position = 0
        self._last_word = OPENING
        self._cache = WordCache(cache_share) if cache_share else None
        self.log_evidence = 0.0  # of the words until the last resampling
        self.log_weights = np.zeros(particles)  # since then
        self.parts = np.zeros((4, particles))  # log P of R, E, L and X of each particle's whole path
        self.log_q = np.zeros(particles)
        self.sample_sizes: list[float] = []  # effective sample size after each segment
        self.resamplings = 0
        self.records: list[SegmentRecord] = []

    def advance(self, chunk: Chunk, *, end: int, forced: np.ndarray | None = None) -> FloatArray:
        """Go through a chunk; returns (T,) log of the estimate of P(x_1 … x_t) after each of its words.

        :param end: number of words of the whole text.
        :param forced: (T, N, 3) the R, E and L that each particle must choose.
        """
        alone = self.model is self.proposal
        if self._population is None:
            copying = self.model.config.copying or self.proposal.config.copying
            proposal = None if alone else chunk.proposal
            self._population = Population(chunk.model, proposal, self.count, copying=copying)
        P, Q = NetworkArrays.of_tables(chunk.model), NetworkArrays.of_tables(chunk.proposal)
        Q = Q._replace(sigma=0.0)  # Q need only be *a* distribution, the same whenever it is asked
        P = Q if alone else P
        words = chunk.model.words
        log_evidence = np.empty(len(words))
        sentence = words.sentence.astype(np.int64)
        x = np.append(words.x, np.full(AHEAD, OPENING)).astype(np.int64)
        rarity = np.append(get_rarity(words), np.full(AHEAD, FREQUENT)).astype(np.int64)
        for start in range(0, len(words), self.filter_config.words):
            stop = min(start + self.filter_config.words, len(words))
            choices = make_choices(stop - start, self.count)
            self._population.reserve(stop - start)
            seen = slice(start, stop + AHEAD)
            segment = Segment(
                start, self.position, end, sentence[start:stop], self._last_word, x[seen], rarity[seen]
            )
            advance(
                self._population.particles,
                P, self._population.model_states.rows, Q, self._population.proposal_states.rows, self.filter_config.share,
                segment,
                self._for_choices.random((stop - start, self.count, 3)),
                _FREE if forced is None else np.ascontiguousarray(forced[start:stop], dtype=np.int64),
                self.greedy, self._for_new_entities, choices,
            )  # fmt: skip
            log_words = self._score_words(chunk, segment, choices)
            log_evidence[start:stop] = self._weigh(choices, log_words)
            self.position += stop - start
            self._last_word = int(x[stop - 1])
            self.sample_sizes.append(float(weights.effective_sample_size(self.log_weights)))
            parents = self._resample() if self.position < end else None
            if self.keep:
                self.records.append(SegmentRecord(*choices[:3], parents))
            self._compact()
        return log_evidence

    def _compact(self, *, always: bool = False) -> None:
        kept = self.population.compact(always=always)
        if kept is not None and self._words is not None:
            self._words.keep(kept)

    def _score_words(self, chunk: Chunk, segment: Segment, choices: Choices) -> FloatArray:
        if self._words is None:
            return np.zeros((len(segment.sentence), self.count))
        assert self._population is not None
        log_words = self._words.score(self._population.model_states, chunk.model, segment, choices)
        return log_words if self._cache is None else self._cache.mix(log_words, segment.x[: len(log_words)])

    def _weigh(self, choices: Choices, log_words: FloatArray) -> FloatArray:
        """Take a segment's factors into the weights; returns the estimate after each word."""
        self.parts[:3] += choices.log_p.sum(1)
        self.parts[3] += log_words.sum(0)
        self.log_q += choices.log_q.sum(0)
        log_p = choices.log_p.sum(0) + log_words
        log_means: FloatArray = weights.accumulate_weights(self.log_weights, log_p - choices.log_q)
        if not np.isfinite(log_means[-1]):
            raise InferenceError(
                f"all {self.count} particles have probability zero (or none that is a number) near word {self.position}; "
                "the model's parameters are probably damaged"
            )
        return self.log_evidence + log_means

    def _resample(self) -> np.ndarray | None:
        """Resample where too few particles carry the weight; returns the parents."""
        if self.sample_sizes[-1] >= self.filter_config.threshold * self.count:
            return None
        assert self._population is not None
        parents = weights.resample(weights.normalise(self.log_weights), self._for_parents)
        self.log_evidence += float(weights.log_mean_exp(self.log_weights))
        self._population.copy(parents)
        self.parts, self.log_q = self.parts[:, parents], self.log_q[parents]
        self.log_weights = np.zeros(self.count)
        self.resamplings += 1
        return parents

    def fork(self: FilterType) -> FilterType:
        """A filter that goes on from here by itself, with the same random numbers to come; this one is not changed by it."""
        other = copy.copy(self)
        other._for_choices, other._for_new_entities, other._for_parents = (
            copy.deepcopy(stream) for stream in (self._for_choices, self._for_new_entities, self._for_parents)
        )
        if self._population is not None:
            self._compact(always=True)
            other._population = self._population.fork()
        other._words = None if self._words is None else self._words.fork()
        other._cache = copy.deepcopy(self._cache)
        for name in ("log_weights", "parts", "log_q"):
            setattr(other, name, getattr(self, name).copy())
        other.sample_sizes, other.records = list(self.sample_sizes), list(self.records)
        return other

    @property
    def log_p(self) -> FloatArray:
        """(N,) log P(R, E, L, X) of each particle's whole path."""
        total: FloatArray = self.parts.sum(0)
        return total

    @property
    def population(self) -> Population:
        """What the particles know; there must have been a word."""
        if self._population is None:
            raise InferenceError("a particle filter that has read nothing has no particles to look at")
        return self._population

    @property
    def total(self) -> float:
        """The estimate of log P of all words so far."""
        return self.log_evidence + float(weights.log_mean_exp(self.log_weights))


def make_word_scorer(network: EntityNetwork) -> WordScorer:
    """The quickest scorer for a network."""
    if network.W_e.device.type == "cpu":
        if network.backbone.output_layer() is not None:
            return SoftmaxWordScorer(network)
        if network.backbone.class_factors() is not None:
            return ClassWordScorer(network)
    return WordScorer(network)
