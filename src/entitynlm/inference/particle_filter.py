"""Lead populations of particles through one text; importance sampling is the particle filter that never resamples.

The particles go segment by segment. Over a segment they make their choices (``sampler``), then their words are
scored (``word_scorer``), which gives every particle's weight after every word:

    w_t = Π_{s ≤ t} P(r_s, e_s, l_s, x_s | past) / Q(r_s, e_s, l_s | past, X)

The mean weight after word t estimates P(x_1 … x_t) without bias. The particle filter looks at the weights after each
segment and, when too few particles carry them, resamples: the mean so far is kept as a factor, heavy particles are
copied, light ones dropped, and all weights start again at one.

Particles with the same analysis so far are one that carries their number (``copies``): its work is done once, and they spread
evenly over its next choices (``kernels``). For that, entities that are new at the same word share their noise. Independent
populations (``islands``) go through the text together, which takes less time than one after the other; they share nothing but
the words.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from entitynlm.errors import InferenceError
from entitynlm.inference import weights
from entitynlm.inference.particles import FIRST_TOKEN, Choices, Population, Segment, make_choices
from entitynlm.inference.readings import Chunk
from entitynlm.inference.sampler import advance
from entitynlm.inference.state_tables import NetworkArrays
from entitynlm.inference.weights import FloatArray
from entitynlm.inference.words.softmax_scorer import SoftmaxWordScorer
from entitynlm.inference.words.word_scorer import ClassWordScorer, WordScorer
from entitynlm.model.entitynlm import EntityNetwork

IMPORTANCE_WORDS = 128
"""Words per segment where the weights in between are not looked at: enough for matrix products to pay off."""

_FREE = np.zeros((0, 0, 0), dtype=np.int64)


@dataclass(frozen=True)
class FilterConfig:
    """Settings of a particle filter.

    :param particles: particles of each island, and :param islands: number of independent populations.
    :param words: words per segment.
    :param share: share of P's own distribution that is mixed into Q's, at every choice.
    :param threshold: resample where the effective sample size is below this share of the particles (0: never).
    :param referents: also record P's distribution over referents where mentions start.
    """

    particles: int = 1
    islands: int = 1
    words: int = IMPORTANCE_WORDS
    share: float = 0.0
    threshold: float = 0.0
    referents: bool = False


class WeighedSegment(NamedTuple):
    """A segment as passed to the filter's observer (``ParticleFilter.observer``): n particles, S words.

    ``log_weights`` (n,) are those before the segment, ``log_factors`` (S, n) their factors at each word, and ``first_tokens`` (n,
    M) the word at which each particle first mentioned its entity 1, 2, …
    """

    log_weights: FloatArray
    log_factors: FloatArray
    choices: Choices
    island: np.ndarray
    first_tokens: np.ndarray


class ParticleFilter:
    """Islands of particles and their weights, at some place of a text.

    A network that is its own proposal (``proposal is model``) is scored once, without the noise of new entities.

    :param seed: three independent streams are made from it: for choices, for new entities and for resampling. Numbers are drawn
        whether they are needed or not, so that each depends on the seed and on the place in the text alone.
    :param observer: called with each segment when its words are weighed.
    """

    def __init__(
        self,
        model: EntityNetwork,
        proposal: EntityNetwork,
        config: FilterConfig,
        seed: np.random.SeedSequence,
        observer: Callable[[WeighedSegment], None] | None = None,
    ) -> None:
        self.model, self.proposal, self.config, self._observer = model, proposal, config, observer
        streams = [np.random.default_rng(child) for child in seed.spawn(3)]
        self._for_choices, self._for_new_entities, self._for_parents = streams
        self._population: Population | None = None
        self._words = make_word_scorer(model) if model.config.mode == "generative" else None
        self.position = 0
        self.log_evidence = np.zeros(config.islands)  # of the words until the last resampling

    @torch.no_grad()
    def advance(self, chunk: Chunk, *, end: int, forced: np.ndarray | None = None) -> FloatArray:
        """Go through a chunk; returns (islands, T) log of the estimates of P(x_1 … x_t) after each of its words.

        :param end: number of words of the whole text.
        :param forced: (T, islands, 3) the R, E and L that each island of one particle must choose.
        """
        config, population = self.config, self._start(chunk)
        P, Q = NetworkArrays.of_tables(chunk.model), NetworkArrays.of_tables(chunk.proposal)
        Q = Q._replace(sigma=0.0)  # Q need only be *a* distribution, the same whenever it is asked
        P = Q if self.model is self.proposal else P
        words = chunk.model.words
        log_evidence = np.empty((config.islands, len(words)))
        width = P.means.shape[1] if P.sigma > 0 else 0
        sentence = words.sentence.astype(np.int64)
        x = words.x.astype(np.int64)
        uniforms = self._for_choices.random((len(words), config.islands, 3))
        noise = self._for_new_entities.standard_normal((len(words), config.islands, width), np.float32)
        starts = range(0, len(words), config.words)
        points = self._for_parents.random((len(starts), config.islands))
        choices = make_choices(0, 0)
        for start, own_points in zip(starts, points, strict=True):
            stop = min(start + config.words, len(words))
            if len(choices.free) != stop - start:
                choices = make_choices(stop - start, population.count, referents=config.referents)
            population.reserve(stop - start)
            segment = Segment(start, self.position, end, sentence[start:stop], x[start:stop])
            advance(
                population.particles,
                P, population.model_states.rows, Q, population.proposal_states.rows, config.share,
                segment, uniforms[start:stop], noise[start:stop],
                _FREE if forced is None else np.ascontiguousarray(forced[start:stop], dtype=np.int64),
                choices,
            )  # fmt: skip
            log_evidence[:, start:stop] = self._weigh(choices, self._score_words(chunk, segment, choices))
            self.position += stop - start
            if config.threshold and self.position < end:
                weights.resample(
                    population.particles, own_points, config.particles, config.threshold, self.log_evidence
                )
            self._compact()
        self._check(log_evidence)
        return log_evidence

    def _check(self, log_evidence: FloatArray) -> None:
        damaged = np.flatnonzero(~np.isfinite(log_evidence).all(0))
        if len(damaged):
            raise InferenceError(
                f"all {self.config.particles} particles have probability zero (or none that is a number) near word "
                f"{self.position - log_evidence.shape[1] + damaged[0]}; the model's parameters are probably damaged"
            )

    def _start(self, chunk: Chunk) -> Population:
        if self._population is None:
            proposal = None if self.model is self.proposal else chunk.proposal
            particles, islands = self.config.particles, self.config.islands
            places = 1 if self._words is None else self._words.places
            self._population = Population(chunk.model, proposal, particles, islands, places)
        return self._population

    def _compact(self, *, always: bool = False) -> None:
        kept = self.population.compact(always=always)
        if kept is not None and self._words is not None:
            self._words.keep(kept)

    def _score_words(self, chunk: Chunk, segment: Segment, choices: Choices) -> FloatArray:
        """Give (pairs,) log-probabilities of the segment's words."""
        if self._words is None:
            return np.zeros(int(choices.pairs[0]))
        return self._words.score(self.population.model_states, chunk.model, segment, choices)

    def _weigh(self, choices: Choices, scores: FloatArray) -> FloatArray:
        """Multiply the weights by a segment's factors; returns the estimate after each word."""
        particles, used = self.population.particles, self.population.used
        before = particles.log_weights[:used].copy()
        log_factors, log_means = weights.weigh_words(particles, choices, scores, self.config.islands)
        if self._observer is not None:
            first_tokens = particles.memory[:used, :, FIRST_TOKEN]
            self._observer(
                WeighedSegment(before, log_factors, choices, particles.island[:used], first_tokens)
            )
        after: FloatArray = self.log_evidence[:, None] + log_means
        return after

    def fork(self) -> "ParticleFilter":
        """Copy the filter with its future random numbers; the copies go on independently."""
        other = copy.copy(self)
        for name in ("_for_choices", "_for_new_entities", "_for_parents"):
            setattr(other, name, copy.deepcopy(getattr(self, name)))
        if self._population is not None:
            self._compact(always=True)
            other._population = self._population.fork()
        other._words = None if self._words is None else self._words.fork()
        other.log_evidence = self.log_evidence.copy()
        return other

    @property
    def without_entities(self) -> list[float]:
        """Log-probabilities of the words so far by the language model alone, where scoring words needs its output layer."""
        return [] if self._words is None else self._words.without_entities[: self.position]

    @property
    def shares(self) -> FloatArray:
        """(n,) normalised weights of the particles with all their copies, of a filter with one island."""
        particles, used = self.population.particles, self.population.used
        log_shares = particles.log_weights[:used] + np.log(particles.copies[:used])
        shares: FloatArray = np.exp(log_shares - weights.log_sum_exp(log_shares))
        return shares

    @property
    def population(self) -> Population:
        """The particles; there must have been a word."""
        if self._population is None:
            raise InferenceError("a particle filter that has read nothing has no particles to look at")
        return self._population


def make_word_scorer(network: EntityNetwork) -> WordScorer:
    """Make the fastest scorer for a network."""
    if network.W_e.device.type == "cpu":
        if network.backbone.output_layer() is not None:
            return SoftmaxWordScorer(network)
        if network.backbone.class_factors() is not None:
            return ClassWordScorer(network)
    return WordScorer(network)
