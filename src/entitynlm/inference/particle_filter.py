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
from typing import Any, NamedTuple, TypeVar

import numpy as np

from entitynlm.errors import InferenceError
from entitynlm.inference import weights
from entitynlm.inference.particles import FIRST_TOKEN, MODEL_ROW, Choices, Population, Segment, make_choices
from entitynlm.inference.readings import Chunk
from entitynlm.inference.sampler import advance
from entitynlm.inference.state_tables import NetworkArrays
from entitynlm.inference.weights import FloatArray
from entitynlm.inference.words.softmax_scorer import SoftmaxWordScorer
from entitynlm.inference.words.word_cache import WordCache
from entitynlm.inference.words.word_scorer import ClassWordScorer, WordScorer
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
    :param cache_share: and :param bigram_share: shares of a word cache in P's words (``word_cache``).
    :param shuffled: a control: words see the vector of another entity, drawn anew at each word, in place of e_current. Which
        mentions there are, and what they may copy, is as it is. Needs segments of one word.
    :param islands: independent populations of ``particles`` each that go through the text together, which takes less time than
        one after the other. They share nothing but the words.
    :param collapse: particles with the same analysis so far are one that carries their number: its work is done once, and they
        spread evenly over its next choices (``kernels``). For that, entities that are new at the same word share their noise.
        Random numbers then depend on the seed and on the place in the text alone. Paths can't be followed back.
    :param referents: also note what P expects of referents where mentions start.
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
        bigram_share: float = 0.0,
        shuffled: bool = False,
        islands: int = 1,
        collapse: bool = False,
        referents: bool = False,
    ) -> None:
        assert not (collapse and (keep or greedy)) and (collapse or islands == 1)
        assert not shuffled or filter_config.words == 1
        self.islands, self.collapse, self.referents = islands, collapse, referents
        self.model, self.proposal = model, proposal
        self.count = particles
        self.filter_config = filter_config
        self.keep, self.greedy = keep, greedy
        streams = [np.random.default_rng(child) for child in seed.spawn(3)]
        self._for_choices, self._for_new_entities, self._for_parents = streams
        self._for_shuffling = np.random.default_rng(seed.spawn(1)[0]) if shuffled else None
        self._population: Population | None = None
        self._words = make_word_scorer(model) if model.config.mode == "generative" else None
        self.position = 0
        self._last_word = OPENING
        self._cache = WordCache(cache_share, bigram_share) if cache_share or bigram_share else None
        self.log_evidence = np.zeros(islands)  # of the words until the last resampling
        different = islands if collapse else particles
        self.copies = np.full(different, islands * particles // different)  # of each different particle
        self.island = np.arange(different) if collapse else np.zeros(different, dtype=np.int64)
        self.log_weights = np.zeros(different)  # since then
        self.parts = np.zeros((4, different))  # log P of R, E, L and X of each particle's whole path
        self.log_q = np.zeros(different)
        self.sample_sizes: list[float] = []  # effective sample size after each segment
        self.resamplings = 0
        self.records: list[SegmentRecord] = []

    def advance(self, chunk: Chunk, *, end: int, forced: np.ndarray | None = None) -> FloatArray:
        """Go through a chunk; returns (islands, T) log of the estimates of P(x_1 … x_t) after each of its words.

        :param end: number of words of the whole text.
        :param forced: (T, N, 3) the R, E and L that each particle must choose.
        """
        alone = self.model is self.proposal
        if self._population is None:
            copying = self.model.config.copying or self.proposal.config.copying
            proposal = None if alone else chunk.proposal
            islands, count = self.islands, self.islands * self.count
            options: dict[str, Any] = {"copying": copying, "islands": islands, "collapse": self.collapse}
            self._population = Population(chunk.model, proposal, count, **options)
        P, Q = NetworkArrays.of_tables(chunk.model), NetworkArrays.of_tables(chunk.proposal)
        Q = Q._replace(sigma=0.0)  # Q need only be *a* distribution, the same whenever it is asked
        P = Q if alone else P
        words = chunk.model.words
        log_evidence = np.empty((self.islands, len(words)))
        count = self.islands * self.count
        width = P.means.shape[1] if self.collapse and P.sigma > 0 else 0
        sentence = words.sentence.astype(np.int64)
        x = np.append(words.x, np.full(AHEAD, OPENING)).astype(np.int64)
        rarity = np.append(get_rarity(words), np.full(AHEAD, FREQUENT)).astype(np.int64)
        for start in range(0, len(words), self.filter_config.words):
            stop = min(start + self.filter_config.words, len(words))
            choices = make_choices(stop - start, count, referents=self.referents)
            self._population.reserve(stop - start)
            others = self._draw_others()
            uniforms = self._for_choices.random((stop - start, count, 3))
            noise = self._for_new_entities.standard_normal((stop - start, self.islands, width))
            seen = slice(start, stop + AHEAD)
            segment = Segment(
                start, self.position, end, sentence[start:stop], self._last_word, x[seen], rarity[seen]
            )
            advance(
                self._population.particles,
                P, self._population.model_states.rows, Q, self._population.proposal_states.rows, self.filter_config.share,
                segment, uniforms, noise,
                _FREE if forced is None else np.ascontiguousarray(forced[start:stop], dtype=np.int64),
                self.greedy, self._for_new_entities, choices,
            )  # fmt: skip
            if self.collapse:
                choices = self._follow_splits(choices)
            log_words = self._score_words(chunk, segment, choices, others)
            log_evidence[:, start:stop] = self._weigh(choices, log_words)
            self.position += stop - start
            self._last_word = int(x[stop - 1])
            parents = self._resample(resampling=self.position < end)
            if self.keep:
                self.records.append(SegmentRecord(*choices[:3], parents))
            self._compact()
        return log_evidence

    def _compact(self, *, always: bool = False) -> None:
        kept = self.population.compact(always=always)
        if kept is not None and self._words is not None:
            self._words.keep(kept)

    def _follow_splits(self, choices: Choices) -> Choices:
        """What was known of particles, for those that split off from them too."""
        assert self._population is not None
        used = self._population.used
        origin = self._population.particles.origin[:used]
        self.copies = self._population.particles.copies[:used].copy()
        self.log_weights, self.parts = self.log_weights[origin], self.parts[:, origin]
        self.log_q, self.island = self.log_q[origin], self.island[origin]
        return choices.narrow(used)

    def _draw_others(self) -> np.ndarray | None:
        """For each row of P's state table the row of another entity (0 where there is none), if words are to see that."""
        if self._for_shuffling is None:
            return None
        table, particles = self.population.model_states, self.population.particles
        known = particles.entities[: self.population.used]
        memory = particles.memory[: len(known), 1 : int(known.max(initial=0)) + 1]
        alive = memory[np.arange(memory.shape[1]) < known[:, None]]
        rows, index = np.unique(alive[:, MODEL_ROW], return_index=True)
        owners = np.full(len(table.rows.vectors), -1)
        owners[rows] = alive[index, FIRST_TOKEN]
        others = np.zeros(len(owners), dtype=np.int64)
        for _ in range(8 if len(rows) else 0):  # one of the same entity is drawn again, so often at most
            same = (others == 0) | (owners[others] == owners)
            others[same] = self._for_shuffling.choice(rows, int(same.sum()))
        others[owners[others] == owners] = 0
        others[0] = 0  # no entity was mentioned yet
        return others

    def _score_words(
        self, chunk: Chunk, segment: Segment, choices: Choices, others: np.ndarray | None
    ) -> FloatArray:
        if self._words is None:
            return np.zeros(choices.log_q.shape)
        assert self._population is not None
        log_words = self._words.score(self._population.model_states, chunk.model, segment, choices, others)
        return log_words if self._cache is None else self._cache.mix(log_words, segment.x[: len(log_words)])

    def _weigh(self, choices: Choices, log_words: FloatArray) -> FloatArray:
        """Take a segment's factors into the weights; returns the estimate after each word."""
        self.parts[:3] += choices.log_p.sum(1)
        self.parts[3] += log_words.sum(0)
        self.log_q += choices.log_q.sum(0)
        log_p = choices.log_p.sum(0) + log_words
        log_means: FloatArray = weights.accumulate_weights(
            self.log_weights, log_p - choices.log_q, choices.copies, self.island, self.islands
        )
        if not np.isfinite(log_means[:, -1]).all():
            raise InferenceError(
                f"all {self.count} particles have probability zero (or none that is a number) near word {self.position}; "
                "the model's parameters are probably damaged"
            )
        return self.log_evidence[:, None] + log_means

    def _resample(self, *, resampling: bool) -> np.ndarray | None:
        """Resample the islands in which too few particles carry the weight; returns the parents."""
        assert self._population is not None
        # As many numbers, whether they are needed or not, so that none depends on what was chosen.
        points = self._for_parents.random(self.islands) if self.collapse else None
        sizes = weights.measure_islands(self.log_weights, self.copies, self.island, self.islands)
        self.sample_sizes.append(float(np.mean(sizes)))
        low = sizes < self.filter_config.threshold * self.count
        if not (resampling and low.any()):
            return None
        if points is not None:
            everybody, self.copies, self.log_weights, log_means = weights.resample_islands(
                self.log_weights, self.copies, self.island, low, points, self.count
            )
            self.log_evidence += log_means
        else:  # one island, and particles that are one each
            self.log_evidence[0] += self._log_mean()
            shares = weights.normalise(self.log_weights)
            everybody = weights.resample(shares, self._for_parents.random(), self.count)
            self.log_weights = np.zeros(self.count)
        self._population.copy(everybody, self.copies)
        self.parts, self.log_q = self.parts[:, everybody], self.log_q[everybody]
        self.island = self.island[everybody]
        self.resamplings += 1
        return everybody

    def _log_mean(self, island: int = 0) -> float:
        own = self.island == island
        log_total = weights.log_sum_exp(self.log_weights[own] + np.log(self.copies[own]))
        return float(log_total) - float(np.log(self.count))

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
        other._for_shuffling = copy.deepcopy(self._for_shuffling)
        for name in ("log_weights", "parts", "log_q", "log_evidence", "copies", "island"):
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
        """The (first island's) estimate of log P of all words so far."""
        return float(self.log_evidence[0]) + self._log_mean()


def make_word_scorer(network: EntityNetwork) -> WordScorer:
    """The quickest scorer for a network."""
    if network.W_e.device.type == "cpu":
        if network.backbone.output_layer() is not None:
            return SoftmaxWordScorer(network)
        if (factors := network.backbone.class_factors()) is not None:
            return ClassWordScorer(network, *factors)
    return WordScorer(network)
