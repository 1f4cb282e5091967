"""MUC, B³, CEAF, LEA and BLANC: counts per document, and recall, precision and F1 from the summed counts.

The arithmetic follows the official scorer operation by operation, so that even the last bit agrees. Most metrics count (recall
numerator, its denominator, precision numerator, its denominator); BLANC counts four numbers for each of two kinds of links.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from entitynlm.coref.metrics.alignment import Alignment
from entitynlm.coref.metrics.assignment import Pair, assign

Counts = tuple[float, ...]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

PERCENT = 100
NO_LINKS = -1.0  # the official scorer's mark for a recall that the key gives no occasion for


# -- ratios ----------------------------------------------------------------------------------------------------------------


def divide(numerator: Floats, denominator: Floats, otherwise: float = 0.0) -> Floats:
    """Divide element by element; the result is ``otherwise`` where the denominator is zero."""
    quotient = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), otherwise)
    np.divide(numerator, denominator, out=quotient, where=denominator != 0)
    return quotient


def summarise_counts(counts: Floats, no_recall: float = 0.0) -> Floats:
    """(..., 3) recall, precision and F1 from (..., 4) counts; recall is ``no_recall`` where the key has nothing to find."""
    recall = divide(counts[..., 0], counts[..., 1], no_recall)
    precision = divide(counts[..., 2], counts[..., 3])
    f1 = divide(2 * precision * recall, precision + recall)
    return np.stack([recall, precision, f1], axis=-1)


def summarise_blanc(counts: Floats) -> Floats:
    """(..., 3) recall, precision and F1 from (..., 8) counts: the mean over both kinds of links, or the only kind in the key."""
    links, non_links = (summarise_counts(part, NO_LINKS) for part in (counts[..., :4], counts[..., 4:]))
    no_links, no_non_links = links[..., :1] == NO_LINKS, non_links[..., :1] == NO_LINKS
    one_kind = np.where(no_links, np.where(no_non_links, 0.0, non_links), links)
    return np.where(no_links | no_non_links, one_kind, (links + non_links) / 2)


def to_percent(ratio: float) -> float:
    """Convert a ratio to percent by the official scorer's own arithmetic, but without its truncation."""
    return ratio * 10000 / PERCENT


def truncate_percent(ratio: float) -> float:
    """Convert a ratio to percent as the official scorer prints it: two decimals, cut off and not rounded."""
    return int(ratio * 10000) / PERCENT


# -- counts ----------------------------------------------------------------------------------------------------------------


def count_mentions(alignment: Alignment) -> Counts:
    """Identification of mentions: exact spans, whatever their chain."""
    common = alignment.common_mentions
    return common, alignment.key_mentions, common, alignment.response_mentions


def count_muc(alignment: Alignment) -> Counts:
    """MUC (Vilain et al. 1995): n - 1 links per chain, correct between mentions of one key chain in one response chain."""
    key_chain_of = alignment.key_chain_of
    correct = 0
    for chain in alignment.response:
        owners = [key_chain_of[mention] for mention in chain if mention in key_chain_of]
        correct += len(owners) - len(set(owners))
    key_links = sum(len(chain) - 1 for chain in alignment.key)
    response_links = sum(len(chain) - 1 for chain in alignment.response)
    return correct, key_links, correct, response_links


def count_b_cubed(alignment: Alignment) -> Counts:
    """B³ (Bagga and Baldwin 1998): for each mention, the share of its chain that both chains have in common."""
    precision = recall = 0.0
    key_chain_of, overlaps, sizes = alignment.key_chain_of, alignment.overlaps, list(map(len, alignment.key))
    for index, chain in enumerate(alignment.response):
        size = len(chain)
        for mention in chain:
            owner = key_chain_of.get(mention)
            if owner is not None:
                common = overlaps[owner, index]
                precision += common / size
                recall += common / sizes[owner]
    return recall, sum(map(len, alignment.key)), precision, sum(map(len, alignment.response))


def count_ceaf_mentions(alignment: Alignment) -> Counts:
    """CEAF_m (Luo 2005): the best one-to-one assignment of chains by the number of mentions in common."""
    total = _sum_assigned(_count_shared(alignment))
    return total, sum(map(len, alignment.key)), total, sum(map(len, alignment.response))


def count_ceaf_entities(alignment: Alignment) -> Counts:
    """CEAF_e (Luo 2005): the best one-to-one assignment of chains by their Dice coefficient."""
    key_sizes, response_sizes = list(map(len, alignment.key)), list(map(len, alignment.response))
    similarity = {
        (i, j): 2 * shared / (key_sizes[i] + response_sizes[j])
        for (i, j), shared in _count_shared(alignment).items()
    }
    total = _sum_assigned(similarity)
    return total, len(alignment.key), total, len(alignment.response)


