"""What a model knows before each word of a text from the words before it alone, at whatever word it is asked.

A particle filter goes through the text word by word. Copies of it are kept at some words, so that a question about any word is
answered by going on from the nearest copy before it, and a question about the next word by one step. Words to come change no
answer: the proposal is the causal one, random numbers depend on the seed alone, and where the text ends is not known.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

import numpy as np

from entitynlm.inference.marginal import make_filters
from entitynlm.inference.particle_filter import ParticleFilter
from entitynlm.inference.particles import COUNT, MODEL_ROW, Choices
from entitynlm.inference.readings import Chunk, ChunkReader, cut, slice_tables
from entitynlm.inference.story_state import EntityStates, StoryState
from entitynlm.inference.weights import FloatArray, normalise
from entitynlm.inference.words.word_tables import WordTables
from entitynlm.model.batch.document_index import EntityHistory
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork

PARTICLES = 40
CHUNK_WORDS = 1_024  # words whose tables are made together
KEPT_CHUNKS = 8
KEPT_FILTERS = 96  # copies of the filter, spread evenly over the text
LEAST_GAP = 8  # words between two copies


class FollowedFilter(ParticleFilter):
    """A particle filter that remembers where each entity was mentioned first."""

    first_spans: np.ndarray  # (N, M, 2) start and end of the first mention of entity 1, 2, … of each particle

    def _weigh(self, choices: Choices, log_words: FloatArray) -> FloatArray:
        known = self.first_spans.shape[1]
        needed = int(self.population.particles.entities.max())
        if needed > known:
            more = np.full((self.count, needed + 32 - known, 2), -1, dtype=np.int32)
            self.first_spans = np.concatenate([self.first_spans, more], axis=1)
        for s, starts in enumerate(choices.free & (choices.mention_type > 0)):
            who = np.flatnonzero(starts)
            places = who, choices.entity[s, who] - 1
            new = self.first_spans[places][:, 0] < 0
            start = self.position + s
            spans = np.stack([np.full(len(who), start), start + choices.remaining[s, who]], axis=1)
            self.first_spans[places[0][new], places[1][new]] = spans[new]
        return super()._weigh(choices, log_words)

    def _resample(self, *, resampling: bool) -> np.ndarray | None:
        parents = super()._resample(resampling=resampling)
        if parents is not None:
            self.first_spans = self.first_spans[parents]
        return parents

    def fork(self) -> FollowedFilter:
        other = super().fork()
        other.first_spans = self.first_spans.copy()
        return other

    def view_state(self, number: int, sentence: int) -> StoryState:
        """What one particle knows before the next word, which is in this sentence; true until the filter goes on."""
        population, particles = self.population, self.population.particles
        memory = particles.memory[number, 1 : int(particles.entities[number]) + 1]
        remaining = int(particles.remaining[number])
        history = EntityHistory(
            memory[:, : COUNT + 1].T.astype(np.int64),
            self.position,
            int(particles.mentions[number]),
            int(particles.entity[number]),
            remaining,
        )
        return StoryState(
            self.model,
            EntityStates.view(population.model_states),
            memory[:, MODEL_ROW].astype(np.int64),
            history,
            int(particles.current[number]),
            int(particles.mention_type[number]) if remaining else 0,
            sentence=sentence,
            previous=self._last_word,
        )


@dataclass(frozen=True)
class Belief:
    """Weighted states before a word, and the word's row in the tables; to be used before the next question.

    :param first_spans: per state (N, 2), where each of its entities was mentioned first, in words.
    """

    weights: FloatArray
    states: tuple[StoryState, ...]
    first_spans: tuple[np.ndarray, ...]
    tables: WordTables
    at: int


class TextTables:
    """The tables of any word of a text under some networks that read from left to right; a few chunks are kept."""

    def __init__(self, document: EncodedDocument, *networks: EntityNetwork) -> None:
        self._words, self._networks = document.words, networks
        size = min(CHUNK_WORDS, *(network.backbone.chunk_words for network in networks))
        self._bounds = cut(document.sentence, size, aligned=False)
        self._carries: list[list[Any]] = [[None] * len(networks)]  # before each chunk that was reached
        self._kept: OrderedDict[int, list[WordTables]] = OrderedDict()

    def find(self, t: int) -> tuple[int, list[WordTables]]:
        """The first word of the chunk that word t is in, and the chunk's tables under each network."""
        number = int(np.searchsorted([start for start, _ in self._bounds], t, side="right")) - 1
        for earlier in range(min(number, len(self._carries) - 1), number + 1):
            self._read(earlier)
        self._kept.move_to_end(number)
        return self._bounds[number][0], self._kept[number]

    def _read(self, number: int) -> None:
        if number in self._kept:
            return
        tables, carries = [], []
        for network, carry in zip(self._networks, self._carries[number], strict=True):
            reader = ChunkReader(network)
            reader.carry = carry
            tables.append(reader.read(self._words, *self._bounds[number]))
            carries.append(reader.carry)
        self._kept[number] = tables
        if number + 1 == len(self._carries):
            self._carries.append(carries)
        while len(self._kept) > KEPT_CHUNKS:
            self._kept.popitem(last=False)


