"""Hand-derived backward passes against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck

from entitynlm.model import softmax as softmax_module
from entitynlm.model.batch.entity_choice import CandidatePairs, log_prob_chosen, segment_log_softmax
from entitynlm.model.batch.rows import add_rows, take_rows
from entitynlm.model.batch.scan import Steps, scan_states
from entitynlm.model.batch.scores import score_documents
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise
from entitynlm.model.softmax import ClassSoftmax, pick_log_softmax
from support.small_models import CLASSES, assert_close, make_document, make_network


def parameter(*shape: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64).requires_grad_()


def small_steps() -> Steps:
    """Row 0 stays zero; 1, 2 are born; two chains of updates, of which one forks (as k-best candidates share a past)."""
    return Steps(
        size=8,
        initial_rows=np.array([2, 1]),
        rows=np.array([3, 4, 5, 6, 7]),
        previous=np.array([1, 2, 3, 3, 5]),
        device=torch.device("cpu"),
    )


@pytest.mark.parametrize("compiled", [True, False])
def test_scan(compiled: bool) -> None:
    steps = small_steps()

    def scan(initial: torch.Tensor, hidden: torch.Tensor, gates: torch.Tensor) -> torch.Tensor:
        return scan_states(initial, hidden, gates, steps, compiled=compiled)

    assert gradcheck(scan, (parameter(2, 3, seed=0), parameter(5, 3, seed=1), parameter(5, 3, seed=2)))


def test_scan_from_a_newborn_at_zero() -> None:
    """The paper's ablation: e = 0 makes δ = ½ and the first state h / ‖h‖."""
    steps = small_steps()
    hidden, gates = parameter(5, 3, seed=1), parameter(5, 3, seed=2)
    zero = torch.zeros(2, 3, dtype=torch.float64, requires_grad=True)
    states = scan_states(zero, hidden, gates, steps)
    torch.testing.assert_close(states[3], hidden[0] / hidden[0].norm())
    assert gradcheck(lambda z, h, g: scan_states(z, h, g, steps), (zero, hidden, gates))


@pytest.mark.parametrize("compiled", [True, False])
def test_scan_survives_a_state_that_vanishes(compiled: bool) -> None:
    """h = -e with δ = ½ sums to zero: the state stays finite, and so does the gradient."""
    steps = Steps(2, np.array([0]), np.array([1]), np.array([0]), torch.device("cpu"))
    initial = torch.tensor([[1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    hidden = torch.tensor([[-1.0, 0.0]], dtype=torch.float64, requires_grad=True)
    gates = torch.zeros(1, 2, dtype=torch.float64, requires_grad=True)
    states = scan_states(initial, hidden, gates, steps, compiled=compiled)
    assert states[1].tolist() == [0.0, 0.0]
    states.sum().backward()
    assert all(bool(torch.isfinite(p.grad).all()) for p in (initial, hidden, gates))  # type: ignore[arg-type]


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("width", [0, 2])
def test_pairs(compiled: bool, width: int) -> None:
    pairs = CandidatePairs(
        bounds=np.array([0, 2, 3, 6]),
        rows=np.array([3, 1, 1, 0, 3, 2]),
        features=np.array([[0, 2], [1, 3], [4, 4], [0, 3], [1, 2], [4, 4]])[:, :width],
        chosen=np.array([1, 2, 5]),
    )

    def choose(queries: torch.Tensor, states: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        return log_prob_chosen(queries, states, weights, pairs, compiled=compiled)

    inputs = (parameter(3, 4, seed=0), parameter(5, 4, seed=1), parameter(5, seed=2))
    assert gradcheck(choose, inputs)
    scores = inputs[0][0] @ inputs[1][[3, 1]].t() + inputs[2][pairs.features[:2]].sum(-1)
    assert_close(choose(*inputs)[0], torch.log_softmax(scores, 0)[1])


@pytest.mark.parametrize("compiled", [True, False])
def test_rows(compiled: bool) -> None:
    first, second = torch.tensor([0, 2, 2]), torch.tensor([4, 0])
    table, base = parameter(5, 3, seed=0), parameter(3, 3, seed=1)
    assert gradcheck(lambda t: take_rows(t, first, second, compiled=compiled), (table,))
    assert gradcheck(lambda b, t: add_rows(b, t, first, compiled=compiled), (base, table))
    assert torch.equal(take_rows(table, first, second, compiled=compiled)[1], table[[4, 0]])
    assert torch.equal(add_rows(base, table, first, compiled=compiled), base + table[first])


def test_segments() -> None:
    segments = torch.tensor([0, 0, 0, 1, 2, 2])
    assert gradcheck(lambda scores: segment_log_softmax(scores, segments, 3), (parameter(6, seed=0),))


@pytest.mark.parametrize("chunk", [3, 256])
@pytest.mark.parametrize("largest", [0, 10**6])
def test_picked_log_softmax(chunk: int, largest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In chunks or at once; with probabilities kept for the backward pass or computed once more."""
    monkeypatch.setattr(softmax_module, "POSITIONS_AT_ONCE", chunk)
    monkeypatch.setattr(softmax_module, "MOST_KEPT", largest)
    targets = torch.tensor([5, 0, 4, 4, 1, 2, 0])
    inputs = (parameter(7, 3, seed=0), parameter(6, 3, seed=1), parameter(6, seed=2))
    assert gradcheck(lambda *values: pick_log_softmax(*values, targets), inputs)
    expected = (
        torch.log_softmax(torch.nn.functional.linear(*inputs), -1).gather(1, targets[:, None]).squeeze(1)
    )
    assert_close(pick_log_softmax(*inputs, targets), expected)
    with torch.no_grad():
        assert_close(pick_log_softmax(*inputs, targets), expected)


@pytest.mark.parametrize("tied", [False, True])
def test_class_softmax(tied: bool) -> None:
    softmax = ClassSoftmax(3, WordClasses(np.array(CLASSES)), tied).double()
    for number, weight in enumerate(softmax.parameters()):
        weight.data = parameter(*weight.shape, seed=number).data
    names = [name for name, _ in softmax.named_parameters()]
    x = torch.tensor([5, 1, 7, 7, 2, 3, 1])  # class 0 twice, words twice, one word never

    def score(u: torch.Tensor, embeddings: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
        given = (u, x, embeddings if tied else None)
        return torch.func.functional_call(softmax, dict(zip(names, weights, strict=True)), given)

    inputs = (parameter(7, 3, seed=8), parameter(8, 3, seed=9), *softmax.parameters())
    assert gradcheck(score, inputs)


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
        scores = score_documents(self.network, self.documents, noise=FixedNoise(0))
        return torch.stack([scores.r.sum(), scores.e.sum(), scores.l.sum(), scores.x.sum()])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mention_types": 2, "softmax": "full", "features": "rich", "mention_positions": 2, "copying": True},
        {"new_entity": "zero"},
        {"tied": True, "embedding_size": 3},
        {"mode": "causal", "mention_types": 2},
        {"mode": "lookahead"},
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
