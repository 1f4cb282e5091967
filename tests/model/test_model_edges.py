"""Documents without words, without mentions, of one word."""

from typing import Any

import pytest
import torch

from entitynlm.config import ModelConfig
from entitynlm.errors import ConfigError
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise
from support.enumeration import sum_variables
from support.scoring import score_encoded
from support.small_models import make_document, make_network

MODES = ["generative", "causal"]
OPTIONS: list[dict[str, Any]] = [{}, {"softmax": "full", "features": "none"}]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", OPTIONS)
def test_documents_of_no_word_and_of_one(mode: str, options: dict[str, Any]) -> None:
    network = make_network(mode=mode, **options)
    nothing, word, mention = make_document([]), make_document([3]), make_document([3], [(0, 1, 1, 1)])
    with torch.no_grad():
        for documents in (
            [nothing],
            [nothing, nothing],
            [word],
            [mention],
            [nothing, mention, word, nothing],
        ):
            scores = score_encoded(network, documents, noise=FixedNoise(0))
            assert len(scores.r) == sum(len(document) for document in documents)
            assert bool(torch.isfinite(sum_variables(scores)).all())
        values = score_encoded(network, [mention], noise=FixedNoise(0))
    assert float(values.e[0]) == 0, "the first mention can only be a new entity"
    assert abs(float(values.l[0])) < 1e-12, (
        "a mention of one word that ends the text: at least one word, for sure"
    )
    assert float(values.r[0]) < 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("options", OPTIONS)
def test_a_document_without_mentions(mode: str, options: dict[str, Any]) -> None:
    network = make_network(mode=mode, **options)
    document = make_document([1, 2, 3], sentences=[0, 0, 1])
    scores = score_encoded(network, [document], noise=FixedNoise(0))
    assert bool((scores.e == 0).all())
    assert bool((scores.l == 0).all())
    assert bool((scores.r < 0).all())
    assert bool((scores.x < 0).all()) == (mode == "generative")
    scores.total.backward()
    assert network.W_r.grad is not None
    assert float(network.W_r.grad.abs().sum()) > 0


def test_proposals_predict_no_words() -> None:
    document = make_document([1, 2, 3], [(0, 1, 1, 1)])
    for mode in MODES[1:]:
        network = make_network(mode=mode)
        assert network.backbone.softmax is None
        assert bool((score_encoded(network, [document], noise=None).x == 0).all())


def test_a_class_softmax_needs_classes() -> None:
    with pytest.raises(ConfigError, match="word classes"):
        EntityNetwork(ModelConfig(), 10, 0)


def test_initialisation() -> None:
    """Glorot's rule for matrices (uniform in ±√(6 / (in + out))), zero biases, a forget gate that starts open."""
    torch.manual_seed(0)
    network = EntityNetwork(ModelConfig(softmax="full", hidden_size=64, embedding_size=32), 50, 0)
    bound = (6 / (64 + 64)) ** 0.5
    weight = network.W_entity.detach()
    assert float(weight.abs().max()) <= bound
    assert float(weight.std()) == pytest.approx(bound / 3**0.5, rel=0.05)
    assert not network.w_dist.any()
    bias = network.backbone.lstm.bias_ih_l0.detach()
    assert bias[64:128].tolist() == [1.0] * 64
    assert not torch.cat([bias[:64], bias[128:], network.backbone.lstm.bias_hh_l0]).any()


def test_dropout_only_while_training() -> None:
    network = make_network(dropout=0.5)
    document = make_document([1, 2, 3, 4, 5], [(1, 3, 1, 1)])
    with torch.no_grad():
        calm = [sum_variables(score_encoded(network, [document], noise=None)) for _ in range(2)]
        network.train()
        wild = [sum_variables(score_encoded(network, [document], noise=None)) for _ in range(2)]
    assert torch.equal(*calm)
    assert not torch.equal(*wild)


def test_one_mask_per_document_with_variational_dropout() -> None:
    network = make_network(dropout=0.5, variational=True, hidden_size=32, embedding_size=32).train()
    torch.manual_seed(0)
    table = network.backbone.read([make_document([1, 2, 3, 4]).words]).table
    dropped = table == 0
    assert 0 < int(dropped[0].sum()) < 32
    assert bool((dropped == dropped[0]).all()), "the same units are off at every word"
