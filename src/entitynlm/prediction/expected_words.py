"""What a reader expects of the next word who knows the mentions so far, but not whether a mention starts and of whom.

A sum over all ways to go on: no mention, or a mention of each entity and (where the network looks at it) of each length.
Nearly all of its weight lies on a few of them, so the improbable rest is left out and the others are scaled up for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from entitynlm.inference.weights import FloatArray
from entitynlm.inference.word_tables import WordTables
from entitynlm.model.encoding.copying import EntityWords
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.features import find_mention_positions

if TYPE_CHECKING:
    from entitynlm.prediction.referents import Expectation

NEGLECTED = 0.002
"""Prior probability of all the ways to go on that are left out, at most …"""

MOST_WAYS = 48
"""… unless there would be more of them than these."""

PAIRS_AT_ONCE = 4_096
NUMBERS_AT_ONCE = 2**22


class ExpectedWords:
    """Collects the ways to go on, word by word, and scores them in batches."""

    def __init__(self, network: EntityNetwork, x: np.ndarray, entity: np.ndarray) -> None:
        """``x`` (T,) and ``entity`` (T,): the words of the text, and whose they are (0: nobody's)."""
        self.network, self.x, self.entity = network, x, entity
        self.spoken = EntityWords()
        self.log_probs = np.full(len(x), np.nan)
        self._positions: list[np.ndarray] = []
        self._weights: list[FloatArray] = []
        self._places: list[np.ndarray] = []
        self._vectors: list[np.ndarray] = []
        self._contexts: list[np.ndarray] = []
        self._copies: list[np.ndarray] = []
        self._waiting = 0
        self._first_places = _number_first_places(network)

    def expect(
        self, tables: WordTables, at: int, position: int, e_current: np.ndarray, found: Expectation
    ) -> None:
        """A word at which R is free."""
        weights, places, owners = self._list_ways(tables, at, found)
        order = np.argsort(-weights, kind="stable")[:MOST_WAYS]
        reached = np.cumsum(weights[order])
        kept = order[: 1 + int(np.searchsorted(reached, 1 - NEGLECTED))]
        log_weights = np.log(weights[kept] / weights[kept].sum())
        vectors = np.concatenate([e_current[None], found.vectors])[owners[kept]]
        owner = np.where(owners[kept] <= found.known, owners[kept], 0)  # newborns have nothing to repeat
        self._add(tables, at, position, log_weights, places[kept], vectors, owner)

    def expect_within(
        self,
        tables: WordTables,
        at: int,
        position: int,
        e_current: np.ndarray,
        mention_type: int,
        remaining: int,
    ) -> None:
        """A word inside a mention, where only the word itself is open."""
        place = find_mention_positions(
            self.network.config, np.array([mention_type]), np.array([remaining]), np.array([False])
        )
        self._add(
            tables,
            at,
            position,
            np.zeros(1),
            place,
            e_current[None].copy(),
            self.entity[position : position + 1],
        )

    def _list_ways(
        self, tables: WordTables, at: int, found: Expectation
    ) -> tuple[FloatArray, np.ndarray, np.ndarray]:
        """Probability, place and owner of each way to go on: no mention (owner 0), or a mention of candidate 1, 2, …"""
        config = self.network.config
        several = config.mention_positions
        probs = np.exp(found.log_probs)
        likely = np.argsort(-probs, kind="stable")[:MOST_WAYS]
        enough = np.searchsorted(np.cumsum(probs[likely]), probs.sum() - NEGLECTED / 2)
        likely = likely[: 1 + int(enough)]
        none = np.zeros(1, dtype=np.int64)
        weights = np.concatenate([[np.exp(found.log_none)], probs[likely]])
        if not several:
            return weights, np.zeros(len(weights), dtype=np.int64), np.concatenate([none, 1 + likely])
        scores = (tables.length_scores[at] + found.vectors[likely] @ tables.length_weights.T).astype(
            np.float64
        )
        lengths = np.exp(scores - scores.max(axis=1, keepdims=True))
        lengths /= lengths.sum(axis=1, keepdims=True)
        grouped = lengths[:, :several].copy()
        grouped[:, several - 1] = lengths[:, several - 1 :].sum(axis=1)
        places = self._first_places[found.mention_types[likely]].reshape(-1)
        return (
            np.concatenate([weights[:1], (weights[1:, None] * grouped).reshape(-1)]),
            np.concatenate([none, places]),
            np.concatenate([none, np.repeat(1 + likely, several)]),
        )

    def _add(
        self,
        tables: WordTables,
        at: int,
        position: int,
        log_weights: FloatArray,
        places: np.ndarray,
        vectors: np.ndarray,
        owners: np.ndarray,
    ) -> None:
        count = len(log_weights)
        if self.network.config.copying:
            x = int(self.x[position])
            self._copies.append(
                np.array([self.spoken.count(x, n) if n else (0, 0, 0) for n in owners.tolist()])
            )
            self.spoken.read(x, int(self.entity[position]))
        self._positions.append(np.full(count, position))
        self._weights.append(log_weights)
        self._places.append(places)
        self._vectors.append(vectors)
        self._contexts.append(np.broadcast_to(tables.contexts[at], vectors.shape))
        self._waiting += count
        if self._waiting >= PAIRS_AT_ONCE:
            self.flush()

    @torch.no_grad()
    def flush(self) -> None:
        """Score what was collected."""
        if not self._waiting:
            return
        positions = np.concatenate(self._positions)
        log_weights = np.concatenate(self._weights)
        ids, places = self.x[positions], np.concatenate(self._places)
        vectors, contexts = np.concatenate(self._vectors), np.concatenate(self._contexts)
        copies = np.concatenate(self._copies) if self._copies else None
        scores = score_words(self.network, contexts, vectors, ids, places, copies)
        starts = np.flatnonzero(np.diff(positions, prepend=-1))
        joint = log_weights + scores
        self.log_probs[positions[starts]] = np.logaddexp.reduceat(joint, starts)
        collections = (self._positions, self._weights, self._places, self._vectors, self._contexts)
        for collected in (*collections, self._copies):
            collected.clear()
        self._waiting = 0


def _number_first_places(network: EntityNetwork) -> np.ndarray:
    """(1 + K, word_states) the place of a mention's first word, by kind and number of words."""
    mention_types = np.arange(network.config.mention_types + 1)[:, None]
    lengths = np.arange(1, network.config.mention_positions + 1)[None]
    mention_types, lengths = np.broadcast_arrays(mention_types, lengths)
    return find_mention_positions(
        network.config, mention_types, lengths, np.ones(mention_types.shape, dtype=bool)
    )


@torch.no_grad()
def score_words(
    network: EntityNetwork,
    contexts: np.ndarray,
    vectors: np.ndarray,
    ids: np.ndarray,
    places: np.ndarray,
    copies: np.ndarray | None = None,
) -> FloatArray:
    """(n,) equation 6 for pairs of a context and a vector of e_current, a few at a time.

    :param echoes: (n, 3) whether the word opens a stretch of its entity's words, its chances and its echoes; None: no echoes.
    """
    device, mention_type = network.W_r.device, network.W_r.dtype
    scores = np.empty(len(ids))
    batch = max(1, NUMBERS_AT_ONCE // network.backbone.vocabulary_size)
    for start in range(0, len(ids), batch):
        some = slice(start, start + batch)
        h, e = (torch.from_numpy(np.array(a[some])).to(device, mention_type) for a in (contexts, vectors))
        x, states = (torch.from_numpy(a[some].astype(np.int64)).to(device) for a in (ids, places))
        found = network.log_prob_word(h, network.project_entity(e), x, states)
        if copies is not None:
            counts = torch.from_numpy(copies[some]).to(device)
            found = network.mix_copies(found, network.score_copying(h), *counts.unbind(1))
        scores[some] = found.double().cpu().numpy()
    return scores
