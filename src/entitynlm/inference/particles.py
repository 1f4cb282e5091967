"""The particles: integers for each particle's state, the state tables that they share, and the choices they made."""

import copy
from typing import NamedTuple

import numpy as np

from entitynlm.inference.readings import WordTables
from entitynlm.inference.state_tables import StateTable
from entitynlm.model.batch.document_index import COUNT

COMPACT_ABOVE = 4_096
"""Rows of a state table below which unused ones are kept; small tables stay in the processor's cache."""

SPARE = 64
"""Rows of a state table that are there beyond those in use, so that many can be worked on at once."""

# The columns of Particles.memory: what a particle knows about an entity.
# The first five are those of an EntityHistory.
MODEL_ROW, PROPOSAL_ROW, FIRST_TOKEN, FIRST_END = range(COUNT + 1, COUNT + 5)
MEMORY_COLUMNS = COUNT + 5


class Particles(NamedTuple):
    """The state of N particles as integers, with room for M entities each; entities count from 1.

    Particles with the same analysis so far share a row: ``copies`` is their number, ``used`` the number of rows.
    """

    memory: np.ndarray  # (N, M + 1, MEMORY_COLUMNS)
    entities: np.ndarray  # (N,) how many there are
    mentions: np.ndarray  # (N,) how many have started
    remaining: np.ndarray  # (N,) words of the open mention still to come
    mention_type: np.ndarray  # (N,) of the open mention
    entity: np.ndarray  # (N,) of the open mention
    current: np.ndarray  # (N,) the row of e_current in P's table
    copies: np.ndarray  # (N,) how many equal particles this one stands for
    island: np.ndarray  # (N,) the independent population that it belongs to
    log_weights: np.ndarray  # (N,) since the last resampling
    parts: np.ndarray  # (5, N) log P of R, E, L and X and log Q of the whole path
    used: np.ndarray  # (1,)


class Segment(NamedTuple):
    """Some words in a row. ``first`` is the place of the first one in the tables, ``position`` its place in the text,
    ``end`` the number of words of the text.
    """

    first: int
    position: int
    end: int
    sentence: np.ndarray  # (S,)
    x: np.ndarray  # (S,) the words


class Choices(NamedTuple):
    """The particles' choices of R, E and L over the S words of a segment, and their log-probabilities."""

    mention_type: np.ndarray  # (S, N)
    entity: np.ndarray  # (S, N)
    remaining: np.ndarray  # (S, N)
    free: np.ndarray  # (S, N) whether R was chosen here, not forced by an open mention
    log_p: np.ndarray  # (3, S, N) log P of R, E and L as chosen at this word
    log_q: np.ndarray  # (S, N)
    pair: np.ndarray  # (S, N) which pair (context, e_current) the particle is in
    pair_words: np.ndarray  # (pairs,) word of each pair, counted within the segment
    pair_places: np.ndarray  # (pairs,) its place in a mention
    pair_rows: np.ndarray  # (pairs,) row of e_current in P's table
    pairs: np.ndarray  # (1,) how many pairs there are
    copies: np.ndarray  # (S, N) how many equal particles each one stands for; 0: it did not exist yet
    log_referent: np.ndarray  # (S, N) at a mention's first word: log P of its referent, new ones being one, …
    entropy: np.ndarray  # (S, N) … and the entropy over referents; (0, 0) where it was not asked for

    def narrow(self, particles: int) -> "Choices":
        """Keep the choices of the first rows."""
        shared = ("pair_words", "pair_places", "pair_rows", "pairs")
        return Choices(
            *(
                values if name in shared else values[..., :particles]
                for name, values in zip(self._fields, self, strict=True)
            )
        )


def make_choices(words: int, particles: int, *, referents: bool = False) -> Choices:
    """Allocate the choices of a segment."""
    shape = (words, particles)
    return Choices(
        mention_type=np.zeros(shape, dtype=np.int16),
        entity=np.zeros(shape, dtype=np.int32),
        remaining=np.ones(shape, dtype=np.int16),
        free=np.zeros(shape, dtype=np.bool_),
        log_p=np.zeros((3, *shape)),
        log_q=np.zeros(shape),
        pair=np.zeros(shape, dtype=np.int32),
        pair_words=np.zeros(words * particles, dtype=np.int32),
        pair_places=np.zeros(words * particles, dtype=np.int32),
        pair_rows=np.zeros(words * particles, dtype=np.int32),
        pairs=np.zeros(1, dtype=np.int64),
        copies=np.zeros(shape, dtype=np.int32),
        log_referent=np.zeros(shape if referents else (0, 0)),
        entropy=np.zeros(shape if referents else (0, 0)),
    )


