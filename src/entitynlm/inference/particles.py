"""What the sampler reads and writes: particles, the words of a segment, and the choices made over them, as arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# The columns of Particles.memory: what a particle knows about an entity.
KIND, LAST_TOKEN, LAST_SENTENCE, LAST_MENTION, COUNT, MODEL_ROW, PROPOSAL_ROW = range(7)
COLUMNS = 7


class Particles(NamedTuple):
    """What differs between particles, as integers. N particles, room for M entities each; entities count from 1."""

    memory: np.ndarray  # (N, M + 1, COLUMNS)
    entities: np.ndarray  # (N,) how many there are
    mentions: np.ndarray  # (N,) how many have started
    remaining: np.ndarray  # (N,) words of the open mention still to come
    mention_type: np.ndarray  # (N,) of the open mention
    entity: np.ndarray  # (N,) of the open mention
    current: np.ndarray  # (N,) the row of e_current in P's table


class Segment(NamedTuple):
    """Some words in a row. ``first`` is the place of the first one in the tables, ``position`` its place in the text,
    ``end`` the number of words of the text (or a number beyond any text, where the end is not known yet).
    """

    first: int
    position: int
    end: int
    sentence: np.ndarray  # (S,)
    x: np.ndarray  # (S,) the words
    before: int  # the word before them
    ahead: (
        np.ndarray
    )  # (S + AHEAD,) the words from the first one on, some beyond the segment; -1 beyond what is known
    rarity: np.ndarray  # (S + AHEAD,) how frequent these are


class Choices(NamedTuple):
    """What the particles chose over the S words of a segment, as the paper's R, E, L, and what that cost."""

    mention_type: np.ndarray  # (S, N)
    entity: np.ndarray  # (S, N)
    remaining: np.ndarray  # (S, N)
    free: np.ndarray  # (S, N) whether R was chosen here, not forced by an open mention
    log_p: np.ndarray  # (S, N) log P of the choices made at this word, without the word itself
    log_q: np.ndarray  # (S, N)
    pair: np.ndarray  # (S, N) which pair (word, e_current) the particle is in
    pair_words: np.ndarray  # (pairs,) word of each pair, counted within the segment
    pair_rows: np.ndarray  # (pairs,) row of e_current in P's table
    pairs: np.ndarray  # (1,) how many pairs there are


def make_choices(words: int, particles: int) -> Choices:
    """Room for the choices of a segment."""
    shape = (words, particles)
    return Choices(
        mention_type=np.zeros(shape, dtype=np.int16),
        entity=np.zeros(shape, dtype=np.int32),
        remaining=np.ones(shape, dtype=np.int16),
        free=np.zeros(shape, dtype=np.bool_),
        log_p=np.zeros(shape),
        log_q=np.zeros(shape),
        pair=np.zeros(shape, dtype=np.int32),
        pair_words=np.zeros(words * particles, dtype=np.int32),
        pair_rows=np.zeros(words * particles, dtype=np.int32),
        pairs=np.zeros(1, dtype=np.int64),
    )
