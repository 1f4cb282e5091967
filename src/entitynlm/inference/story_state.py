"""The state of a story between two words: the distribution over what comes next, and the state after an observed word.

Generation, entity prediction and referent surprisal go through a story word by word by :class:`StoryState`. It is immutable:
successive states share one growing table of entity vectors, and each holds row numbers, so that any number of continuations may
branch off from it.

The values of a word are row ``at`` of :class:`~entitynlm.inference.readings.WordTables`: of a reading's tables where the text is
known, or of a table with a single row, made from the latest hidden state, where it is generated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from entitynlm.errors import InferenceError
from entitynlm.inference.readings import Chunk, WordTables
from entitynlm.inference.state_tables import StateTable, score_rows
from entitynlm.inference.weights import FloatArray, log_sum_exp
from entitynlm.model.additions import find_mention_positions
from entitynlm.model.batch.document_index import EntityHistory
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise, Noise

NOISE_WORDS = 512
"""Words whose new entities are made together."""


@dataclass(frozen=True)
class StoryState:
    """See the module's docstring. N entities, numbered from 1 in order of first mention.

    :param rows: (N,) row of each entity's state in ``states``, and :param current: row of e_current (0: none yet).
    :param open_type: R of the open mention, which has ``history.remaining`` words to come; 0 where none is open.
    :param starts: whether the open mention starts with the next word.
    :param sentence: sentence of the next word.  :param previous: word before it (-1: none).
    :param gate: δ of equation 8 at the last word; nan if that was in no mention.
    :param pieces: pieces of the last word, where words have several.  :param carry: the backbone's carry.  :param hidden: table
        whose only row has the latest hidden state; all three only where words are generated.
    """

    network: EntityNetwork
    states: StateTable
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    history: EntityHistory = field(default_factory=EntityHistory)
    current: int = 0
    open_type: int = 0
    starts: bool = False
    sentence: int = 0
    previous: int = -1
    gate: float = float("nan")
    pieces: tuple[int, ...] | None = None
    carry: Any = None
    hidden: WordTables | None = None

    @property
    def e_current(self) -> np.ndarray:
        """(D,) the vector of the entity mentioned last."""
        vector: np.ndarray = self.states.rows.vectors[self.current]
        return vector

    @property
    def vectors(self) -> np.ndarray:
        """(N, D) every entity's vector."""
        found: np.ndarray = self.states.rows.vectors[self.rows]
        return found

    @classmethod
    def begin(
        cls, network: EntityNetwork, tables: WordTables, sentence: int = 0, **generated: Any
    ) -> StoryState:
        """Return the state before the first word; the tables may be those of any words.

        :param generated: ``carry`` and ``hidden``, where words are generated.
        """
        states = StateTable(tables)
        return cls(network, states, sentence=sentence, **generated)

    # -- what is expected next ---------------------------------------------------------------------------------------

    def score_entities(self, tables: WordTables, at: int) -> FloatArray:
        """(N,) the scores of equation 4: hᵀ W_entity e + w_distᵀ f(e)."""
        scores = np.empty(len(self.rows))
        score_rows(tables.queries, at, self.states.rows.vectors, self.rows, scores)
        distances = np.clip(self.history.measure(self.sentence), 0, tables.distance.shape[1] - 1)
        total: FloatArray = scores + np.take_along_axis(tables.distance, distances, 1).sum(0)
        return total

    def expect(self, tables: WordTables, at: int, new_entities: np.ndarray | None = None) -> Expectation:
        """Equations 3 and 4 before a word where R is free.

        :param new_entities: (K, D) vector of a new entity of each mention type; None: without noise.
        """
        if new_entities is None:
            new_entities = self.states.rows.vectors[1 : self.states.fixed]
        scores = np.concatenate([self.score_entities(tables, at), new_entities @ tables.queries[at]])
        types = np.concatenate([self.history.mention_types, np.arange(1, len(new_entities) + 1)])
        log_totals = np.array([log_sum_exp(scores[types == k]) for k in range(1, len(new_entities) + 1)])
        log_entities = scores - log_totals[types - 1]
        log_types = tables.log_types[at].astype(np.float64)
        if np.isnan(log_entities).any() or np.isnan(log_types).any():
            raise InferenceError(
                "probabilities that are no numbers: the model's parameters are probably damaged"
            )
        return Expectation(self, tables, at, log_types, log_entities, types, new_entities)

    # -- what follows an observation ----------------------------------------------------------------------------------

    def choose(self, r: int, e: int, l: int, new_entity: np.ndarray | None = None) -> StoryState:
        """Steps 1 and 2 of the generative story (section 2.2): a mention of ``e`` that starts with the next word, or none.

        :param new_entity: vector of a new entity (number N + 1); None: without noise.
        """
        if not r:
            return self
        rows = self.rows
        if e > len(rows):
            rows = np.append(rows, r if new_entity is None else self.states.append(new_entity))
        history = self.history.start_mention(r, e, l)
        return replace(self, rows=rows, history=history, current=int(rows[e - 1]), open_type=r, starts=True)

    def read(self, x: int, tables: WordTables, at: int, sentence: int | None = None) -> StoryState:
        """Steps 4 to 6: read the word itself, whose own hidden state is in the tables.

        :param sentence: sentence of the word after it; None: the same.
        """
        history, rows, current, gate = self.history, self.rows, self.current, float("nan")
        if history.remaining:
            n = history.current
            current, gate = self.states.update(tables, at, int(rows[n - 1]))
            rows = rows.copy()
            rows[n - 1] = current
        history = history.read_word(self.sentence)
        return replace(
            self,
            rows=rows,
            history=history,
            current=current,
            open_type=self.open_type if history.remaining else 0,
            starts=False,
            sentence=self.sentence if sentence is None else sentence,
            previous=x,
            gate=gate,
        )

    def observe(
        self,
        word: tuple[int, int, int, int],
        tables: WordTables,
        at: int,
        *,
        new_entity: np.ndarray | None = None,
        sentence: int | None = None,
    ) -> StoryState:
        """Return the state after a word with its analysis, (x, r, e, l); see :meth:`choose` and :meth:`read`."""
        x, r, e, l = word
        chosen = self if self.history.remaining else self.choose(r, e, l, new_entity)
        return chosen.read(x, tables, at, sentence)

    def add_entity(self, mention_type: int, vector: np.ndarray) -> StoryState:
        """Add an entity that the story has not mentioned."""
        row = self.states.append(vector)
        past, far = self.history, (64, 3, 8)  # as if mentioned some time before: words, sentences, mentions
        since = past.position - far[0], self.sentence - far[1], past.mentions - far[2]
        return replace(self, rows=np.append(self.rows, row), history=past.add_entity(mention_type, *since, 1))


