"""The resolver's network: means over spans by running sums, and nothing that depends on how rows are made."""

import numpy as np
import pytest
import torch

from entitynlm.coref.resolver_network import NetworkSizes, ResolverNetwork
from entitynlm.coref.word_inputs import WordList, describe_words
from entitynlm.discourse.discourse import read_discourse
from entitynlm.text.document import Document

SMALL = NetworkSizes(
    6, 4, 2, projected=8, embedding=4, shape=2, lstm=4, span=10, pair=6, product=5, message=3, cluster=4
)


@pytest.fixture
def network() -> ResolverNetwork:
    torch.manual_seed(1)
    return ResolverNetwork(SMALL).eval()


@torch.no_grad()
def test_running_sums_give_the_attention_weighted_mean(network: ResolverNetwork) -> None:
    words = describe_words(read_discourse(Document("d", tuple("abcdefgh"))), WordList(("a", "b", "c")))
    read = network.read(torch.randn(8, 6), words)
    found = network._average(read, torch.tensor([2]), torch.tensor([5]))
    weights = network.attention(read.x[2:6]).softmax(0)
    assert torch.allclose(found[0], (weights * network.values(read.x[2:6])).sum(0), atol=1e-5)


@torch.no_grad()
def test_a_block_is_read_as_it_is_in_the_whole(
    network: ResolverNetwork, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("word_inputs", "resolver_network"):
        monkeypatch.setattr(f"entitynlm.coref.{module}.ROW", 4)
    document = Document("d", tuple("abcdefgh"), ((0, 3), (3, 5), (5, 8)))
    words, states = describe_words(read_discourse(document), WordList(("a", "b", "c"))), torch.randn(8, 6)
    whole = network.read(states, words)
    for start, stop in words.cut_chunks(1):
        part = network.read(states[start:stop], words.cut(start, stop))
        assert torch.allclose(part.x, whole.x[start:stop], atol=1e-6)
        first, last = np.array([0]), np.array([stop - start - 1])
        alone = network.score_spans(part, first, last).scores
        assert torch.allclose(
            alone, network.score_spans(whole, first + start, last + start).scores, atol=1e-5
        )


@torch.no_grad()
def test_unlikely_words_bound_no_span(network: ResolverNetwork) -> None:
    words = describe_words(read_discourse(Document("d", tuple("abcdefgh"))), WordList(()))
    read = network.read(torch.randn(8, 6), words)
    nothing = read._replace(starts=torch.full((8,), -9.0))
    assert len(network.find_candidates(nothing, words)[0]) == 0
    everything = read._replace(starts=torch.zeros(8), ends=torch.zeros(8))
    assert len(network.find_candidates(everything, words)[0]) == 36
