"""Each conditional of the generative story sums to one, and what can't happen has no probability."""

import pytest
import torch

from entitynlm.model.batch.scores import choose_lengths
from support.small_models import WORDS, assert_close, make_network

ONES = torch.ones(6, dtype=torch.float64)


def vectors(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_lengths_at_the_text_end_add_up() -> None:
    """With n words left, the lengths 1 … n - 1 are exact and n means "at least n": together they are everything."""
    log_probs = make_network(max_length=7).log_prob_lengths(vectors(1, 5), vectors(1, 5, seed=1))
    for left in range(1, 8):
        lengths = torch.arange(1, left + 1)
        chosen = choose_lengths(log_probs.expand(left, -1), lengths, lengths == left)
        assert_close(chosen.exp().sum(), ONES[0])
    beyond = torch.arange(1, 8)  # more words left than a mention may have: all lengths are exact
    assert_close(choose_lengths(log_probs.expand(7, -1), beyond, beyond > 7).exp().sum(), ONES[0])


@pytest.mark.parametrize("softmax", ["classes", "full"])
@pytest.mark.parametrize("tied", [False, True])
def test_words(softmax: str, tied: bool) -> None:
    network = make_network(softmax=softmax, tied=tied)
    h, We = vectors(6, 5), vectors(6, 5, seed=1)
    log_probs = network.log_prob_words(h, We)
    assert log_probs.shape == (6, WORDS)
    assert_close(log_probs.exp().sum(-1), ONES)
    assert bool((log_probs[:, 0] == -torch.inf).all()), "the start symbol is read and never predicted"
    assert bool((log_probs[:, 1:] > -torch.inf).all())
    for x in range(1, WORDS):
        assert_close(network.log_prob_piece(h + We, torch.full((6,), x)), log_probs[:, x])


@pytest.mark.parametrize("mention_types", [1, 3])
def test_newborns_lie_on_the_unit_ball_around_the_mean_of_their_kind(mention_types: int) -> None:
    network = make_network(mention_types=mention_types, sigma=0.5)
    which = torch.tensor([1, mention_types, 1])
    noise = vectors(3, 5)
    born = network.create_entity(which, noise)
    means = network.type_embeddings[which]
    assert_close(born.norm(dim=-1), ONES[:3])
    assert_close(born, torch.nn.functional.normalize(means + 0.5 * noise, dim=-1))
    assert_close(network.create_entity(which, None), torch.nn.functional.normalize(means, dim=-1))
    assert bool((make_network(new_entity="zero").create_entity(which * 0 + 1, noise) == 0).all())
