"""States of a model before any word of a text: given the words before it alone, or also the mentions before it.

:class:`PrefixStates` runs a particle filter over the text and keeps copies of it at some words, so that a question about any word
    is answered from the nearest copy before it, and a question about the next word by one step. Later words change no answer: the
    proposal is the causal one, random numbers depend on the seed alone, and the length of the text is not used.
    :class:`MentionStates` reads along the mentions of the document instead, and keeps the states of some words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from entitynlm.inference.marginal import make_filter
from entitynlm.inference.particle_filter import ParticleFilter
from entitynlm.inference.particles import FIRST_END, FIRST_TOKEN, MODEL_ROW
from entitynlm.inference.readings import Chunk, Readings, WordTables
from entitynlm.inference.story_state import StoryState, read_along
from entitynlm.inference.weights import FloatArray
from entitynlm.model.batch.document_index import COUNT, EntityHistory
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork

WALKING_PARTICLES = 40
CHUNK_WORDS = 1_024
"""Words that are read at a time: the first answer does not wait for a whole novel."""
KEPT_FILTERS = 96  # copies of the filter, spread evenly over the text
LEAST_GAP = 8  # words between two copies
STATES_APART = 32  # words between two states that are kept, in reading along mentions
LIGHTEST = 1e-4  # share of the weight below which a particle is left out of a belief


@dataclass(frozen=True)
class WeightedStates:
    """Weighted states before a word, and the word's row in the tables; valid until the next question.

    :param first_spans: per state (N, 2), the first mention of each of its entities, in words.
    """

    weights: FloatArray
    states: tuple[StoryState, ...]
    first_spans: tuple[np.ndarray, ...]
    tables: WordTables
    at: int


def check_word(document: EncodedDocument, t: int) -> None:
    """Raise an error for a word that the text does not have."""
    if not 0 <= t < len(document):
        raise IndexError(f"there is no word {t} in a text of {len(document)}")


class PrefixStates:
    """States of a particle filter before each word, given the words before it."""

    def __init__(
        self,
        model: EntityNetwork,
        proposal: EntityNetwork,
        document: EncodedDocument,
        *,
        particles: int = WALKING_PARTICLES,
        seed: int = 0,
    ) -> None:
        self._document, self._networks = document, (model, proposal)
        self._readings = Readings(document, size=CHUNK_WORDS, revisit=True)
        self._gap = max(LEAST_GAP, -(-len(document) // KEPT_FILTERS))
        options: dict[str, Any] = {"particles": particles, "seed": seed}
        start = make_filter(model, proposal, document, by_seed_alone=True, check_every=1, **options)
        self._filters = {0: start}  # by the number of words that were read
        self._latest = start.fork()

    def before(self, t: int) -> WeightedStates:
        """Return the weighted states before word t (from 0)."""
        check_word(self._document, t)
        self.advance(t)
        reached, sentence = self._latest, int(self._document.sentence[t])
        chunk = self._readings.find(t, *self._networks)
        if not t:
            start = StoryState.begin(self._networks[0], chunk.model, sentence)
            return WeightedStates(np.ones(1), (start,), (np.zeros((0, 2), dtype=np.int32),), chunk.model, 0)
        shares, memory = reached.shares, reached.population.particles.memory
        chosen = np.flatnonzero(shares > LIGHTEST)
        states = tuple(view_particle(reached, number, sentence) for number in chosen.tolist())
        spans = tuple(
            memory[number, 1 : len(state.rows) + 1, [FIRST_TOKEN, FIRST_END]].T.copy()
            for number, state in zip(chosen.tolist(), states, strict=True)
        )
        weights = shares[chosen] / shares[chosen].sum()
        return WeightedStates(weights, states, spans, chunk.model, t - chunk.start)

    def advance(self, t: int) -> None:
        """Read the words before t, in preparation of a question about t."""
        nearest = max(place for place in self._filters if place <= t)
        reached = self._latest
        if not nearest <= reached.position <= t:
            reached = self._latest = self._filters[nearest].fork()
        while (position := reached.position) < t:
            if position % self._gap == 0 and position not in self._filters:
                self._filters[position] = reached.fork()
            chunk = self._readings.find(position, *self._networks).cut(position, position + 1)
            reached.advance(chunk, end=position + self._networks[0].config.max_length + 2)

    def count_missing(self, t: int) -> int:
        """Count the words that must be read to answer a question about word t."""
        places = [*self._filters, self._latest.position]
        return t - max(place for place in places if place <= t)


def view_particle(reached: ParticleFilter, number: int, sentence: int) -> StoryState:
    """Return the state of one particle before the next word, which is in this sentence; valid until the filter goes on."""
    particles = reached.population.particles
    memory = particles.memory[number, 1 : int(particles.entities[number]) + 1]
    remaining = int(particles.remaining[number])
    history = EntityHistory(
        memory[:, : COUNT + 1].T.astype(np.int64),
        reached.position,
        int(particles.mentions[number]),
        int(particles.entity[number]),
        remaining,
    )
    return StoryState(
        reached.model,
        reached.population.model_states,
        memory[:, MODEL_ROW].astype(np.int64),
        history,
        int(particles.current[number]),
        int(particles.mention_type[number]) if remaining else 0,
        sentence=sentence,
    )


class MentionStates:
    """States before each word, given the words and the document's own mentions before it."""

    def __init__(self, model: EntityNetwork, document: EncodedDocument) -> None:
        self._network, self._document = model, document
        self._readings = Readings(document, size=CHUNK_WORDS, revisit=True)
        self._kept: dict[int, StoryState] = {}  # by the number of words that were read
        self._latest = 0
        new = document.e > np.append(0, np.maximum.accumulate(document.e)[:-1])
        self._firsts = np.flatnonzero(new)  # where entity 1, 2, … was mentioned first

    def before(self, t: int) -> WeightedStates:
        """Return the state before word t (from 0), with weight one."""
        check_word(self._document, t)
        if not self._kept:
            tables = self._readings.find(0, self._network).model
            self._kept[0] = StoryState.begin(self._network, tables, int(self._document.sentence[0]))
        near = max(place for place in self._kept if place <= t)
        state = self._kept[near]
        chunks = self._list_chunks(near, t)
        for step in read_along(self._network, self._document, chunks, starts_only=True, state=state):
            state = step.after
            if state.history.position % STATES_APART == 0:
                self._kept[state.history.position] = state
        if self._latest % STATES_APART:
            del self._kept[self._latest]
        self._latest, self._kept[t] = t, state
        known, chunk = self._firsts[: len(state.rows)], self._readings.find(t, self._network)
        spans = np.stack([known, known + 1], axis=1)
        return WeightedStates(np.ones(1), (state,), (spans,), chunk.model, t - chunk.start)

    def _list_chunks(self, start: int, stop: int) -> Iterator[Chunk]:
        """Yield the tables of some words, chunk by chunk."""
        while start < stop:
            chunk = self._readings.find(start, self._network)
            yield chunk.cut(start, min(chunk.stop, stop))
            start = chunk.stop
