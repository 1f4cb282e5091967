"""CEAF (Luo 2005): the best one-to-one assignment of key chains to response chains, by mentions or by
entities.
"""

from __future__ import annotations

from collections.abc import Mapping

from entitynlm.coref.metrics.alignment import Alignment
from entitynlm.coref.metrics.assignment import Pair, assign


def count_ceaf_mentions(alignment: Alignment) -> tuple[float, ...]:
    """CEAF_m: chains are as similar as they have mentions in common."""
    total = _sum_assigned(_count_shared(alignment))
    return total, sum(map(len, alignment.key)), total, sum(map(len, alignment.response))


def count_ceaf_entities(alignment: Alignment) -> tuple[float, ...]:
    """CEAF_e: shared mentions relative to the sizes of both chains (the Dice coefficient)."""
    key_sizes, response_sizes = list(map(len, alignment.key)), list(map(len, alignment.response))
    similarity = {
        (i, j): 2 * shared / (key_sizes[i] + response_sizes[j])
        for (i, j), shared in _count_shared(alignment).items()
    }
    total = _sum_assigned(similarity)
    return total, len(alignment.key), total, len(alignment.response)


def _count_shared(alignment: Alignment) -> Mapping[Pair, int]:
    """Shared mentions of key chain i and response chain j where there are any; a repetition in the key chain
    counts again.
    """
    if not alignment.repeated_in_key:
        return alignment.overlaps
    table: dict[Pair, int] = {}
    for index, chain in enumerate(alignment.key):
        for mention in chain:
            other = alignment.response_chain_of.get(mention)
            if other is not None:
                table[index, other] = table.get((index, other), 0) + 1
    return table


def _sum_assigned(similarity: Mapping[Pair, float]) -> float:
    """The similarities of the best assignment, added up row by row.

    The official scorer minimises 1 - similarity and takes the difference back from 1 afterwards; the same
    detour gives the same rounding.
    """
    total = 0.0
    for pair in assign(similarity):
        total += 1 - (1 - similarity[pair])
    return total
