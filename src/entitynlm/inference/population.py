"""A population of particles and its two state tables: growing, copying and tidying up."""

from __future__ import annotations

import numpy as np

from entitynlm.inference.particles import COLUMNS, MODEL_ROW, PROPOSAL_ROW, Particles
from entitynlm.inference.state_tables import StateTable
from entitynlm.inference.word_tables import WordTables

TIDY_ABOVE = 4_096
"""Rows of a state table below which nobody looks for ones that are no longer needed; small tables stay in the cache."""


class Population:
    """N particles between two words."""

    def __init__(self, model: WordTables, proposal: WordTables, count: int, *, copying: bool = False) -> None:
        def zeros() -> np.ndarray:
            return np.zeros(count, dtype=np.int32)

        self.count = count
        self.model_states = StateTable(model, count, copying=copying)
        self.proposal_states = StateTable(proposal, count)
        memory = np.zeros((count, 64, COLUMNS), dtype=np.int32)
        self.particles = Particles(memory, zeros(), zeros(), zeros(), zeros(), zeros(), zeros())
        self._tidy_above = TIDY_ABOVE

    def reserve(self, words: int) -> None:
        """Make room for what the particles could possibly do over so many words."""
        for states in (self.model_states, self.proposal_states):
            states.reserve(words * self.count + 1)  # one update per word and particle …
        self.model_states.reserve(2 * words * self.count + 1)  # … and, in P, one birth
        memory = self.particles.memory
        needed = int(self.particles.entities.max()) + words + 2
        if needed > memory.shape[1]:
            grown = np.zeros((self.count, max(needed, 2 * memory.shape[1]), COLUMNS), dtype=np.int32)
            grown[:, : memory.shape[1]] = memory
            self.particles = self.particles._replace(memory=grown)

    def copy(self, parents: np.ndarray) -> None:
        """Particle i becomes a copy of particle ``parents[i]``."""
        memory = self.particles.memory
        room = int(self.particles.entities.max()) + 1
        memory[:, :room] = memory[parents, :room]
        self.particles = Particles(memory, *(column[parents] for column in self.particles[1:]))

    def tidy(self) -> np.ndarray | None:
        """Drop rows that no particle refers to, if there are many; returns P's rows that stay (None: all of them)."""
        if max(self.model_states.used, self.proposal_states.used) <= self._tidy_above:
            return None
        entities, current = self.particles.entities, self.particles.current
        memory = self.particles.memory[:, : int(entities.max()) + 1]
        alive = np.arange(memory.shape[1]) <= entities[:, None]  # row 0 of the memory refers to row 0
        kept = None
        for column, states in ((MODEL_ROW, self.model_states), (PROPOSAL_ROW, self.proposal_states)):
            references = np.where(alive, memory[..., column], 0)
            used = np.zeros(states.used, dtype=bool)
            used[: states.fixed] = True
            used[references] = True
            if column == MODEL_ROW:
                used[current] = True
            live = np.flatnonzero(used)
            numbers = states.compact(live)
            memory[..., column] = numbers[references]
            if column == MODEL_ROW:
                current[:] = numbers[current]
                kept = live
        most = max(self.model_states.used, self.proposal_states.used)
        self._tidy_above = max(TIDY_ABOVE, 2 * most)
        return kept