class PrefixStates:
    """See the module's text."""

    def __init__(
        self,
        model: EntityNetwork,
        proposal: EntityNetwork,
        document: EncodedDocument,
        *,
        particles: int = PARTICLES,
        seed: int = 0,
        **sampling: Any,
    ) -> None:
        if proposal.config.mode != "causal":
            raise ValueError("only the causal proposal knows nothing of the words to come")
        self._document, self._model = document, model
        self.tables = TextTables(document, model, proposal)
        self._gap = max(LEAST_GAP, -(-len(document) // KEPT_FILTERS))
        options: dict[str, Any] = {"particles": particles, "seed": seed, "make": FollowedFilter, **sampling}
        (start,) = make_filters(model, proposal, document, by_seed_alone=True, check_every=1, **options)
        start.first_spans = np.full((particles, 0, 2), -1, dtype=np.int32)
        self._filters: dict[int, FollowedFilter] = {0: start}  # by the number of words that were read
        self._latest, self._front = start.fork(), start.fork()

    def before(self, t: int) -> Belief:
        """What is believed before word t (from 0)."""
        if not 0 <= t < len(self._document):
            raise IndexError(f"there is no word {t} in a text of {len(self._document)}")
        self.advance(t)
        reached, sentence = self._latest, int(self._document.sentence[t])
        start, (tables, _) = self.tables.find(t)
        if not t:
            none = StoryState(self._model, EntityStates(self._model, tables), sentence=sentence)
            return Belief(np.ones(1), (none,), (np.zeros((0, 2), dtype=np.int32),), tables, 0)
        weights = normalise(reached.log_weights)
        chosen = np.flatnonzero(weights > 1e-4)
        states = tuple(reached.view_state(number, sentence) for number in chosen.tolist())
        spans = [
            reached.first_spans[number, : len(state.rows)]
            for number, state in zip(chosen, states, strict=True)
        ]
        return Belief(weights[chosen] / weights[chosen].sum(), states, tuple(spans), tables, t - start)

    def advance(self, t: int) -> None:
        """Read the words before t, for a question about it."""
        self._latest = self._move(self._latest, t)

    def prepare(self, t: int) -> None:
        """Read the words before t ahead of any question, so that copies of the filter are there when one comes."""
        self._front = self._move(self._front, t)

    def count_missing(self, t: int) -> int:
        """How many words would have to be read for a question about word t."""
        places = [*self._filters, self._latest.position]
        return t - max(place for place in places if place <= t)

    def _move(self, reached: FollowedFilter, t: int) -> FollowedFilter:
        nearest = max(place for place in self._filters if place <= t)
        if not nearest <= reached.position <= t:
            reached = self._filters[nearest].fork()
        while (position := reached.position) < t:
            if position % self._gap == 0 and position not in self._filters:
                self._filters[position] = reached.fork()
            start, tables = self.tables.find(position)
            at = position - start
            chunk = Chunk(position, position + 1, *(slice_tables(table, at, at + 1) for table in tables))
            reached.advance(chunk, end=position + self._model.config.max_length + 2)
            reached.sample_sizes.clear()
        return reached