class Population:
    """All particles between two words, and the state tables of P and Q; one table where P proposes for itself.

    It starts with one row per island that stands for all of its ``particles``, since they are equal.

    :param islands: number of independent populations, of ``particles`` each.
    """

    def __init__(
        self, model: WordTables, proposal: WordTables | None, particles: int, islands: int, places: int
    ) -> None:
        def zeros() -> np.ndarray:
            return np.zeros(count, dtype=np.int32)

        self.count, self.islands = (count := islands * particles), islands
        self.model_states = StateTable(model, count, places)
        self.proposal_states = StateTable(proposal, count) if proposal is not None else self.model_states
        memory = np.zeros((count, 64, MEMORY_COLUMNS), dtype=np.int32)
        columns = (*(zeros() for _ in range(8)), np.zeros(count), np.zeros((5, count)))
        self.particles = Particles._make([memory, *columns, np.array([islands])])
        self.particles.copies[:islands] = particles
        self.particles.island[:islands] = np.arange(islands)
        self._compact_above = COMPACT_ABOVE

    def reserve(self, words: int) -> None:
        """Make room for all entities and states that the particles can create over this number of words."""
        self.proposal_states.reserve(words * self.count + SPARE)  # one update per word and particle …
        new = self.islands * self.model_states.fixed
        # … and, in P, new entities of an island
        self.model_states.reserve(words * (self.count + new) + SPARE)
        memory = self.particles.memory
        needed = int(self.particles.entities.max()) + words + 2
        if needed > memory.shape[1]:
            grown = np.zeros((self.count, max(needed, 2 * memory.shape[1]), MEMORY_COLUMNS), dtype=np.int32)
            grown[:, : memory.shape[1]] = memory
            self.particles = self.particles._replace(memory=grown)

    @property
    def used(self) -> int:
        """The number of rows, that is, of different particles."""
        return int(self.particles.used[0])

    def fork(self) -> "Population":
        """Copy the particles, so that both copies can go on independently."""
        other = copy.copy(self)
        other.model_states = self.model_states.fork()
        alone = self.proposal_states is self.model_states
        other.proposal_states = other.model_states if alone else self.proposal_states.fork()
        room = int(self.particles.entities.max()) + 2
        memory = self.particles.memory[:, :room].copy()
        other.particles = Particles(memory, *(column.copy() for column in self.particles[1:]))
        return other

    def compact(self, *, always: bool = False) -> np.ndarray | None:
        """Drop rows of the state tables that no particle refers to, if there are many; returns P's kept rows (None: all)."""
        if not always and max(self.model_states.used, self.proposal_states.used) <= self._compact_above:
            return None
        entities = self.particles.entities[: self.used]
        memory = self.particles.memory[: self.used, : int(entities.max()) + 1]
        current = self.particles.current[: self.used]
        kept, numbers = self._compact_table(memory, MODEL_ROW, self.model_states, current)
        current[:] = numbers[current]
        if self.proposal_states is self.model_states:
            memory[..., PROPOSAL_ROW] = memory[..., MODEL_ROW]
        else:
            self._compact_table(memory, PROPOSAL_ROW, self.proposal_states, current[:0])
        most = max(self.model_states.used, self.proposal_states.used)
        self._compact_above = max(COMPACT_ABOVE, 2 * most)
        return kept

    def _compact_table(
        self, memory: np.ndarray, column: int, states: StateTable, also: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Keep the rows that entities (and ``also``) refer to: the kept rows, and the new number of each old row."""
        # Row 0 of the memory refers to row 0.
        alive = np.arange(memory.shape[1]) <= self.particles.entities[: self.used, None]
        references = np.where(alive, memory[..., column], 0)
        used = np.zeros(states.used, dtype=bool)
        used[: states.fixed] = True
        used[references] = True
        used[also] = True
        kept = np.flatnonzero(used)
        numbers = states.compact(kept)
        memory[..., column] = numbers[references]
        return kept, numbers
