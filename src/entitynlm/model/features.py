"""f(e) of equation 4: features of the distance from a mention to the closest earlier mention of each entity.

The paper says "a vector of distance features" and no more. Ours are one-hot buckets, so that a linear weight can follow any
curve of forgetting, over three distances:

- ``token``: words from the last word of the entity's latest mention to the word that starts the new one (1 = adjacent),
- ``sentence``: sentences between the two (0 = the same sentence),
- ``mention``: mentions of anything that started since, counting the new one (1 = the entity was mentioned last).

The set ``rich`` adds ``count``, how often the entity was mentioned. A new entity has f(e) = 0, as in the paper.
Decision record: docs/decisions/020-distance-features.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from entitynlm.config import ModelConfig
from entitynlm.errors import ConfigError

# A value belongs to the last bucket whose edge is not above it.
EDGES = {
    "token": (1, 2, 3, 4, 5, 6, 8, 11, 15, 20, 28, 40, 56, 80, 128, 256, 512, 1024),
    "sentence": (0, 1, 2, 3, 4, 5, 7, 10, 16, 32),
    "mention": (1, 2, 3, 4, 5, 6, 8, 11, 16, 24, 40, 64, 128),
    "count": (1, 2, 3, 4, 5, 6, 8, 11, 16, 24, 40),
}
FARTHEST = max(edges[-1] for edges in EDGES.values())
SETS: dict[str, tuple[str, ...]] = {
    "none": (),
    "paper": ("token", "sentence", "mention"),
    "rich": ("token", "sentence", "mention", "count"),
}
QUANTITIES = ("token", "sentence", "mention", "count")  # the order in which the layout measures them


@dataclass(frozen=True)
class FeatureSet:
    """Which quantities are used, and where the buckets of each lie in the one long vector f(e).

    ``edges`` (4, W) and ``offsets`` (4,) are rectangular so that compiled code can read them; an unused quantity has
    offset -1. ``lookup`` (4, 1 + FARTHEST) is the hot bucket of each value of each quantity: those beyond count as FARTHEST.
    """

    names: tuple[str, ...]
    edges: np.ndarray
    edge_counts: np.ndarray
    offsets: np.ndarray
    lookup: np.ndarray
    size: int

    @property
    def width(self) -> int:
        """How many buckets of f(e) are hot at once."""
        return len(self.names)


def make_feature_set(name: str) -> FeatureSet:
    """The feature set called ``name``."""
    if name not in SETS:
        raise ConfigError(f"there is no feature set {name!r}; choose one of {', '.join(SETS)}")
    names = SETS[name]
    longest = max(len(edges) for edges in EDGES.values())
    table = np.full((len(QUANTITIES), longest), np.iinfo(np.int64).max, dtype=np.int64)
    counts = np.zeros(len(QUANTITIES), dtype=np.int64)
    offsets = np.full(len(QUANTITIES), -1, dtype=np.int64)
    lookup = np.zeros((len(QUANTITIES), 1 + FARTHEST), dtype=np.uint8)
    size = 0
    for row, quantity in enumerate(QUANTITIES):
        edges = EDGES[quantity]
        table[row, : len(edges)] = edges
        counts[row] = len(edges)
        if quantity in names:
            offsets[row] = size
            buckets = np.searchsorted(edges, np.arange(1 + FARTHEST), side="right") - 1
            lookup[row] = size + np.maximum(buckets, 0)
            size += len(edges)
    return FeatureSet(names, table, counts, offsets, lookup, size)


def find_bucket(quantity: str, value: int) -> int:
    """The bucket of one value, the plain way (the compiled layout does the same by a scan over edges)."""
    return int(np.searchsorted(np.asarray(EDGES[quantity]), value, side="right")) - 1


def count_mention_positions(config: ModelConfig) -> int:
    """How many places in (or out of) a mention ``find_word_states`` tells apart."""
    return 1 + 2 * config.mention_positions * config.mention_types


def find_mention_positions(
    config: ModelConfig, mention_type: np.ndarray, remaining: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """The place of each word: 0 outside of mentions, else by kind, by whether it is the mention's first word, and by how many
    words remain (those above ``word_states`` count as that many). Any shape, all alike.
    """
    left = np.minimum(remaining, config.mention_positions) - 1
    place = 1 + ((mention_type.astype(np.int64) - 1) * 2 + first) * config.mention_positions + left
    return np.where(mention_type > 0, place, 0)