def _count_shared(alignment: Alignment) -> Mapping[Pair, int]:
    """Count the mentions that key chain i and response chain j share, if any; repetitions in the key count again."""
    if not alignment.repeated_in_key:
        return alignment.overlaps
    response_chain_of = alignment.response_chain_of
    return Counter(
        (index, response_chain_of[mention])
        for index, chain in enumerate(alignment.key)
        for mention in chain
        if mention in response_chain_of
    )


def _sum_assigned(similarity: Mapping[Pair, float]) -> float:
    """Sum the best assignment row by row, each similarity as 1 - (1 - s), which rounds as the official scorer does."""
    total = 0.0
    for pair in assign(similarity):
        total += 1 - (1 - similarity[pair])
    return total


def count_lea(alignment: Alignment) -> Counts:
    """LEA (Moosavi and Strube 2016): the share of an entity's links that is resolved, by size; a singleton links to itself."""
    key_sizes = [len(set(chain)) for chain in alignment.key]
    response_sizes = [len(set(chain)) for chain in alignment.response]
    transposed = {(j, i): count for (i, j), count in alignment.overlaps.items()}
    recall = _sum_resolved(key_sizes, response_sizes, alignment.overlaps)
    precision = _sum_resolved(response_sizes, key_sizes, transposed)
    return recall, sum(key_sizes), precision, sum(response_sizes)


def _sum_resolved(sizes: Sequence[int], other_sizes: Sequence[int], overlaps: Mapping[Pair, int]) -> float:
    resolved = [0] * len(sizes)
    for (index, other), count in overlaps.items():
        if sizes[index] == 1:
            resolved[index] += other_sizes[other] == 1
        else:
            resolved[index] += count * (count - 1) // 2
    total = 0.0
    for size, links in zip(sizes, resolved, strict=True):
        total += size * links / max(size * (size - 1) // 2, 1)
    return total


def count_blanc(alignment: Alignment) -> Counts:
    """BLANC for predicted mentions (Luo et al. 2014): counts of coreference links, then of non-coreference links."""
    if alignment.has_repetitions:
        return _count_link_sets(alignment)
    key_chain_of, response_chain_of = alignment.key_chain_of, alignment.response_chain_of
    shared = [mention for mention in key_chain_of if mention in response_chain_of]
    correct = _count_pairs(alignment.overlaps.values())
    key_links = _count_pairs(map(len, alignment.key))
    response_links = _count_pairs(map(len, alignment.response))
    shared_in_key = _count_pairs(Counter([key_chain_of[m] for m in shared]).values())
    shared_in_response = _count_pairs(Counter([response_chain_of[m] for m in shared]).values())
    correct_non_links = _count_pairs([len(shared)]) - shared_in_key - shared_in_response + correct
    key_non_links = _count_pairs([alignment.key_mentions]) - key_links
    response_non_links = _count_pairs([alignment.response_mentions]) - response_links
    links = (correct, key_links, correct, response_links)
    return (*links, correct_non_links, key_non_links, correct_non_links, response_non_links)


def _count_pairs(sizes: Iterable[int]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes)


def _count_link_sets(alignment: Alignment) -> Counts:
    """Count links as distinct pairs, where a repeated mention also forms a pair with itself.

    The pairs of one mention are in memory at a time, because those of a book would not fit.
    """
    counts = np.zeros((2, 4))
    size = 1 + max((max(chain) for chain in (*alignment.key, *alignment.response)), default=-1)
    for of_key, of_response in zip(
        _list_links(alignment.key, size), _list_links(alignment.response, size), strict=True
    ):
        for row, key, response in zip(counts, of_key, of_response, strict=True):
            correct = np.count_nonzero(key & response)
            row += correct, np.count_nonzero(key), correct, np.count_nonzero(response)
    return tuple(counts.ravel().tolist())


def _list_links(chains: Sequence[Sequence[int]], size: int) -> Iterator[tuple[Truths, Truths]]:
    """For each mention, mark the later mentions (and itself) that it corefers with, and those that it does not corefer with."""
    owners: list[list[int]] = [[] for _ in range(size)]
    for index, chain in enumerate(chains):
        for mention in set(chain):
            owners[mention].append(index)
    present, single = np.array([(len(own) > 0, len(own) == 1) for own in owners], dtype=bool).reshape(-1, 2).T
    members = [np.array(chain) for chain in chains]
    twice = {mention for chain in chains for mention, times in Counter(chain).items() if times > 1}
    for mention, own in enumerate(owners):
        linked = np.zeros(size, dtype=bool)
        for index in own:
            linked[members[index]] = True
        apart = present & ~(linked & single) if len(own) == 1 else present & bool(own)
        linked[mention], apart[mention] = mention in twice, len(own) > 1
        yield linked[mention:], apart[mention:]
