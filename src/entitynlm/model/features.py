"""f(e) of equation 4: features of the distance from a mention to the closest earlier mention of each entity.

The paper says "a vector of distance features" and no more. Ours are one-hot buckets, so that a linear weight can follow any
curve of forgetting, over three distances:

- ``token``: words from the last word of the entity's latest mention to the word that starts the new one (1 = adjacent),
- ``sentence``: sentences between the two (0 = the same sentence),
- ``mention``: mentions of anything that started since, counting the new one (1 = the entity was mentioned last).

The set ``rich`` adds ``count``, how often the entity was mentioned. A new entity has f(e) = 0, as in the paper.
Decision record: docs/decisions/020-distance-features.md.
"""

from dataclasses import dataclass

import numpy as np

# A value belongs to the last bucket whose edge is not above it.
BUCKET_EDGES = {
    "token": (1, 2, 3, 4, 5, 6, 8, 11, 15, 20, 28, 40, 56, 80, 128, 256, 512, 1024),
    "sentence": (0, 1, 2, 3, 4, 5, 7, 10, 16, 32),
    "mention": (1, 2, 3, 4, 5, 6, 8, 11, 16, 24, 40, 64, 128),
    "count": (1, 2, 3, 4, 5, 6, 8, 11, 16, 24, 40),
}
FARTHEST = max(edges[-1] for edges in BUCKET_EDGES.values())
SETS: dict[str, tuple[str, ...]] = {
    "none": (),
    "paper": ("token", "sentence", "mention"),
    "rich": ("token", "sentence", "mention", "count"),
}
QUANTITIES = ("token", "sentence", "mention", "count")  # the order in which the index measures them


@dataclass(frozen=True)
class FeatureSet:
    """The quantities that are used, and the place of each one's buckets in the vector f(e).

    ``quantities`` are the numbers of those used, each with one hot bucket. ``lookup`` (4, 1 + FARTHEST) has the hot bucket of
    each value of each quantity, where larger values count as FARTHEST. ``size`` is the length of f(e).
    """

    quantities: np.ndarray
    lookup: np.ndarray
    size: int


def make_feature_set(name: str) -> FeatureSet:
    """Make the feature set called ``name``."""
    quantities = np.array([QUANTITIES.index(quantity) for quantity in SETS[name]], dtype=np.int64)
    lookup = np.zeros((len(QUANTITIES), 1 + FARTHEST), dtype=np.uint8)
    size = 0
    for row in quantities:
        edges = BUCKET_EDGES[QUANTITIES[row]]
        buckets = np.searchsorted(edges, np.arange(1 + FARTHEST), side="right") - 1
        lookup[row] = size + np.maximum(buckets, 0)
        size += len(edges)
    return FeatureSet(quantities, lookup, size)
