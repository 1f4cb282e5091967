"""The model learns: one document by heart, and the generated stories better than anything that knows no context."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from entitynlm.config import ModelConfig, TrainingConfig
from entitynlm.model.batch.scores import score_documents
from entitynlm.model.encoding.class_clustering import assign_classes
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.preprocessing import INSCRIPT_RECIPE
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.stories import split_stories
from entitynlm.training.loop import Training
from support.small_models import make_document


def running_example() -> EncodedDocument:
    """The paper's figure 1: 22 words, six mentions of four entities."""
    text = "John wanted to go to the coffee shop in downtown Copenhagen . He was told that it sold the best beans ."
    numbers: dict[str, int] = {}
    x = [numbers.setdefault(word, len(numbers) + 1) for word in text.split()]
    mentions = [(0, 1, 1, 1), (5, 8, 2, 1), (9, 11, 3, 1), (12, 13, 1, 1), (16, 17, 2, 1), (18, 21, 4, 1)]
    return make_document(x, mentions, [0] * 12 + [1] * 10)


def test_one_document_by_heart() -> None:
    """Every variable of every word becomes almost certain."""
    torch.manual_seed(0)
    document = running_example()
    config = ModelConfig(hidden_size=24, embedding_size=16, softmax="full", dropout=0.0)
    network = EntityNetwork(config, int(document.x.max()) + 1, 0)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(150):
        optimizer.zero_grad()
        scores = score_documents(network, [document], noise=None)
        (-scores.total).backward()
        optimizer.step()
    for variable in ("r", "e", "l", "x"):
        worst = float(getattr(scores, variable).detach().min())
        assert worst > math.log(0.8), f"{variable} is not learned: {math.exp(worst):.2f}"


def find_starts(document: EncodedDocument) -> np.ndarray:
    """The first word of each mention."""
    before = np.append(1, document.l[:-1])
    return np.flatnonzero((document.r > 0) & (before == 1))


def mean_nats(counts: Counter[int], outcomes: Sequence[int]) -> float:
    """Mean loss of a distribution estimated by counting, each outcome counted once more than seen."""
    total = sum(counts.values()) + len(counts | Counter(outcomes))
    return -float(np.mean([math.log((counts[value] + 1) / total) for value in outcomes]))


def measure_unigrams(
    train: Sequence[EncodedDocument], held_out: Sequence[EncodedDocument]
) -> dict[str, float]:
    """What a reader loses who knows frequencies and nothing else: per word for X, per mention for L and E.

    For E that is how often a mention is of a new entity; an old one is any of those there are.
    """

    def words(documents: Sequence[EncodedDocument]) -> list[int]:
        return [int(x) for document in documents for x in document.x]

    def lengths(documents: Sequence[EncodedDocument]) -> list[int]:
        return [int(document.l[t]) for document in documents for t in find_starts(document)]

    def new_entities(documents: Sequence[EncodedDocument]) -> list[tuple[bool, int]]:
        found = []
        for document in documents:
            known = 0
            for t in find_starts(document):
                found.append((bool(document.e[t] > known), known))
                known = max(known, int(document.e[t]))
        return found

    p_new = float(np.mean([new for new, _ in new_entities(train)]))
    nats = [
        -math.log(p_new) if new else -math.log((1 - p_new) / known) for new, known in new_entities(held_out)
    ]
    return {
        "x": mean_nats(Counter(words(train)), words(held_out)),
        "l": mean_nats(Counter(lengths(train)), lengths(held_out)),
        "e": float(np.mean(nats)),
    }


@pytest.mark.slow
def test_the_generated_stories_are_learned() -> None:
    """Losses on stories that were not trained on, against those of the reader who knows frequencies only."""
    splits = split_stories(320, seed=3)
    encoder = Encoder.fit(splits["train"], recipe=INSCRIPT_RECIPE, singletons="keep")
    train, held_out = ([encoder.encode(d) for d in splits[name]] for name in ("train", "dev"))
    classes = assign_classes([d.x for d in train], len(encoder.vocabulary))
    torch.manual_seed(0)
    network = EntityNetwork(
        ModelConfig(hidden_size=64, embedding_size=48, dropout=0.1), len(encoder.vocabulary), 0, classes
    )
    config = TrainingConfig(learning_rate=0.005, batch_size=4, epochs=6)
    Training(network, train, held_out, config, seed=0).run()
    with torch.no_grad():
        scores = score_documents(network, held_out, noise=None)
    mentions = sum(len(find_starts(document)) for document in held_out)
    losses = {
        "x": -float(scores.x.mean()),
        "l": -float(scores.l.sum()) / mentions,
        "e": -float(scores.e.sum()) / mentions,
    }
    unigrams = measure_unigrams(train, held_out)
    for variable, share in (("x", 0.5), ("l", 0.75), ("e", 0.6)):
        assert losses[variable] < share * unigrams[variable], (variable, losses, unigrams)
