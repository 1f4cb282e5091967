"""Decisions: which spans are mentions, and which cluster each mention joins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import torch

from entitynlm.characters.identity import IdentityRules
from entitynlm.coref.end_to_end.network import EndToEndNetwork
from entitynlm.coref.end_to_end.pair_features import MentionTable
from entitynlm.model.encoding.preprocessing import IntArray

BLOCK = 64
"""Mentions whose antecedents are scored at a time: bounds the memory."""


def choose_spans(first: IntArray, last: IntArray, scores: np.ndarray, threshold: float) -> IntArray:
    """Which of the spans are mentions: those above a threshold, of two that cross each other the better one."""
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
    network: EndToEndNetwork,
    vectors: torch.Tensor,
    mentions: MentionTable,
    rules: IdentityRules | None = None,
) -> tuple[list[int], list[float]]:
    """The cluster of each mention, numbered from 0, and how probable the decision was.

    A mention joins the cluster whose members' antecedent probabilities have the largest sum, if that is larger than the
    probability of no antecedent; what ``rules`` exclude is none of them.
    """
    clusters, probabilities = np.zeros(mentions.size, dtype=np.int64), np.ones(mentions.size)
    count = 0
    sides = network.project_mentions(vectors)
    for low, high in pairwise([*range(0, mentions.size, BLOCK), mentions.size]):
        pairs = mentions.pair(low, high)
        scores = network.score_pairs(sides, mentions, pairs).numpy()
        none = network.score_none(vectors, mentions, slice(low, high)).numpy()
        bounds = np.searchsorted(pairs.mention, np.arange(low, high + 1))
        for number, (start, stop) in enumerate(pairwise(bounds.tolist()), start=low):
            own, alone = scores[start:stop], none[number - low]
            clusters[number] = count
            if len(own):
                highest = max(float(own.max()), float(alone))
                weights, weight = np.exp(own - highest), np.exp(alone - highest)
                sums = np.bincount(clusters[pairs.antecedent[start:stop]], weights)
                _exclude(sums, number, rules)
                if sums.max() > weight:
                    clusters[number], weight = sums.argmax(), sums.max()
                probabilities[number] = weight / (sums.sum() + np.exp(alone - highest))
            if rules:
                known = rules.find_entity(number)
                clusters[number] = clusters[number] if known is None else known
                rules.note(number, int(clusters[number]))
            count += clusters[number] == count
    return clusters.tolist(), probabilities.tolist()


def _exclude(sums: np.ndarray, number: int, rules: IdentityRules | None) -> None:
    """Set the probabilities of clusters that a mention may not join to zero, as long as they are the largest."""
    while rules and sums.max() > 0 and not rules.allows(number, int(sums.argmax())):
        sums[sums.argmax()] = 0.0
