"""A language model reads as ``transformers`` does, however the text is batched and cut, and long texts by a stated rule."""

import functools
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from entitynlm.errors import ModelError
from entitynlm.model.backbones.huggingface import reader
from support.tiny_language_models import FAMILIES, draw_pieces, load_smollm2_or_skip, make_runtime

ROTARY = [family for family in FAMILIES if family != "gpt2"]
WINDOW = 12
LAYERS = (1, 2, 3)


def close(left: Tensor, right: Tensor) -> bool:
    return left.shape == right.shape and torch.allclose(left, right, rtol=1e-5, atol=1e-5)


@pytest.fixture(params=FAMILIES)
def runtime(request: pytest.FixtureRequest) -> Any:
    return make_runtime(request.param)


@pytest.fixture(params=FAMILIES)
def windowed(request: pytest.FixtureRequest) -> Any:
    """With windows of 12 pieces: chunks of 6."""
    return make_runtime(request.param, window=WINDOW)


def run_directly(runtime: Any, document: np.ndarray, layers: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """States of layers and logits by ``transformers`` itself, the start piece in front."""
    ids = torch.tensor([[runtime.start, *document]])
    with torch.no_grad():
        output = runtime.model(input_ids=ids, output_hidden_states=True)
    return torch.cat([output.hidden_states[layer][0] for layer in layers], dim=-1), output.logits[0]


def test_states_and_logits_are_those_of_transformers(runtime: Any) -> None:
    documents = draw_pieces([17, 1, 30, 0, 30])
    states, _ = runtime.read(documents, (1, 2, 3))
    for document, own in zip(documents, states, strict=True):
        expected, logits = run_directly(runtime, document, (1, 2, 3))
        assert close(own, expected)
        assert close(runtime.logits(own[:, -runtime.width :]), logits)


def test_short_texts_that_are_read_together_have_the_states_that_they_have_alone(windowed: Any) -> None:
    for lengths in ([5, 1, 3, 0], [5, 30]):  # the second one has a text of several windows
        documents = draw_pieces(lengths)
        alone = [windowed.read([document], (2,))[0][0] for document in documents]
        assert all(map(close, windowed.read_short(documents, 2), alone))


def test_linear_layers_in_bfloat16_give_nearly_the_same_states(windowed: Any, monkeypatch: Any) -> None:
    document = draw_pieces([30])[0]
    (exact,), _ = windowed.read([document], LAYERS)
    monkeypatch.setattr(reader, "has_bfloat16", lambda: True)
    (found,), _ = windowed.reduced.read([document], LAYERS)
    assert found.dtype == torch.float32 and windowed.reduced._stacks[3] is not windowed._stacks[3]
    assert float((found - exact).norm() / exact.norm()) < 0.02
    assert windowed.read([document], LAYERS)[0][0] is exact, "the exact language model stays as it was"


def test_processors_without_bfloat16_stay_with_float32(windowed: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(reader, "has_bfloat16", lambda: False)
    assert windowed.reduced is windowed


def test_layers_above_the_highest_one_asked_for_are_not_run(runtime: Any) -> None:
    document = draw_pieces([20])[0]
    ran: list[int] = []
    for number, layer in enumerate(runtime._find_stack(runtime.layers).stack):
        layer.register_forward_hook(lambda *_, number=number: ran.append(number))
    for top in range(1, runtime.layers + 1):
        ran.clear()
        states = runtime.read([document], (top,))[0][0]
        assert max(ran) == top - 1
        assert close(states, run_directly(runtime, document, (top,))[0])


@settings(max_examples=30, deadline=None)
@given(
    family=st.sampled_from(FAMILIES),
    window=st.sampled_from([12, 90, 200]),
    length=st.integers(1, 240),
    data=st.data(),
)
def test_a_state_depends_on_no_piece_to_come(
    family: str, window: int, length: int, data: st.DataObject
) -> None:
    """Nor on the documents that are read together, nor on where a reading was stopped."""
    runtime = find_runtime(family, window)
    document, *others = draw_pieces([length, 30, 30, 29])
    cut = data.draw(st.integers(0, length - 1))
    whole = runtime.read([document], LAYERS)[0][0]
    start, carry = runtime.read([document[:cut]], LAYERS)
    assert close(start[0], whole[: cut + 1])
    assert close(runtime.read([*others, document], LAYERS)[0][-1], whole)
    assert close(runtime.read([document[cut:]], LAYERS, carry)[0][0], whole[cut:])


@functools.cache
def find_runtime(family: str, window: int) -> Any:
    return make_runtime(family, window=window, context=256)


@pytest.mark.slow
@pytest.mark.parametrize("cut", [9, 700, 1_023, 1_024, 1_100])
def test_neither_does_one_of_smollm2(cut: int) -> None:
    """Around the border of a window, too."""
    runtime = load_smollm2_or_skip()
    document = np.random.default_rng(7).integers(100, 40_000, 1_200)
    whole = runtime.read([document], (24, 30), keep=False)[0][0]
    found = runtime.read([document[:cut]], (24, 30), keep=False)[0][0]
    assert torch.allclose(found, whole[: cut + 1], rtol=1e-4, atol=1e-4)


def test_a_text_may_be_cut_anywhere(windowed: Any) -> None:
    documents = draw_pieces([40, 33, 40])
    whole, last = windowed.read(documents, LAYERS)
    draws = np.random.default_rng(3)
    for _ in range(4):
        cuts = [sorted(draws.integers(0, len(document) + 1, 5)) for document in documents]
        carry, parts = None, [[] for _ in documents]  # type: ignore[var-annotated]
        for k in range(6):
            stretch = [
                document[([0, *own])[k] : ([*own, len(document)])[k]]
                for document, own in zip(documents, cuts, strict=True)
            ]
            states, carry = windowed.read(stretch, LAYERS, carry)
            for row, own in enumerate(states):
                parts[row].append(own if k == 0 else own[1:])
        assert all(close(torch.cat(own), expected) for own, expected in zip(parts, whole, strict=True))
        assert carry is not None and all(close(a.states, b.states) for a, b in zip(carry, last, strict=True))


def read_rotary_slowly(runtime: Any, document: np.ndarray) -> Tensor:
    """The rule of the module, by a mask over the whole text: which keys, at which positions, each piece attends to.

    Later chunks see the start piece elsewhere: it stands in the text again, right before each chunk that is kept.
    """
    half, pieces = runtime.half, [runtime.start, *document]
    chunks = (len(pieces) - 1) // half + 1
    sinks = list(range(2, chunks))
    ids = torch.tensor([[*pieces, *(runtime.start for _ in sinks)]])
    positions = torch.tensor([[*range(len(pieces)), *((chunk - 1) * half - 1 for chunk in sinks)]])
    seen = torch.zeros(ids.shape[1], ids.shape[1], dtype=torch.bool)
    for i in range(len(pieces)):
        chunk = i // half
        seen[i, max(chunk - 1, 0) * half : i + 1] = True
        if chunk >= 2:
            seen[i, len(pieces) + sinks.index(chunk)] = True
    for number in range(len(sinks)):
        seen[len(pieces) + number, len(pieces) + number] = True
    with torch.no_grad():
        output = runtime.model(
            input_ids=ids,
            position_ids=positions,
            attention_mask=torch.where(seen, 0.0, -torch.inf)[None, None],
            output_hidden_states=True,
        )
    return torch.cat([states[0, : len(pieces)] for states in output.hidden_states[1:]], dim=-1)


@pytest.mark.parametrize("family", ROTARY)
def test_long_texts_with_rotary_positions(family: str) -> None:
    runtime = make_runtime(family, window=WINDOW)
    assert not runtime.rereads and runtime.half == 6
    document = draw_pieces([75])[0]  # longer than the context of 48
    states = runtime.read([document], (1, 2, 3))[0][0]
    assert close(states, read_rotary_slowly(runtime, document))


def test_long_texts_with_learned_positions() -> None:
    """Start piece, the chunk before and the chunk itself, as if the text began there."""
    runtime = make_runtime("gpt2", window=WINDOW)
    assert runtime.rereads
    document = draw_pieces([75])[0]
    states = runtime.read([document], LAYERS)[0][0]
    half, pieces = runtime.half, [runtime.start, *document]
    for first in range(0, len(pieces), half):
        begin = max(first - half, 0)
        inputs = pieces[max(begin, 1) : first + half]
        direct = run_directly(runtime, np.array(inputs), LAYERS)[0]
        count = len(pieces[first : first + half])
        assert close(states[first : first + count], direct[-count:])


def test_a_step_is_a_reading_of_one_piece(windowed: Any) -> None:
    documents = draw_pieces([31, 31, 25])
    expected = windowed.read(documents, LAYERS)[0]
    carry = windowed.read([document[:4] for document in documents], LAYERS)[1]
    for i in range(4, 25):
        carry = windowed.step(carry, torch.tensor([document[i] for document in documents]), LAYERS)
        assert close(
            torch.cat([past.states for past in carry]), torch.stack([states[i + 1] for states in expected])
        )


def test_documents_of_different_lengths_go_on_together(windowed: Any) -> None:
    documents, following = draw_pieces([3, 40, 11]), draw_pieces([9, 9, 9], seed=7)
    _, carry = windowed.read(documents, LAYERS)
    for i in range(9):
        carry = windowed.step(carry, torch.tensor([own[i] for own in following]), LAYERS)
        whole = [
            np.append(document, own[: i + 1]) for document, own in zip(documents, following, strict=True)
        ]
        expected = torch.stack([windowed.read([text], LAYERS)[0][0][-1] for text in whole])
        assert close(torch.cat([past.states for past in carry]), expected)


def test_the_latest_reading_is_not_made_twice(windowed: Any, monkeypatch: Any) -> None:
    document = draw_pieces([20])[0]
    _, carry = windowed.read([document], LAYERS)
    states, after = windowed.read([document], LAYERS, carry)
    monkeypatch.setattr(windowed, "_run", None)  # a call that runs the model fails from here on
    again, same = windowed.read([document.copy()], LAYERS, carry)
    assert again[0] is states[0] and same is after
    with pytest.raises(TypeError):
        windowed.read([document], LAYERS)
    with pytest.raises(TypeError):
        windowed.read([document], (1,))
    with pytest.raises(TypeError):
        windowed.read([document[1:]], LAYERS)


def test_a_model_that_looks_ahead_or_has_another_output_layer_is_refused(monkeypatch: Any) -> None:
    runtime = make_runtime("llama")
    runtime.output_weight = runtime.output_weight * 2
    with pytest.raises(ModelError, match="output layer"):
        runtime.check()
    runtime = make_runtime("llama")
    plain = runtime._run
    monkeypatch.setattr(runtime, "_run", lambda *given: (plain(*given)[0], plain(*given)[1].flip(1)))
    with pytest.raises(ModelError, match="not a causal"):
        runtime.check()
