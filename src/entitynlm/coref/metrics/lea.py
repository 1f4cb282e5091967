"""LEA (Moosavi and Strube 2016): for each entity, which share of its links is resolved, weighed by its
size.
"""

from __future__ import annotations

from collections.abc import Mapping

from entitynlm.coref.metrics.alignment import Alignment


def count_lea(alignment: Alignment) -> tuple[float, ...]:
    """importance(e) = |e| and resolution(e) = resolved links / links, summed over key and over response
    entities.

    A singleton has one link, to itself, which is resolved by the same singleton on the other side.
    """
    key_sizes = [len(set(chain)) for chain in alignment.key]
    response_sizes = [len(set(chain)) for chain in alignment.response]
    transposed = {(j, i): count for (i, j), count in alignment.overlaps.items()}
    recall = _sum_resolved(key_sizes, response_sizes, alignment.overlaps)
    precision = _sum_resolved(response_sizes, key_sizes, transposed)
    return recall, sum(key_sizes), precision, sum(response_sizes)


def _sum_resolved(sizes: list[int], other_sizes: list[int], overlaps: Mapping[tuple[int, int], int]) -> float:
    resolved = [0] * len(sizes)
    for (index, other), count in overlaps.items():
        if sizes[index] == 1:
            resolved[index] += other_sizes[other] == 1
        else:
            resolved[index] += _count_links(count)
    total = 0.0
    for size, links in zip(sizes, resolved, strict=True):
        total += size * links / max(_count_links(size), 1)
    return total


def _count_links(size: int) -> int:
    return size * (size - 1) // 2
