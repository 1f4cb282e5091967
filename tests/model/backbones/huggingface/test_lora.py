"""LoRA: nothing changes before training, only the added matrices learn, and the language model itself stays as it was."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from entitynlm.errors import ConfigError, ModelError
from support.tiny_language_models import FAMILIES, draw_pieces, make_runtime

pytest.importorskip("peft", reason="needs the extra [lora]")

from entitynlm.model.backbones.huggingface.lora import attach_lora, load_lora, lora_parameters

LAYERS = (2, 3)


@pytest.fixture(params=FAMILIES)
def runtime(request: pytest.FixtureRequest) -> Any:
    return make_runtime(request.param, window=12)


def loss_of(runtime: Any, document: Any) -> torch.Tensor:
    states, _ = runtime.read([document], (runtime.layers,))
    return torch.nn.functional.cross_entropy(runtime.logits(states[0][:-1]), torch.as_tensor(document))


def test_it_learns_and_leaves_the_language_model_alone(runtime: Any) -> None:
    document = draw_pieces([30])[0]
    before = runtime.read([document], LAYERS)[0][0]
    frozen = {name: tensor.clone() for name, tensor in runtime.model.state_dict().items()}
    tuned = attach_lora(runtime, 2)
    assert torch.allclose(tuned.read([document], LAYERS)[0][0], before, atol=1e-5)
    parameters = lora_parameters(tuned)
    trainable = {name for name, parameter in tuned.model.named_parameters() if parameter.requires_grad}
    assert parameters and trainable == set(parameters)
    optimizer = torch.optim.Adam(parameters.values(), lr=0.02)
    losses = []
    for _ in range(15):
        optimizer.zero_grad()
        loss = loss_of(tuned, document)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] - 0.5
    assert all(torch.equal(frozen[name], tensor) for name, tensor in runtime.model.state_dict().items())
    runtime.forget()
    assert torch.equal(runtime.read([document], LAYERS)[0][0], before)


def test_weights_are_shared() -> None:
    runtime = make_runtime("llama")
    tuned = attach_lora(runtime, 2)
    assert tuned.output_weight is runtime.output_weight


def test_gradients_go_through_windows_and_stop_at_selected_carries() -> None:
    tuned = attach_lora(make_runtime("llama", window=8), 2)
    for parameter in lora_parameters(tuned).values():
        torch.nn.init.normal_(parameter, std=0.3)
    documents = draw_pieces([21, 25])
    states, carry = tuned.read(documents, LAYERS)
    assert states[0].requires_grad and carry.states.requires_grad
    assert not tuned.select(carry, [0, 1]).states.requires_grad
    name, parameter = next(iter(lora_parameters(tuned).items()))
    gradient = torch.autograd.grad(states[0][-1].square().sum(), parameter)[0]
    index = tuple(int(i) for i in (gradient.abs() == gradient.abs().max()).nonzero()[0])
    values = []
    for shift in (1e-2, -1e-2):
        with torch.no_grad():
            parameter[index] += shift
            values.append(float(tuned.read(documents, LAYERS)[0][0][-1].square().sum()))
            parameter[index] -= shift
    assert gradient[index].item() == pytest.approx((values[0] - values[1]) / 2e-2, rel=0.02), name


def test_stored_matrices_come_back() -> None:
    runtime = make_runtime("qwen3")
    tuned = attach_lora(runtime, 2)
    for parameter in lora_parameters(tuned).values():
        torch.nn.init.normal_(parameter)
    stored = {name: parameter.detach().clone() for name, parameter in lora_parameters(tuned).items()}
    other = attach_lora(runtime, 2)
    load_lora(other, stored)
    document = draw_pieces([9])
    assert torch.equal(tuned.read(document, LAYERS)[0][0], other.read(document, LAYERS)[0][0])
    with pytest.raises(ModelError, match="another rank"):
        load_lora(attach_lora(runtime, 3), stored)
    with pytest.raises(ModelError, match="another rank or language model"):
        load_lora(attach_lora(runtime, 2), dict(list(stored.items())[1:]))


def test_impossible_options() -> None:
    runtime = make_runtime("llama")
    with pytest.raises(ConfigError, match="at least 1, not 0"):
        attach_lora(runtime, 0)
    with pytest.raises(ConfigError, match="can't be added to"):
        attach_lora(runtime, 2, targets=["no_such_layer"])
