"""Decisions: which spans are mentions, and which cluster each mention joins."""

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from entitynlm.coref.cluster_features import ClusterMemory, ScoredPairs
from entitynlm.coref.mention_table import MentionTable
from entitynlm.coref.pair_features import Pairs, pair_mentions
from entitynlm.coref.resolver_network import PairScores, ResolverNetwork
from entitynlm.discourse.identity import IdentityRules
from entitynlm.model.encoding.preprocessing import IntArray

MENTIONS_AT_ONCE = 32
"""Mentions whose antecedents are scored at a time: bounds the memory."""


def choose_spans(first: IntArray, last: IntArray, scores: np.ndarray, threshold: float) -> IntArray:
    """Choose the spans above a threshold; of two that cross each other only the better one."""
    chosen: list[int] = []
    for number in np.argsort(-scores, kind="stable").tolist():
        if scores[number] <= threshold:
            break
        a, b = first[number], last[number]
        kept = np.array(chosen, dtype=np.int64)
        c, d = first[kept], last[kept]
        if not (((c < a) & (a <= d) & (d < b)) | ((a < c) & (c <= b) & (b < d))).any():
            chosen.append(number)
    kept = np.array(chosen, dtype=np.int64)
    return kept[np.lexsort((-last[kept], first[kept]))]


@torch.no_grad()
def cluster_mentions(
    network: ResolverNetwork, vectors: Tensor, mentions: MentionTable, rules: IdentityRules | None = None
) -> tuple[list[int], list[float]]:
    """Give each mention a cluster, numbered from 0, and the decision's probability; ``rules`` may exclude clusters."""
    memory, sides = ClusterMemory(mentions), network.project_mentions(vectors)
    probabilities: list[float] = []
    for low, high in pairwise([*range(0, mentions.size, MENTIONS_AT_ONCE), mentions.size]):
        pairs = pair_mentions(mentions, low, high)
        scores = network.score_pairs(sides, mentions, pairs)
        none = network.score_none(vectors, mentions, slice(low, high))
        scored = arrange_scores(low, pairs, scores, none)
        probabilities += memory.follow(scored, network.cluster_weights, rules=rules)[1].tolist()
    return memory.clusters.tolist(), probabilities


def arrange_scores(low: int, pairs: Pairs, scores: PairScores, none: Tensor) -> ScoredPairs:
    """Arrange the network's scores of the mentions from ``low`` on as the compiled loop takes them."""
    bounds = np.searchsorted(pairs.mention, np.arange(low, low + len(none) + 1))
    numbers = (part.detach().numpy() for part in (*scores, none))
    return ScoredPairs(low, bounds, pairs.antecedent, *numbers)
