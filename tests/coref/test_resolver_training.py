"""Losses of the resolver's training, and what development documents choose."""

from __future__ import annotations

import math

import numpy as np
import torch

from entitynlm.coref.cluster_features import ClusterMemory
from entitynlm.coref.decoding import arrange_scores, cluster_mentions
from entitynlm.coref.mention_table import MentionTable
from entitynlm.coref.pair_features import pair_mentions
from entitynlm.coref.resolver_network import NetworkSizes, ResolverNetwork
from entitynlm.coref.resolver_training import ResolverExample, ResolverTrainer, link_loss
from entitynlm.coref.word_inputs import WordList
from entitynlm.text.document import Document, Mention
from entitynlm.training.settings import ResolverSettings

SIZES = NetworkSizes(
    6,
    1,
    1,
    projected=8,
    embedding=4,
    shape=2,
    lstm=4,
    span=10,
    pair=6,
    product=5,
    message=3,
    cluster=4,
    dropout=0.0,
)
STORY = Document(
    "d",
    tuple("Anna saw her dog . She fed it .".split()),
    ((0, 5), (5, 9)),
    (
        Mention(0, 1, "anna"),
        Mention(2, 3, "anna"),
        Mention(2, 4, "dog"),
        Mention(5, 6, "anna"),
        Mention(7, 8, "dog"),
    ),
    {"anna": "person"},
)


def make_example() -> ResolverExample:
    torch.manual_seed(1)
    return ResolverExample(STORY, torch.randn(9, 6), WordList(()), ["person"])


def test_examples_know_mentions_entities_and_types() -> None:
    example = make_example()
    assert example.spans == [(0, 1), (2, 4), (2, 3), (5, 6), (7, 8)]
    assert example.types.tolist() == [0, -1, 0, 0, -1]
    targets = example.find_targets(np.array([0, 2, 2, 5]), np.array([0, 3, 4, 7]))
    assert targets.tolist() == [1, 1, 0, 0]


@torch.no_grad()
def test_the_link_loss_is_that_of_all_true_antecedents() -> None:
    network = ResolverNetwork(SIZES).eval()
    table = MentionTable(STORY, [(0, 1), (2, 4), (5, 6), (7, 8)])
    entities = np.array([0, 1, 0, -1])
    vectors = torch.randn(4, 10)
    pairs = pair_mentions(table, 0, 4)
    scored = network.score_pairs(network.project_mentions(vectors), table, pairs)
    none = network.score_none(vectors, table)
    clusters = np.array([0, 1, 0, 2])
    arranged = arrange_scores(0, pairs, scored, none)
    groups, _ = ClusterMemory(table).follow(arranged, network.cluster_weights, clusters)
    gain = network.score_clusters(scored.messages[groups.order], groups.sizes, groups.features)
    each = gain.repeat_interleave(torch.from_numpy(groups.sizes)).tolist()
    total = none.exp().tolist()
    right = [0.0] * 4
    for pair, more in zip(groups.order.tolist(), each, strict=True):
        mention, antecedent = pairs.mention[pair], pairs.antecedent[pair]
        probability = math.exp(float(scored.scores[pair]) + more)
        total[mention] += probability
        right[mention] += probability * (entities[antecedent] == entities[mention] >= 0)
    true = [own or math.exp(alone) for own, alone in zip(right, none.tolist(), strict=True)]
    expected = sum(math.log(a / b) for a, b in zip(total, true, strict=True)) / 4
    assert math.isclose(float(link_loss(network, vectors, table, entities)), expected, rel_tol=1e-5)


@torch.no_grad()
def test_the_networks_own_clusters_are_those_of_decoding() -> None:
    """Where true and found clusters agree, it does not matter which ones a mention is compared with."""
    network = ResolverNetwork(SIZES).eval()
    table = MentionTable(STORY, [(0, 1), (2, 4), (5, 6), (7, 8)])
    vectors = torch.randn(4, 10)
    found = np.array(cluster_mentions(network, vectors, table)[0])
    losses = [float(link_loss(network, vectors, table, found, own=own)) for own in (False, True)]
    assert math.isclose(*losses, rel_tol=1e-6)


def test_a_document_is_learned_by_heart() -> None:
    torch.manual_seed(2)
    example = make_example()
    network = ResolverNetwork(SIZES)
    trainer = ResolverTrainer(network, ResolverSettings(rate=0.02, hidden_words=0.0, average=0.5), 80, seed=1)
    first = sum(trainer.learn(example, 1).values())
    for _ in range(79):
        last = sum(trainer.learn(example, 1).values())
    assert last < first / 3
    finished = trainer.finish()
    assert all(torch.equal(p, p.half().float()) for p in finished.parameters())
