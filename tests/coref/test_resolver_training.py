"""Losses of the resolver's training, and what development documents choose."""

import math

import numpy as np
import torch

from entitynlm.coref.cluster_features import ClusterMemory
from entitynlm.coref.mention_table import MentionTable
from entitynlm.coref.pair_features import pair_mentions
from entitynlm.coref.resolver import arrange_scores, cluster_mentions
from entitynlm.coref.resolver_network import NetworkSizes, ResolverNetwork
from entitynlm.coref.resolver_training import UNKNOWN_ENTITY, ResolverExample, ResolverTrainer, link_loss
from entitynlm.coref.word_inputs import WordList
from entitynlm.discourse.discourse import read_discourse
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
    table = MentionTable(read_discourse(STORY), [(0, 1), (2, 4), (5, 6), (7, 8)])
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
    table = MentionTable(read_discourse(STORY), [(0, 1), (2, 4), (5, 6), (7, 8)])
    vectors = torch.randn(4, 10)
    found = np.array(cluster_mentions(network, vectors, table)[0])
    losses = [float(link_loss(network, vectors, table, found, own=own)) for own in (False, True)]
    assert math.isclose(*losses, rel_tol=1e-6)


@torch.no_grad()
def test_mentions_of_unknown_entities_have_no_part_in_the_link_loss() -> None:
    """An unknown mention is no antecedent, and has none; a first mention that is no name may have an unknown antecedent."""
    network = ResolverNetwork(SIZES).eval()
    table = MentionTable(read_discourse(STORY), [(0, 1), (2, 4), (5, 6), (7, 8)])  # Anna, her dog, She, it
    vectors = torch.randn(4, 10)
    entities = np.array([0, UNKNOWN_ENTITY, 0, 1])
    pairs = pair_mentions(table, 0, 4)
    scored = network.score_pairs(network.project_mentions(vectors), table, pairs)
    none = network.score_none(vectors, table)
    arranged = arrange_scores(0, pairs, scored, none)
    groups, _ = ClusterMemory(table).follow(arranged, network.cluster_weights)
    gain = network.score_clusters(scored.messages[groups.order], groups.sizes, groups.features)
    each = dict(
        zip(
            groups.order.tolist(),
            gain.repeat_interleave(torch.from_numpy(groups.sizes)).tolist(),
            strict=True,
        )
    )
    (to_anna,) = np.flatnonzero((pairs.mention == 2) & (pairs.antecedent == 0)).tolist()
    score = float(scored.scores[to_anna]) + each[to_anna]
    expected = (
        math.log1p(math.exp(float(none[2]) - score)) / 2
    )  # Anna's own loss is 0: nothing stands before her
    assert math.isclose(float(link_loss(network, vectors, table, entities, own=True)), expected, rel_tol=1e-5)


def test_a_partly_annotated_document_tells_of_no_span_that_it_is_no_mention() -> None:
    example = ResolverExample(STORY, torch.randn(9, 6), WordList(()), ["person"], partial=True)
    network = ResolverNetwork(SIZES)
    trainer = ResolverTrainer(network, ResolverSettings(rate=0.02, hidden_words=0.0, average=0.5), 40, seed=1)
    for _ in range(40):
        losses = trainer.learn(example, link_found=True)
    assert losses["mentions"] < 0.1
    with torch.no_grad():
        read = network.eval().read(example.states, example.words)
        every = network.score_spans(read, np.arange(9), np.arange(9)).scores
    assert (every > 0).all()


def test_a_document_is_learned_by_heart() -> None:
    torch.manual_seed(2)
    example = make_example()
    network = ResolverNetwork(SIZES)
    trainer = ResolverTrainer(network, ResolverSettings(rate=0.02, hidden_words=0.0, average=0.5), 80, seed=1)
    first = sum(trainer.learn(example, link_found=True).values())
    for _ in range(79):
        last = sum(trainer.learn(example, link_found=True).values())
    assert last < first / 3
    finished = trainer.finish()
    assert all(torch.equal(p, p.half().float()) for p in finished.parameters())
