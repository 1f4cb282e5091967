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
QUANTITIES = ("token", "sentence", "mention", "count")  # the order in which the index measures them


@dataclass(frozen=True)
class FeatureSet:
    """Which quantities are used, and where the buckets of each lie in the one long vector f(e).

    ``quantities`` are the numbers of those used: so many buckets are hot at once. ``lookup`` (4, 1 + FARTHEST) has the hot bucket
    of each value of each quantity, where values beyond count as FARTHEST. ``size`` is the length of f(e).
    """

    quantities: np.ndarray
    lookup: np.ndarray
    size: int


def make_feature_set(name: str) -> FeatureSet:
    """The feature set called ``name``."""
    if name not in SETS:
        raise ConfigError(f"there is no feature set {name!r}; choose one of {', '.join(SETS)}")
    quantities = np.array([QUANTITIES.index(quantity) for quantity in SETS[name]], dtype=np.int64)
    lookup = np.zeros((len(QUANTITIES), 1 + FARTHEST), dtype=np.uint8)
    size = 0
    for row in quantities:
        edges = EDGES[QUANTITIES[row]]
        buckets = np.searchsorted(edges, np.arange(1 + FARTHEST), side="right") - 1
        lookup[row] = size + np.maximum(buckets, 0)
        size += len(edges)
    return FeatureSet(quantities, lookup, size)


def find_bucket(quantity: str, value: int) -> int:
    """The bucket of one value, the plain way (compiled code looks it up)."""
    return int(np.searchsorted(np.asarray(EDGES[quantity]), value, side="right")) - 1


def count_mention_positions(config: ModelConfig) -> int:
    """How many places in (or out of) a mention :func:`find_mention_positions` tells apart."""
    return 1 + 2 * max(1, config.mention_positions) * config.mention_types


def find_mention_positions(
    config: ModelConfig, mention_type: np.ndarray, remaining: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """The place of each word: 0 outside of mentions, else by type, by whether it is the mention's first word, and by how many
    words remain (those above ``mention_positions`` count as that many; copying needs to know of a mention even where words
    have no vectors for it). Any shape, all alike.
    """
    most = max(1, config.mention_positions)
    left = np.minimum(remaining, most) - 1
    place = 1 + ((mention_type.astype(np.int64) - 1) * 2 + first) * most + left
    return np.where(mention_type > 0, place, 0)
