"""States of entities in one flat table that grows, and the arrays that the compiled sampler reads.

Vectors are rows of this table; a particle's entity is a row number. So copying a particle copies a few integers per entity,
particles with a common ancestor share its rows, and what is computed from a row at one word (its score as a candidate, its
lengths, its successor) is computed once for all particles: each row has a stamp with the word at which its cached values were
computed.

Rows that no particle refers to are dropped from time to time (:meth:`StateTable.compact`), so that a table's size depends on the
number of live entities and not on the length of the text.
"""

import copy
from typing import NamedTuple

import numpy as np

from entitynlm.compilation import njit
from entitynlm.inference.kernels import FAST
from entitynlm.inference.readings import WordTables
from entitynlm.model.batch.scan import SMALLEST_NORM


@njit(nogil=True, fastmath=FAST, makes_arrays=False)
def multiply(left, i, right, j):  # type: ignore[no-untyped-def]
    """Row i of one matrix times row j of another."""
    total = left[i, 0] * right[j, 0]
    for d in range(1, left.shape[1]):
        total += left[i, d] * right[j, d]
    return total


@njit(nogil=True, fastmath=FAST, makes_arrays=False)
def create_entity(sigma, means, vectors, used, k, noise):  # type: ignore[no-untyped-def]
    """Eq. 7: make the row of a new entity of type k, with noise (D,)."""
    if sigma == 0:
        return k
    row = used[0]
    used[0] += 1
    square = 0.0
    for d in range(means.shape[1]):
        u = means[k, d] + sigma * noise[d]
        vectors[row, d] = u
        square += u * u
    shrink(vectors, row, square)
    return row


@njit(nogil=True, fastmath=FAST, makes_arrays=False)
def shrink(vectors, row, square):  # type: ignore[no-untyped-def]
    """Project a vector to the unit sphere, given its squared length."""
    factor = vectors.dtype.type(1 / max(np.sqrt(square), SMALLEST_NORM))
    for d in range(vectors.shape[1]):
        vectors[row, d] *= factor


@njit(nogil=True, fastmath=FAST, makes_arrays=False)
def update_row(gates, states, t, vectors, row, new):  # type: ignore[no-untyped-def]
    """Eq. 8: write the state after word t into row ``new``; returns δ, how much of the old state stays."""
    delta = vectors.dtype.type(1 / (1 + np.exp(-multiply(gates, t, vectors, row))))
    rest = vectors.dtype.type(1 - delta)
    square = delta * 0
    for d in range(vectors.shape[1]):
        v = delta * vectors[row, d] + rest * states[t, d]
        vectors[new, d] = v
        square += v * v
    shrink(vectors, new, square)
    return delta


@njit(nogil=True, makes_arrays=False)
def update_row_once(gates, states, t, vectors, used, updated_at, updated_to, row, stamp):  # type: ignore[no-untyped-def]
    """Return the row of the state after the word, which is computed once for all particles that share ``row``."""
    if updated_at[row] == stamp:
        return updated_to[row]
    new = used[0]
    used[0] += 1
    updated_at[row], updated_to[row] = stamp, new
    update_row(gates, states, t, vectors, row, new)
    return new


@njit(nogil=True)
def score_rows(queries, t, vectors, rows, out):  # type: ignore[no-untyped-def]
    """Eq. 4's product of word t's query with the vectors of some rows."""
    for i in range(len(rows)):
        out[i] = multiply(queries, t, vectors, rows[i])


ROOM = 64
"""Rows that there is room for at least when one is added."""


class NetworkArrays(NamedTuple):
    """The fields of a network's :class:`WordTables` that the compiled loop reads."""

    log_types: np.ndarray
    queries: np.ndarray
    length_scores: np.ndarray
    gates: np.ndarray
    states: np.ndarray
    length_weights: np.ndarray
    means: np.ndarray
    distance: np.ndarray
    sigma: float

    @classmethod
    def of_tables(cls, tables: WordTables) -> "NetworkArrays":
        return cls(*(getattr(tables, name) for name in cls._fields))


class Rows(NamedTuple):
    """A state table: S rows, of which the first ``used[0]`` are taken. Row 0 is zero ("no entity yet"), row k a
    new entity of type k without noise. Stamps are numbers of words; 0 stands for never.
    """

    vectors: np.ndarray  # (S, D)
    used: np.ndarray  # (1,)
    scored_at: np.ndarray  # (S,) when scores[row] was computed
    scores: np.ndarray  # (S,) query · vector
    updated_at: np.ndarray  # (S,) when updated_to[row], the row of the updated state, was made
    updated_to: np.ndarray
    measured_at: np.ndarray  # (S,) when the row of ``lengths`` numbered measured_to[row] was filled
    measured_to: np.ndarray
    # (S, places) when the row was e_current of a word there, in the pair paired_to[row, place]
    paired_at: np.ndarray
    paired_to: np.ndarray
    lengths: np.ndarray  # (N + 1, max_length) log p(L) at the present word


