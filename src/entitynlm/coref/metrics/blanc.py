"""BLANC for predicted mentions (Luo et al. 2014): pairs of mentions that corefer, and pairs that don't."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from entitynlm.coref.metrics.alignment import Alignment
from entitynlm.coref.metrics.ratios import Floats, balance, divide

NO_LINKS = -1.0  # the official scorer's mark for a recall that the key gives no occasion for


def count_blanc(alignment: Alignment) -> tuple[float, ...]:
    """Eight counts: (correct, key, correct, response) for coreference links, then for non-coreference
    links.
    """
    if alignment.has_repetitions:
        return _count_link_sets(alignment)
    shared = [mention for mention in alignment.key_chain_of if mention in alignment.response_chain_of]
    correct = _count_pairs(alignment.overlaps.values())
    key_links = _count_pairs(map(len, alignment.key))
    response_links = _count_pairs(map(len, alignment.response))
    shared_in_key = _count_pairs(Counter(alignment.key_chain_of[m] for m in shared).values())
    shared_in_response = _count_pairs(Counter(alignment.response_chain_of[m] for m in shared).values())
    correct_non_links = _count_pairs([len(shared)]) - shared_in_key - shared_in_response + correct
    key_non_links = _count_pairs([alignment.key_mentions]) - key_links
    response_non_links = _count_pairs([alignment.response_mentions]) - response_links
    return (
        correct,
        key_links,
        correct,
        response_links,
        correct_non_links,
        key_non_links,
        correct_non_links,
        response_non_links,
    )


def summarise_blanc(counts: Floats) -> Floats:
    """Recall, precision and F1 averaged over the two kinds of links, or of the one kind that the key has.

    :param counts: shape (..., 8)
    :returns: shape (..., 3)
    """
    links, non_links = counts[..., :4], counts[..., 4:]
    summaries = []
    for part in (links, non_links):
        recall = divide(part[..., 0], part[..., 1], NO_LINKS)
        precision = divide(part[..., 2], part[..., 3])
        summaries.append(np.stack([recall, precision, balance(recall, precision)], axis=-1))
    of_links, of_non_links = summaries
    no_links = of_links[..., :1] == NO_LINKS
    no_non_links = of_non_links[..., :1] == NO_LINKS
    mean = (of_links + of_non_links) / 2
    one_kind = np.where(no_links, np.where(no_non_links, 0.0, of_non_links), of_links)
    return np.where(no_links | no_non_links, one_kind, mean)


def _count_pairs(sizes: Iterable[int]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes)


def _count_link_sets(alignment: Alignment) -> tuple[float, ...]:
    """The same with sets of pairs: a repeated mention may be linked with itself, and be in and out of a
    chain.
    """
    size = 1 + max(
        (m for chains in (alignment.key, alignment.response) for c in chains for m in c), default=0
    )
    key_links, key_non_links = _list_links(alignment.key, size)
    response_links, response_non_links = _list_links(alignment.response, size)
    correct = np.intersect1d(key_links, response_links, assume_unique=True).size
    correct_non_links = np.intersect1d(key_non_links, response_non_links, assume_unique=True).size
    return (
        correct,
        key_links.size,
        correct,
        response_links.size,
        correct_non_links,
        key_non_links.size,
        correct_non_links,
        response_non_links.size,
    )


def _list_links(
    chains: tuple[tuple[int, ...], ...], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct coreference and non-coreference links, a pair as one number below size²."""
    mentions = np.array([mention for chain in chains for mention in chain], dtype=np.int64)
    owners = np.repeat(np.arange(len(chains)), [len(chain) for chain in chains])
    first, second = np.triu_indices(len(mentions), k=1)
    smaller = np.minimum(mentions[first], mentions[second])
    larger = np.maximum(mentions[first], mentions[second])
    codes = smaller * size + larger
    together = owners[first] == owners[second]
    return np.unique(codes[together]), np.unique(codes[~together])
