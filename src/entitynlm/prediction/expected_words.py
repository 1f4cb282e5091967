"""What a reader expects of the next word who knows the mentions so far, but not whether a mention starts and of whom.

A sum over all ways to go on: no mention, or a mention of each entity and (where the network looks at it) of each length.
Nearly all of its weight lies on a few of them, so the improbable rest is left out and the others are scaled up for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from entitynlm.inference.story_state import Expectation, StoryState
from entitynlm.inference.weights import FloatArray
from entitynlm.inference.word_scorer import score_words
from entitynlm.inference.word_tables import WordTables
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.features import find_mention_positions

NEGLECTED = 0.002
"""Prior probability of all the ways to go on that are left out, at most …"""

MOST_WAYS = 48
"""… unless there would be more of them than these."""

WORDS_AT_ONCE = 256


class _Ways(NamedTuple):
    """The n ways to go on at one word, which has a row in the tables."""

    position: int
    row: int
    log_probs: FloatArray  # (n,)
    places: np.ndarray  # (n,)
    vectors: np.ndarray  # (n, d) e_current
    copies: np.ndarray  # (n, 3); (0, 3) without copying


class ExpectedWords:
    """Collects the ways to go on, word by word, and scores them in batches."""

    def __init__(self, network: EntityNetwork, x: np.ndarray) -> None:
        self.network, self.x = network, x
        self.log_probs = np.full(len(x), np.nan)
        self._waiting: list[_Ways] = []  # all of them in the same tables
        self._tables: WordTables | None = None
        config = network.config
        self._lengths = max(1, config.mention_positions)  # that are told apart
        types, lengths = np.indices((config.mention_types + 1, self._lengths))
        first = np.ones(types.shape, dtype=bool)
        self._first_places = find_mention_positions(config, types, lengths + 1, first)  # (1 + K, lengths)

    def expect(self, expected: Expectation) -> None:
        """A word at which R is free."""
        probs, places, owners = self._list_ways(expected)
        order = np.argsort(-probs, kind="stable")[:MOST_WAYS]
        kept = order[: 1 + int(np.searchsorted(np.cumsum(probs[order]), 1 - NEGLECTED))]
        owners = owners[kept]
        vectors = expected.gather_vectors(np.maximum(owners - 1, 0))
        vectors[owners == 0] = expected.state.e_current
        entities = np.where(owners <= expected.known, owners, 0)  # new entities have nothing to copy
        log_probs = np.log(probs[kept] / probs[kept].sum())
        self._add(expected.state, expected.tables, expected.at, log_probs, places[kept], vectors, entities)

    def expect_within(self, state: StoryState, tables: WordTables, at: int) -> None:
        """A word inside a mention, where only the word itself is open."""
        mention = np.array([state.open_type]), np.array([state.history.remaining]), np.array([False])
        place = find_mention_positions(self.network.config, *mention)
        entities = np.array([state.history.current])
        self._add(state, tables, at, np.zeros(1), place, state.e_current[None].copy(), entities)

    def _list_ways(self, expected: Expectation) -> tuple[FloatArray, np.ndarray, np.ndarray]:
        """Probability, mention position and owner of each way: no mention (owner 0), or a mention of candidate 1, 2, …"""
        probs = np.exp(expected.log_probs)
        likely = np.argsort(-probs, kind="stable")[:MOST_WAYS]
        enough = np.searchsorted(np.cumsum(probs[likely]), probs.sum() - NEGLECTED / 2)
        likely = likely[: 1 + int(enough)]
        by_length = probs[likely, None]
        if self.network.config.mention_positions:
            lengths = np.exp(expected.log_lengths(likely))
            longest = lengths[:, self._lengths - 1 :].sum(axis=1, keepdims=True)
            by_length = by_length * np.hstack([lengths[:, : self._lengths - 1], longest])
        return (
            np.append(np.exp(expected.log_types[0]), by_length),
            np.append(0, self._first_places[expected.types[likely]]),
            np.append(0, np.repeat(1 + likely, self._lengths)),
        )

    def _add(
        self, state: StoryState, tables: WordTables, at: int,
        log_probs: FloatArray, places: np.ndarray, vectors: np.ndarray, entities: np.ndarray,
    ) -> None:  # fmt: skip
        if tables is not self._tables or len(self._waiting) >= WORDS_AT_ONCE:
            self.finish()
            self._tables = tables
        position, copies = state.history.position, np.zeros((0, 3), dtype=np.int64)
        if self.network.config.copying:
            copies = state.count_copies(int(self.x[position]), entities.tolist())
        self._waiting.append(_Ways(position, at, log_probs, places, vectors, copies))

    def finish(self) -> FloatArray:
        """Score what was collected: (T,) log p of every word that was asked for."""
        if self._waiting and self._tables is not None:
            positions, rows, *columns = zip(*self._waiting, strict=True)
            sizes = [len(ways.places) for ways in self._waiting]
            log_probs, places, vectors, copies = map(np.concatenate, columns)
            pairs = np.repeat(rows, sizes), vectors, places, copies if self.network.config.copying else None
            log_probs = log_probs + score_words(self.network, self._tables, *pairs)
            self.log_probs[list(positions)] = np.logaddexp.reduceat(log_probs, np.cumsum([0, *sizes[:-1]]))
            self._waiting.clear()
        return self.log_probs