class StateTable:
    """All states of entities under one network, of a population's particles or of a story.

    :param particles: largest number of rows whose lengths are computed at one word.
    :param places: number of places in (or outside of) mentions that P distinguishes.
    """

    def __init__(self, tables: WordTables, particles: int = 0, places: int = 1) -> None:
        new_entities = tables.means.copy()
        new_entities[0] = 0
        norms = np.linalg.norm(new_entities, axis=1, keepdims=True)
        new_entities = new_entities / np.maximum(norms, SMALLEST_NORM).astype(new_entities.dtype)
        self.fixed = len(new_entities)  # rows that are never dropped
        size = max(1024, 4 * self.fixed)
        room = self._allocate(size, new_entities.shape[1], new_entities.dtype, places)
        self.rows = room._replace(lengths=np.zeros((particles + 1, len(tables.length_weights))))
        self.rows.vectors[: self.fixed] = new_entities
        self.rows.used[0] = self.fixed

    @property
    def used(self) -> int:
        return int(self.rows.used[0])

    @property
    def vectors(self) -> np.ndarray:
        return self.rows.vectors[: self.used]

    def reserve(self, extra: int) -> None:
        """Make room for ``extra`` more rows."""
        if self.used + extra <= len(self.rows.vectors):
            return
        old = self.rows
        size = max(2 * len(old.vectors), self.used + extra)
        room = self._allocate(size, old.vectors.shape[1], old.vectors.dtype, old.paired_at.shape[1])
        self.rows = room._replace(lengths=old.lengths)
        self._copy_rows(old, self.rows)

    def append(self, vector: np.ndarray) -> int:
        """Add a new entity with this vector; returns its row."""
        row = self._take_row()
        self.rows.vectors[row] = vector
        return row

    def update(self, tables: WordTables, at: int, row: int) -> tuple[int, float]:
        """Add the state of an entity after a word of its mention (equation 8); returns its row and the gate δ."""
        new = self._take_row()
        gate = update_row(tables.gates, tables.states, at, self.rows.vectors, row, new)
        return new, float(gate)

    def _take_row(self) -> int:
        self.reserve(ROOM)
        self.rows.used[0] += 1
        return self.used - 1

    def fork(self) -> "StateTable":
        """Copy the rows, without values cached for a word."""
        other = copy.copy(self)
        old, size = self.rows, self.used + self.fixed
        other.rows = self._allocate(size, old.vectors.shape[1], old.vectors.dtype, old.paired_at.shape[1])
        other.rows = other.rows._replace(lengths=np.zeros_like(old.lengths))
        self._copy_rows(old, other.rows)
        return other

    def compact(self, live: np.ndarray) -> np.ndarray:
        """Keep only the rows in ``live`` (sorted, distinct, with the fixed rows); returns the new number of each old row.

        Rows are moved within their memory, because allocating new memory would cost more.
        """
        rows, used = self.rows, self.used
        numbers = np.zeros(used, dtype=np.int64)
        numbers[live] = np.arange(len(live))
        rows.vectors[: len(live)] = rows.vectors[live]
        for stamps in (rows.scored_at, rows.updated_at, rows.measured_at, rows.paired_at):
            stamps[:used] = 0  # nothing that was remembered about a row is true of its successor
        rows.used[0] = len(live)
        return numbers

    @staticmethod
    def _copy_rows(old: Rows, new: Rows) -> None:
        new.vectors[: old.used[0]] = old.vectors[: old.used[0]]
        new.used[0] = old.used[0]

    @staticmethod
    def _allocate(size: int, width: int, dtype: np.dtype, places: int) -> Rows:
        """Allocate ``size`` rows, without cached values."""

        def stamps() -> np.ndarray:
            return np.zeros(size, dtype=np.int32)

        return Rows(
            vectors=np.zeros((size, width), dtype=dtype),
            used=np.zeros(1, dtype=np.int64),
            scored_at=stamps(),
            scores=np.empty(size),
            updated_at=stamps(),
            updated_to=np.empty(size, dtype=np.int32),
            measured_at=stamps(),
            measured_to=np.empty(size, dtype=np.int32),
            paired_at=np.zeros((size, places), dtype=np.int32),
            paired_to=np.empty((size, places), dtype=np.int32),
            lengths=np.zeros((0, 0)),
        )
