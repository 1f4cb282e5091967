"""What is known of a cluster when a mention may join it."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from entitynlm.coref.cluster_features import CLUSTER_FEATURES, AntecedentGroups, ClusterMemory, ScoredPairs
from entitynlm.coref.mention_table import Floats, MentionTable
from entitynlm.coref.pair_features import pair_mentions
from entitynlm.coref.resolver_network import NetworkSizes, ResolverNetwork
from entitynlm.discourse.discourse import read_discourse
from entitynlm.text.document import Document

TOKENS = "Anna met Tom . She knew him . He knew her . Anna smiled at him .".split()
SPANS = [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13), (15, 16)]
ANNA, TOM = 0, 1
CLUSTERS = np.array([ANNA, TOM, ANNA, TOM, TOM, ANNA, ANNA, TOM])
SENTENCES = ((0, 4), (4, 8), (8, 12), (12, 17))
MESSAGES = 3


def make_network() -> ResolverNetwork:
    torch.manual_seed(1)
    return ResolverNetwork(NetworkSizes(6, 1, message=MESSAGES, cluster=4)).eval()


class Rules:
    """As :class:`IdentityRules`: nothing is excluded but what is listed, and the last mention is known."""

    def __init__(self, *excluded: tuple[int, int], known: int | None = None) -> None:
        self.excluded, self.known, self.noted = set(excluded), known, list[int]()

    def allows(self, number: int, entity: int) -> bool:
        return (number, entity) not in self.excluded

    def find_entity(self, number: int) -> int | None:
        return self.known if number == 7 else None

    def note(self, number: int, entity: int) -> None:
        self.noted.append(entity)


def follow(
    given: bool, blocks: tuple[int, ...] = (0, 8), rules: Any = None
) -> tuple[list[int], list[AntecedentGroups], list[Floats]]:
    """Clusters, groups and probabilities; the scores of pairs are random numbers, the same ones in all blocks."""
    table = MentionTable(read_discourse(Document("d", tuple(TOKENS), SENTENCES)), SPANS)
    draws = np.random.default_rng(3)
    numbers = draws.normal(size=(8, 8, 1 + MESSAGES)).astype(np.float32)
    memory, groups, sure = ClusterMemory(table), [], []
    for low, high in pairwise(blocks):
        pairs = pair_mentions(table, low, high)
        own = numbers[pairs.mention, pairs.antecedent]
        bounds = np.searchsorted(pairs.mention, np.arange(low, high + 1))
        none = np.zeros(high - low, dtype=np.float32)
        scored = ScoredPairs(low, bounds, pairs.antecedent, own[:, 0].copy(), own[:, 1:].copy(), none)
        found = memory.follow(scored, make_network().cluster_weights, CLUSTERS if given else None, rules)
        groups.append(found[0])
        sure.append(found[1])
    return memory.clusters.tolist(), groups, sure


def test_antecedents_are_in_order_of_clusters() -> None:
    clusters, (groups,), _ = follow(given=True)
    assert clusters == CLUSTERS.tolist()
    assert groups.sizes.tolist() == [1, 1, 1, 2, 1, 2, 2, 3, 2, 3, 3, 4, 3]
    last = groups.order[-7:] - 21  # "him": the antecedents of the last mention, the nearest first
    assert (6 - last).tolist() == [6, 5, 2, 0, 4, 3, 1]


def test_features_of_a_cluster() -> None:
    groups = follow(given=True)[1][0]
    anna, tom = (dict(zip(CLUSTER_FEATURES, row.tolist(), strict=True)) for row in groups.features[-2:])
    assert math.isclose(anna["count"], math.log(4) / 3, rel_tol=1e-6)
    assert (anna["most mentioned"], tom["most mentioned"]) == (1, 0)
    assert (anna["names"], anna["pronouns"]) == (0.5, 0.5)
    assert (tom["has class"], anna["has class"]) == (1, 0)
    assert (tom["gender agrees"], tom["gender differs"], tom["gender male"]) == (1, 0, 1)
    assert (anna["gender agrees"], anna["gender differs"], anna["disagrees"]) == (0, 1, 1)
    assert (anna["last"], tom["last"], tom["last but one"]) == (1, 0, 1)
    assert (tom["agreeing 0"], anna["agreeing 0"]) == (1, 0), "the nearest of those that agree"
    assert anna["salience, short"] > tom["salience, short"] > 0
    assert (tom["share of salience"], anna["share of salience"]) == (1, 0)
    assert math.isclose(tom["distance"], math.log(3) / 4, rel_tol=1e-6)
    assert math.isclose(tom["age"], math.log(6) / 5, rel_tol=1e-6)


def test_the_compiled_loop_scores_clusters_as_the_network_does() -> None:
    clusters, (groups,), (sure,) = follow(given=False)
    table = MentionTable(read_discourse(Document("d", tuple(TOKENS), SENTENCES)), SPANS)
    pairs = pair_mentions(table, 0, 8)
    draws = np.random.default_rng(3)
    numbers = draws.normal(size=(8, 8, 1 + MESSAGES)).astype(np.float32)[pairs.mention, pairs.antecedent]
    order, sizes, features = groups
    with torch.no_grad():
        gain = make_network().score_clusters(torch.from_numpy(numbers[order, 1:]), sizes, features).numpy()
    scores = numbers[order, 0] + np.repeat(gain, sizes)
    for mention in range(1, 8):
        own = pairs.mention[order] == mention
        weights, of = np.exp(scores[own]), np.array(clusters)[pairs.antecedent[order[own]]]
        sums = np.bincount(of, weights, minlength=mention + 1)
        new = max(clusters[:mention]) + 1
        assert clusters[mention] == (sums.argmax() if sums.max() > 1 else new)
        assert math.isclose(sure[mention], max(sums.max(), 1) / (sums.sum() + 1), rel_tol=1e-4)


def test_blocks_are_followed_as_the_whole_is() -> None:
    clusters, (whole,), _ = follow(given=False)
    in_blocks, parts, _ = follow(given=False, blocks=(0, 3, 4, 8))
    assert in_blocks == clusters
    assert np.array_equal(np.concatenate([part.features for part in parts]), whole.features)


def test_rules_exclude_clusters_and_know_better() -> None:
    clusters, _, (sure,) = follow(given=False)
    rules = Rules()
    assert follow(given=False, rules=rules)[0] == clusters == rules.noted
    joined = next(number for number in range(1, 7) if clusters[number] in clusters[:number])
    rules = Rules((joined, clusters[joined]))
    others, _, (less,) = follow(given=False, rules=rules)
    assert others[:joined] == clusters[:joined] and others[joined] != clusters[joined]
    assert np.array_equal(less[:joined], sure[:joined])
    assert follow(given=False, rules=Rules(known=0))[0][7] == 0