@dataclass(frozen=True)
class Expectation:
    """The distribution over what comes next where R is free: no mention, one of N known entities, or a new one of K types.

    :param log_types: (1 + K,) log p(R).
    :param log_entities: (N + K,) log p(E | R) of each candidate given its type; :param types: (N + K,) types of candidates.
    """

    state: StoryState
    tables: WordTables
    at: int
    log_types: FloatArray
    log_entities: FloatArray
    types: np.ndarray
    new_entities: np.ndarray

    @property
    def known(self) -> int:
        """N, the number of known entities."""
        return len(self.state.rows)

    @property
    def distances(self) -> np.ndarray:
        """(4, N) distances of the known entities, in the order of ``QUANTITIES``."""
        return self.state.history.measure(self.state.sentence)

    @property
    def log_probs(self) -> FloatArray:
        """(N + K,) log p(R, E) of each candidate."""
        joint: FloatArray = self.log_types[self.types] + self.log_entities
        return joint

    def gather_vectors(self, candidates: np.ndarray) -> np.ndarray:
        """(n, D) the vectors of some candidates, which are numbered from 0."""
        vectors: np.ndarray = self.new_entities[np.maximum(candidates - self.known, 0)]
        old = candidates < self.known
        vectors[old] = self.state.states.rows.vectors[self.state.rows[candidates[old]]]
        return vectors

    def log_lengths(self, candidates: np.ndarray) -> FloatArray:
        """(n, max_length) log p(L | R, E) of some candidates (equation 5)."""
        own = self.gather_vectors(candidates) @ self.tables.length_weights.T
        scores = (self.tables.length_scores[self.at] + own).astype(np.float64)
        normalised: FloatArray = scores - log_sum_exp(scores)[:, None]
        return normalised

    def referents(self) -> FloatArray:
        """(1 + N,) p(referent | a mention starts): new entities, of whatever type, are choice 0."""
        log_probs = self.log_probs
        probs = np.exp(log_probs - log_sum_exp(log_probs))
        return np.concatenate([[probs[self.known :].sum()], probs[: self.known]])


