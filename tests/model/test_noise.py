"""Where the randomness of new entities comes from."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.model.noise import DrawnNoise, FixedNoise
from support.scoring import score_encoded
from support.small_models import assert_close, make_document, make_network

POSITIONS = st.lists(st.integers(0, 10**6), max_size=8)


@given(positions=POSITIONS, others=POSITIONS, seed=st.integers(0, 2**63))
def test_fixed_noise_is_a_function_of_seed_and_position(
    positions: list[int], others: list[int], seed: int
) -> None:
    """Whatever was drawn before, and wherever in the list a position stands."""
    first = FixedNoise(seed).draw(np.array(positions, dtype=np.int64), 4)
    noise = FixedNoise(seed)
    noise.draw(np.array(others, dtype=np.int64), 4)
    again = noise.draw(np.array(positions[::-1], dtype=np.int64), 4).flip(0)
    assert first.shape == (len(positions), 4)
    assert torch.equal(first, again)


def test_fixed_noise_is_standard_normal() -> None:
    """200,000 numbers: mean and variance within five standard errors, neighbours uncorrelated."""
    values = FixedNoise(7).draw(np.arange(2000), 100)
    assert abs(float(values.mean())) < 5 / np.sqrt(200_000)
    assert abs(float(values.var()) - 1) < 5 * np.sqrt(2 / 200_000)
    assert abs(float((values[1:] * values[:-1]).mean())) < 5 / np.sqrt(200_000)
    assert abs(float((values[:, 1:] * values[:, :-1]).mean())) < 5 / np.sqrt(200_000)


def test_drawn_noise_follows_its_generator() -> None:
    def draw() -> torch.Tensor:
        return DrawnNoise(torch.Generator().manual_seed(5)).draw(np.array([0, 0, 1]), 3)

    assert torch.equal(draw(), draw())
    assert not torch.equal(draw()[0], draw()[1])  # the same position drawn twice is another draw


def test_noise_matters_and_none_is_sigma_zero() -> None:
    document = make_document([1, 2, 3], [(0, 1, 1, 1), (2, 3, 2, 1)])
    noisy, silent = make_network(sigma=0.5), make_network(sigma=0.0)
    with torch.no_grad():
        values = [score_encoded(noisy, [document], noise=FixedNoise(seed)).total for seed in (0, 1)]
        without = score_encoded(noisy, [document], noise=None).total
        zero = score_encoded(silent, [document], noise=FixedNoise(0)).total
    assert len({float(value) for value in (*values, without)}) == 3
    assert_close(without, zero)
