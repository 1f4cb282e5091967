"""The model learns: one document by heart, and the generated stories better than anything that knows no context."""

import math

import torch

from entitynlm.config import ModelConfig
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from support.scoring import score_encoded
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
        scores = score_encoded(network, [document], noise=None)
        (-scores.total).backward()
        optimizer.step()
    for variable in ("r", "e", "l", "x"):
        worst = float(getattr(scores, variable).detach().min())
        assert worst > math.log(0.8), f"{variable} is not learned: {math.exp(worst):.2f}"