class ReadingStep(NamedTuple):
    """One word of a text read along its analysis: the states before and after it, its row, and its candidate new entities."""

    before: StoryState
    after: StoryState
    tables: WordTables
    at: int
    new_entities: np.ndarray  # (K, D); zeros where no mention starts and ``starts_only`` was asked for


def read_along(
    network: EntityNetwork,
    document: EncodedDocument,
    chunks: Iterable[Chunk],
    *,
    noise: Noise | None = None,
    starts_only: bool = False,
    state: StoryState | None = None,
) -> Iterator[ReadingStep]:
    """Read a document along its own analysis, word by word.

    :param chunks: chunks of the document under the network (``Readings.read``), in order.
    :param noise: noise of new entities; by default the fixed one, so that the figures are those of ``score_document``.
    :param starts_only: draw noise only where a mention starts.
    :param state: state before the first word of the chunks, unless that is the first word of the text.
    """
    noise = noise or FixedNoise()
    x, r, e, l = (values.tolist() for values in (document.x, document.r, document.e, document.l))
    sentences = [*document.sentence.tolist(), int(document.sentence[-1]) if len(document) else 0]
    starting = (document.r > 0) & (np.append(1, document.l[:-1]) == 1)
    for chunk in chunks:
        tables = chunk.model
        state = state or StoryState.begin(network, tables, sentences[0])
        for first in range(chunk.start, chunk.stop, NOISE_WORDS):
            last = min(first + NOISE_WORDS, chunk.stop)
            some = np.arange(first, last)
            some = some[starting[first:last]] if starts_only else some
            types, size = network.config.mention_types, tables.means.shape[1]
            new_entities = np.zeros((last - first, types, size), dtype=tables.means.dtype)
            new_entities[some - first] = create_entities(network, noise.draw(some, size))
            for t, own in enumerate(new_entities, start=first):
                word, new_entity = (x[t], r[t], e[t], l[t]), own[r[t] - 1] if r[t] else None
                at, sentence = t - chunk.start, sentences[t + 1]
                after = state.observe(word, tables, at, new_entity=new_entity, sentence=sentence)
                yield ReadingStep(state, after, tables, at, own)
                state = after


@torch.no_grad()
def create_entities(network: EntityNetwork, noise: Tensor) -> np.ndarray:
    """(n, K, D) new entities of every mention type (equation 7), which share the noise (n, D)."""
    count = network.config.mention_types
    types = torch.arange(1, count + 1, device=network.W_r.device).repeat(len(noise))
    created = network.create_entity(types, noise.repeat_interleave(count, 0).to(network.W_r.device))
    vectors: np.ndarray = created.reshape(len(noise), count, created.shape[-1]).cpu().numpy()
    return vectors


@torch.no_grad()
def log_prob_pieces(states: Sequence[StoryState], h: Tensor, places: Tensor | int = 0) -> Tensor:
    """(n, V) equation 6 for every piece at a place, or (n,) places, of the next word, given the open mention (or none) of each of
    n states of one network; h (1, S) or (n, S) is before the word.
    """
    network, device = states[0].network, states[0].network.W_r.device
    mentions = [(state.open_type, max(1, state.history.remaining), state.starts) for state in states]
    positions = find_mention_positions(
        network.config, *(np.array(values) for values in zip(*mentions, strict=True))
    )
    vectors = np.stack([state.e_current for state in states])
    We = network.project_entity(torch.from_numpy(vectors).to(device))
    h = network.backbone.output_states(h)
    return network.log_prob_words(h, We, torch.from_numpy(positions).to(device), places)
