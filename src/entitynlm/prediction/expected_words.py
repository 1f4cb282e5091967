"""What a reader expects of the next word who knows the mentions so far, but not whether a mention starts and of whom.

A sum over all ways to go on: no mention, or a mention of each entity and (where the network looks at it) of each length.
Nearly all of its weight lies on a few of them, so the improbable rest is left out and the others are scaled up for it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from entitynlm.inference.story_state import Expectation, StoryState
from entitynlm.inference.weights import FloatArray
from entitynlm.inference.word_tables import WordTables
from entitynlm.model.batch.pieces import log_prob_chosen_words
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.features import find_mention_positions

NEGLECTED = 0.002
"""Prior probability of all the ways to go on that are left out, at most …"""

MOST_WAYS = 48
"""… unless there would be more of them than these."""

PAIRS_AT_ONCE = 4_096
NUMBERS_AT_ONCE = 2**22


class _Ways(NamedTuple):
    """The ways to go on at one word: (n,) positions, rows, log-probabilities and places; (n, d) e_current; (n, 3) copy counts."""

    positions: np.ndarray
    rows: np.ndarray
    log_weights: FloatArray
    places: np.ndarray
    vectors: np.ndarray
    copies: np.ndarray


class ExpectedWords:
    """Collects the ways to go on, word by word, and scores them in batches."""

    def __init__(self, network: EntityNetwork, x: np.ndarray) -> None:
        """``x`` (T,) are the words of the text."""
        self.network, self.x = network, x
        self.log_probs = np.full(len(x), np.nan)
        self._waiting: list[_Ways] = []  # all of them in the same tables
        self._tables: WordTables | None = None
        self._count = 0
        types, lengths = np.meshgrid(
            np.arange(network.config.mention_types + 1),
            np.arange(1, network.config.mention_positions + 1),
            indexing="ij",
        )
        first = np.ones(types.shape, dtype=bool)
        self._first_places = find_mention_positions(
            network.config, types, lengths, first
        )  # (1 + K, positions)

    def expect(self, expected: Expectation, position: int) -> None:
        """A word at which R is free."""
        weights, places, owners = self._list_ways(expected)
        order = np.argsort(-weights, kind="stable")[:MOST_WAYS]
        reached = np.cumsum(weights[order])
        kept = order[: 1 + int(np.searchsorted(reached, 1 - NEGLECTED))]
        owners = owners[kept]
        vectors = expected.gather_vectors(np.maximum(owners - 1, 0))
        vectors[owners == 0] = expected.state.e_current
        entities = np.where(owners <= expected.known, owners, 0)  # new entities have nothing to copy
        log_weights = np.log(weights[kept] / weights[kept].sum())
        self._add(
            expected.state,
            expected.tables,
            expected.at,
            position,
            log_weights,
            places[kept],
            vectors,
            entities,
        )

    def expect_within(self, state: StoryState, tables: WordTables, at: int, position: int) -> None:
        """A word inside a mention, where only the word itself is open."""
        remaining = np.array([state.history.remaining])
        place = find_mention_positions(
            self.network.config, np.array([state.open_type]), remaining, np.array([False])
        )
        entities = np.array([state.history.current])
        self._add(state, tables, at, position, np.zeros(1), place, state.e_current[None].copy(), entities)

    def _list_ways(self, expected: Expectation) -> tuple[FloatArray, np.ndarray, np.ndarray]:
        """Probability, mention position and owner of each way: no mention (owner 0), or a mention of candidate 1, 2, …"""
        several = self.network.config.mention_positions
        probs = np.exp(expected.log_probs)
        likely = np.argsort(-probs, kind="stable")[:MOST_WAYS]
        enough = np.searchsorted(np.cumsum(probs[likely]), probs.sum() - NEGLECTED / 2)
        likely = likely[: 1 + int(enough)]
        none = np.zeros(1, dtype=np.int64)
        no_mention = np.exp(expected.log_types[:1])
        if not several:
            owners = np.concatenate([none, 1 + likely])
            return np.concatenate([no_mention, probs[likely]]), np.zeros_like(owners), owners
        lengths = np.exp(expected.log_lengths(likely))
        grouped = lengths[:, :several].copy()
        grouped[:, several - 1] = lengths[:, several - 1 :].sum(axis=1)
        return (
            np.concatenate([no_mention, (probs[likely, None] * grouped).reshape(-1)]),
            np.concatenate([none, self._first_places[expected.types[likely]].reshape(-1)]),
            np.concatenate([none, np.repeat(1 + likely, several)]),
        )

    def _add(
        self,
        state: StoryState,
        tables: WordTables,
        at: int,
        position: int,
        log_weights: FloatArray,
        places: np.ndarray,
        vectors: np.ndarray,
        entities: np.ndarray,
    ) -> None:
        copies = np.zeros((0, 3), dtype=np.int64)
        if self.network.config.copying:
            copies = state.count_copies(int(self.x[position]), entities.tolist())
        if tables is not self._tables:
            self._flush()
            self._tables = tables
        positions, rows = np.full(len(log_weights), position), np.full(len(log_weights), at)
        self._waiting.append(_Ways(positions, rows, log_weights, places, vectors, copies))
        self._count += len(log_weights)
        if self._count >= PAIRS_AT_ONCE:
            self._flush()

    def finish(self) -> FloatArray:
        """(T,) log p of every word that was asked for."""
        self._flush()
        return self.log_probs

    def _flush(self) -> None:
        """Score what was collected."""
        if not self._waiting or self._tables is None:
            return
        ways = _Ways(*(np.concatenate(column) for column in zip(*self._waiting, strict=True)))
        copies = ways.copies if self.network.config.copying else None
        scores = score_words(self.network, self._tables, ways.rows, ways.vectors, ways.places, copies)
        starts = np.flatnonzero(np.diff(ways.positions, prepend=-1))
        self.log_probs[ways.positions[starts]] = np.logaddexp.reduceat(ways.log_weights + scores, starts)
        self._waiting.clear()
        self._count = 0


@torch.no_grad()
def score_words(
    network: EntityNetwork,
    tables: WordTables,
    rows: np.ndarray,
    vectors: np.ndarray,
    places: np.ndarray,
    copies: np.ndarray | None = None,
) -> FloatArray:
    """(n,) equation 6 for pairs of a word, given by its row in the tables, and a vector of e_current, a few at a time.

    :param copies: (n, 3) whether the word opens a stretch of its entity's words, its copy candidates and its copies.
    """
    device, dtype = network.W_r.device, network.W_r.dtype
    piece_states, contexts = (torch.from_numpy(a).to(device) for a in (tables.piece_states, tables.contexts))
    scores = np.empty(len(rows))
    batch = max(1, NUMBERS_AT_ONCE // network.backbone.vocabulary_size)
    for start in range(0, len(rows), batch):
        some = slice(start, start + batch)
        We = network.project_entity(torch.from_numpy(np.array(vectors[some])).to(device, dtype))
        positions = torch.from_numpy(places[some].astype(np.int64)).to(device)
        found = log_prob_chosen_words(network, piece_states, tables.words, rows[some], We, positions)
        if copies is not None:
            counts = torch.from_numpy(copies[some]).to(device)
            h = contexts[torch.from_numpy(rows[some]).to(device)]
            found = network.mix_copies(found, network.score_copying(h), *counts.unbind(1))
        scores[some] = found.double().cpu().numpy()
    return scores
