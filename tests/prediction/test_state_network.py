"""The predictor network, and the batches that it sees, without any language model."""

import numpy as np
import pytest
import torch

from entitynlm.prediction.contexts import SIZE
from entitynlm.prediction.predictor import StateNetwork
from entitynlm.prediction.slot_batches import SlotBatch, join_batches

WORDS, WIDTH, MIDDLE, TYPES = 7, 4, 6, 2


def make_batch(seed: int) -> SlotBatch:
    """Two slots with two and three pairs, five states."""
    rng = np.random.default_rng(seed)
    return SlotBatch(
        recent=np.array([[0, -1, -1], [1, 0, -1]]),
        sizes=np.array([2, 3]),
        features=rng.normal(size=(5, SIZE)).astype(np.float32),
        heads=np.array([[3, 4], [1, 1], [3, 4], [5, 5], [1, 1]]),
        answers=np.array([0, 2]),
        words=np.array([3, 6]),
        outcomes=np.array([0, 3]),
        states=rng.normal(size=(5, MIDDLE)).astype(np.float32),
        last_states=rng.normal(size=(2, WIDTH)).astype(np.float32),
        context_rows=np.array([2, 4]),
        candidate_rows=np.array([[1, 1], [0, 0], [3, 1], [2, 2], [0, 0]]),
    )


@pytest.fixture
def network() -> StateNetwork:
    torch.manual_seed(0)
    network = StateNetwork(WORDS, WIDTH, MIDDLE, TYPES)
    network.outputs.normal_()
    return network.eval()


def test_the_candidates_of_each_slot_have_a_distribution(network: StateNetwork) -> None:
    found = network(make_batch(1))
    sums = np.add.reduceat(found.log_probs.exp().detach().numpy(), [0, 2])
    np.testing.assert_allclose(sums, 1, atol=1e-6)
    assert found.words.shape == (2, WORDS) and found.outcomes.shape == (2, 2 * TYPES)


def test_batches_are_joined_and_slots_selected_without_mixing_their_pairs_or_states(
    network: StateNetwork,
) -> None:
    parts = [make_batch(1), make_batch(2)]
    together = join_batches(parts)
    joined = network(together).log_probs
    torch.testing.assert_close(joined, torch.cat([network(part).log_probs for part in parts]))
    chosen = together.select(np.array([3]))
    torch.testing.assert_close(network(chosen).log_probs, joined[7:])
    assert (chosen.true_pairs.tolist(), together.true_pairs.tolist()) == ([2], [0, 4, 5, 9])


def test_the_output_vectors_say_which_words_are_expected(network: StateNetwork) -> None:
    batch = make_batch(1)
    with torch.no_grad():
        network.to_words.weight.zero_()
        network.to_words.bias.zero_()
    expected = torch.log_softmax(torch.from_numpy(batch.last_states) @ network.outputs.t(), -1)
    torch.testing.assert_close(network(batch).words, expected)
