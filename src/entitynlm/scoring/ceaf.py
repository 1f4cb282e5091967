"""CEAF (Luo 2005): the best one-to-one assignment of key chains to response chains, by mentions or by
entities.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from entitynlm.scoring.alignment import Alignment
from entitynlm.scoring.ratios import Floats


def count_ceaf_mentions(alignment: Alignment) -> tuple[float, ...]:
    """CEAF_m: chains are as similar as they have mentions in common."""
    total = _sum_assigned(_table_shared(alignment))
    return total, sum(map(len, alignment.key)), total, sum(map(len, alignment.response))


def count_ceaf_entities(alignment: Alignment) -> tuple[float, ...]:
    """CEAF_e: shared mentions relative to the sizes of both chains (the Dice coefficient)."""
    shared = _table_shared(alignment)
    key_sizes = np.array([len(chain) for chain in alignment.key], dtype=float)
    response_sizes = np.array([len(chain) for chain in alignment.response], dtype=float)
    total = _sum_assigned(2 * shared / (key_sizes[:, None] + response_sizes))
    return total, len(alignment.key), total, len(alignment.response)


def _table_shared(alignment: Alignment) -> Floats:
    """Shared mentions of key chain i (rows) and response chain j; a repetition in the key chain counts
    again.
    """
    table = np.zeros((len(alignment.key), len(alignment.response)))
    if alignment.repeated_in_key:
        for index, chain in enumerate(alignment.key):
            for mention in chain:
                other = alignment.response_chain_of.get(mention)
                if other is not None:
                    table[index, other] += 1
    else:
        for pair, count in alignment.overlaps.items():
            table[pair] = count
    return table


def _sum_assigned(similarity: Floats) -> float:
    """The similarities of the best assignment, added up row by row.

    The official scorer minimises 1 - similarity and takes the difference back from 1 afterwards; the same
    detour gives the same rounding.
    """
    if similarity.size == 0:
        return 0.0
    cost = 1 - similarity
    rows, columns = linear_sum_assignment(cost)
    total = 0.0
    for value in (1 - cost[rows, columns]).tolist():
        total += value
    return total
