"""Hand-derived backward passes against finite differences."""

from typing import Any

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from entitynlm.model.batch.scan import scan_states
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise
from support.scoring import score_encoded
from support.small_models import make_document, make_network


def parameter(*shape: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()


def test_scan_survives_a_state_that_vanishes() -> None:
    """h = -e with δ = ½ sums to zero: the state stays finite, and so does the gradient."""
    steps = np.array([0]), np.array([1]), np.array([0])
    initial = torch.tensor([[1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    hidden = torch.tensor([[-1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    gates = torch.zeros(1, 2, dtype=torch.float64, requires_grad=True)
    states = scan_states(initial, hidden, gates, 2, *steps)
    assert states[1].tolist() == [0.0, 0.0]
    states.sum().backward()
    assert all(bool(torch.isfinite(p.grad).all()) for p in (initial, hidden, gates))  # type: ignore[arg-type]


class _Loss(torch.nn.Module):
    """log P of two documents, as a module, so that all parameters can be handed to gradcheck."""

    def __init__(self, network: EntityNetwork, mention_types: int) -> None:
        super().__init__()
        self.network = network
        self.documents = [
            make_document(
                [1, 3, 2, 5, 1, 4], [(0, 2, 1, 1), (2, 3, 2, mention_types), (4, 6, 1, 1)], [0, 0, 0, 1, 1, 1]
            ),
            make_document([6, 2, 6, 7], [(1, 2, 1, mention_types), (2, 4, 2, 1)]),
        ]

    def forward(self) -> torch.Tensor:
        scores = score_encoded(self.network, self.documents, noise=FixedNoise(0))
        return torch.stack([scores.r.sum(), scores.e.sum(), scores.l.sum(), scores.x.sum()])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mention_types": 2, "softmax": "full", "features": "rich", "mention_positions": 2},
        {"new_entity": "zero"},
        {"tied": True, "embedding_size": 3},
        {"mode": "causal", "mention_types": 2},
    ],
)
@pytest.mark.parametrize("fast", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_the_whole_loss_in_all_parameters(options: dict[str, Any], fast: bool) -> None:
    """``fast`` compares along random directions, the slow test each derivative of each variable by itself."""
    sizes = {"hidden_size": 3, "embedding_size": 2, "max_length": 3}
    loss = _Loss(make_network(**{**sizes, **options}), options.get("mention_types", 1))
    names, parameters = zip(*loss.named_parameters(), strict=True)

    def score(*values: torch.Tensor) -> torch.Tensor:
        return torch.func.functional_call(loss, dict(zip(names, values, strict=True)), ())

    assert gradcheck(score, parameters, fast_mode=fast)
