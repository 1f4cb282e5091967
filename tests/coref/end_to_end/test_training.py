"""Losses of the resolver's training, and what development documents choose."""

from __future__ import annotations

import math

import numpy as np
import torch

from entitynlm.coref.end_to_end.inputs import WordList
from entitynlm.coref.end_to_end.network import EndToEndNetwork, NetworkSizes
from entitynlm.coref.end_to_end.pair_features import MentionTable
from entitynlm.coref.end_to_end.training import Example, Trainer, TrainingSettings, link_loss
from entitynlm.text.document import Document, Mention

SIZES = NetworkSizes(
    6, 1, 1, projected=8, embedding=4, shape=2, lstm=4, span=10, pair=6, product=5, dropout=0.0
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


def make_example() -> Example:
    torch.manual_seed(1)
    return Example(STORY, torch.randn(9, 6), WordList(()), ["person"])


def test_examples_know_mentions_entities_and_types() -> None:
    example = make_example()
    assert example.spans == [(0, 1), (2, 4), (2, 3), (5, 6), (7, 8)]
    assert example.types.tolist() == [0, -1, 0, 0, -1]
    targets = example.find_targets(np.array([0, 2, 2, 5]), np.array([0, 3, 4, 7]))
    assert targets.tolist() == [1, 1, 0, 0]


@torch.no_grad()
def test_the_link_loss_is_that_of_all_true_antecedents() -> None:
    network = EndToEndNetwork(SIZES).eval()
    table = MentionTable(STORY, [(0, 1), (2, 4), (5, 6), (7, 8)])
    entities = np.array([0, 1, 0, -1])
    vectors = torch.randn(4, 10)
    pairs = table.pair(0, 4)
    scores = network.score_pairs(network.project_mentions(vectors), table, pairs).tolist()
    none = network.score_none(vectors, table).tolist()
    expected = 0.0
    for mention in range(4):
        own = [
            (j, s) for i, j, s in zip(pairs.mention, pairs.antecedent, scores, strict=True) if i == mention
        ]
        total = sum(math.exp(s) for _, s in own) + math.exp(none[mention])
        right = [math.exp(s) for j, s in own if entities[j] == entities[mention] >= 0]
        expected -= math.log((sum(right) or math.exp(none[mention])) / total)
    assert math.isclose(float(link_loss(network, vectors, table, entities)), expected / 4, rel_tol=1e-5)


def test_a_document_is_learned_by_heart() -> None:
    torch.manual_seed(2)
    example = make_example()
    network = EndToEndNetwork(SIZES)
    trainer = Trainer(network, TrainingSettings(rate=0.02, hidden_words=0.0, average=0.5), 80)
    first = sum(trainer.learn(example, 1).values())
    for _ in range(79):
        last = sum(trainer.learn(example, 1).values())
    assert last < first / 3
    finished = trainer.finish()
    assert all(torch.equal(p, p.half().float()) for p in finished.parameters())
