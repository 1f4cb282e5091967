"""The batched path computes the numbers of the slow twin, whatever the document and whatever the options."""

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise, Noise
from support.scoring import score_encoded
from support.slow_twin import SlowTwin
from support.small_models import (
    VARIABLES,
    assert_close,
    encoded_documents,
    make_document,
    make_network,
    model_options,
    part,
)


def score_slowly(
    network: EntityNetwork, document: EncodedDocument, noise: Noise | None
) -> dict[str, torch.Tensor]:
    scores = SlowTwin(network, noise).score(document)
    empty = torch.zeros(0, dtype=torch.float64)
    return {v: torch.stack([getattr(s, v) for s in scores]) if scores else empty for v in VARIABLES}


@settings(max_examples=40)
@given(options=model_options(), data=st.data())
def test_values(options: dict[str, Any], data: st.DataObject) -> None:
    network = make_network(**options)
    documents = data.draw(
        st.lists(encoded_documents(mention_types=options["mention_types"]), min_size=1, max_size=3)
    )
    noise = data.draw(st.sampled_from([None, FixedNoise(options["seed"])]))
    with torch.no_grad():
        fast = score_encoded(network, documents, noise=noise)
        for number, document in enumerate(documents):
            slow = score_slowly(network, document, noise)
            for variable in VARIABLES:
                assert_close(part(fast, number, variable), slow[variable])


@settings(max_examples=10)
@given(options=model_options(), data=st.data())
def test_gradients(options: dict[str, Any], data: st.DataObject) -> None:
    """Torch differentiates the loop over words by itself: the hand-derived backward of the fast path has to agree."""
    network = make_network(**options)
    document = data.draw(encoded_documents(mention_types=options["mention_types"], min_size=1, max_size=8))
    noise = FixedNoise(options["seed"])
    fast = gradients(network, score_encoded(network, [document], noise=noise).total)
    slow = gradients(network, sum(v.sum() for v in score_slowly(network, document, noise).values()))
    for name, gradient in slow.items():
        assert_close(fast[name], gradient, 1e-9)


def gradients(network: EntityNetwork, total: Any) -> dict[str, torch.Tensor]:
    names, parameters = zip(*network.named_parameters(), strict=True)
    found = torch.autograd.grad(total, parameters, allow_unused=True, materialize_grads=True)
    return dict(zip(names, found, strict=True))


@pytest.mark.parametrize("mode", ["generative", "causal"])
def test_float32_is_close(mode: str) -> None:
    """Single precision: about seven digits, over a long enough chain of updates to see an error grow."""
    network = make_network(mode=mode, hidden_size=32, embedding_size=16, std=0.2, mention_types=2)
    mentions = [(t, t + 2, 1 + t % 4 // 2, 1 + t % 4 // 2) for t in range(0, 200, 2)]
    document = make_document([1 + t % 7 for t in range(200)], mentions, [t // 9 for t in range(200)])
    with torch.no_grad():
        exact = score_encoded(network, [document], noise=FixedNoise(0))
        rough = score_encoded(network.float(), [document], noise=FixedNoise(0))
    for variable in VARIABLES:
        values = getattr(rough, variable)
        assert values.dtype == torch.float32
        torch.testing.assert_close(values.double(), getattr(exact, variable), rtol=1e-5, atol=1e-5)
