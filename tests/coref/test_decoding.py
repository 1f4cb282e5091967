"""Choosing mentions and clusters."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from entitynlm.coref.cluster_features import FEATURE_COUNT, ClusterWeights
from entitynlm.coref.mention_table import MentionTable, choose_spans
from entitynlm.coref.resolver import cluster_mentions
from entitynlm.coref.resolver_network import PairScores
from entitynlm.discourse.discourse import read_discourse
from entitynlm.text.document import Document


def test_of_two_spans_that_cross_the_better_one_is_a_mention() -> None:
    first, last = np.array([0, 1, 1, 4, 6]), np.array([2, 4, 1, 5, 6])
    scores = np.array([1.0, 2.0, 0.5, 0.1, -1.0])
    assert choose_spans(first, last, scores, 0.0).tolist() == [1, 2]
    assert choose_spans(first, last, scores * [1, 0, 1, 1, 1], 0.0).tolist() == [0, 2, 3]
    assert choose_spans(first, last, scores, 5.0).tolist() == []


def test_a_mention_joins_the_cluster_with_the_largest_sum() -> None:
    """The best antecedent of the last mention is the second one, but the first and the third together are likelier."""
    table = MentionTable(read_discourse(Document("d", tuple("abcd"))), [(n, n + 1) for n in range(4)])
    scores = {(1, 0): -9.0, (2, 0): 9.0, (2, 1): -9.0, (3, 0): 1.0, (3, 1): 1.2, (3, 2): 1.0}

    def score_pairs(sides: Any, mentions: Any, pairs: Any) -> PairScores:
        keys = zip(pairs.mention.tolist(), pairs.antecedent.tolist(), strict=True)
        found = torch.tensor([scores[key] for key in keys])
        return PairScores(found, torch.zeros(len(found), 1))

    zeros = np.zeros(1, np.float32)
    network: Any = SimpleNamespace(
        project_mentions=lambda vectors: None,
        score_pairs=score_pairs,
        cluster_weights=ClusterWeights(np.zeros((1 + 1 + FEATURE_COUNT, 1), np.float32), zeros, zeros, zeros),
        score_none=lambda vectors, mentions, rows: torch.zeros(4)[rows],
    )
    clusters, sure = cluster_mentions(network, torch.zeros(4, 1), table)
    assert clusters == [0, 1, 0, 0]
    weights = np.exp([1.0, 1.2, 1.0, 0.0])
    assert np.isclose(sure[3], (weights[0] + weights[2]) / weights.sum())
