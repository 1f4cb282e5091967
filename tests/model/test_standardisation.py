"""States of a language model, standardised one dimension at a time."""

import torch

from entitynlm.model.additions import CLIP, LARGEST_ACTIVATION, Standardisation


def test_usual_states_get_mean_zero_and_deviation_one() -> None:
    torch.manual_seed(0)
    usual = torch.randn(500, 3) * torch.tensor([1.0, 50.0, 0.01]) + torch.tensor([0.0, 20.0, -3.0])
    scaling = Standardisation(3)
    assert torch.equal(
        scaling(usual[:5].clamp(-CLIP, CLIP)), usual[:5].clamp(-CLIP, CLIP)
    )  # not fitted: as it was
    scaling.fit(torch.cat([torch.full((1, 3), 10 * LARGEST_ACTIVATION), usual]))
    z = scaling(usual)
    assert z.mean(0).abs().max() < 0.02 and (z.std(0) - 1).abs().max() < 0.02
    assert float(scaling(torch.full((1, 3), 10 * LARGEST_ACTIVATION)).max()) == CLIP


def test_a_dimension_that_never_changes_does_no_harm() -> None:
    scaling = Standardisation(2)
    scaling.fit(torch.tensor([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0]]))
    assert torch.isfinite(scaling(torch.tensor([[2.0, 7.0], [9.0, 8.0]]))).all()
