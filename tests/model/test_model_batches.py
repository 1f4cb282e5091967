"""A document's numbers depend on the document alone: not on its neighbours, not on padding, not on what follows."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.noise import FixedNoise
from support.enumeration import sum_documents
from support.scoring import score_encoded
from support.small_models import (
    VARIABLES,
    WORDS,
    assert_close,
    encoded_documents,
    extend_document,
    make_network,
    model_options,
    part,
)

ALL_MODES = ("generative", "causal")


@settings(max_examples=40)
@given(options=model_options(*ALL_MODES), data=st.data())
def test_many_at_once_are_the_same_as_one_by_one(options: dict[str, Any], data: st.DataObject) -> None:
    """Values and gradients; since lengths differ, so does the padding."""
    network = make_network(**options)
    documents = data.draw(
        st.lists(encoded_documents(mention_types=options["mention_types"]), min_size=2, max_size=5)
    )
    noise = FixedNoise(options["seed"])
    together = score_encoded(network, documents, noise=noise)
    total = torch.zeros((), dtype=torch.float64)
    for number, document in enumerate(documents):
        alone = score_encoded(network, [document], noise=noise)
        total = total + alone.total
        for variable in VARIABLES:
            assert_close(part(together, number, variable), getattr(alone, variable))
        assert_close(sum_documents(together)[number], alone.total)
    parameters = list(network.parameters())
    if not together.total.requires_grad:  # nothing but empty documents
        return
    ours = torch.autograd.grad(together.total, parameters, allow_unused=True, materialize_grads=True)
    theirs = torch.autograd.grad(total, parameters, allow_unused=True, materialize_grads=True)
    for gradient, expected in zip(ours, theirs, strict=True):
        assert_close(gradient, expected, 1e-9)


@settings(max_examples=60)
@given(options=model_options("generative", "causal"), data=st.data(), seed=st.integers(0, 2**32 - 1))
def test_what_comes_later_never_changes_what_was(
    options: dict[str, Any], data: st.DataObject, seed: int
) -> None:
    """Two documents that agree up to a word agree in all scores up to there, whatever words and mentions follow."""
    network = make_network(**options)
    document = data.draw(encoded_documents(mention_types=options["mention_types"], min_size=2))
    cut = data.draw(st.integers(1, len(document) - 1))
    assume(document.l[cut - 1] == 1)  # an open mention is known to its end
    rng = np.random.default_rng(seed)
    past = EncodedDocument(
        "past",
        *(
            a[:cut]
            for a in (document.x, document.r, document.e, document.l, document.sentence, document.origin)
        ),
    )
    other = extend_document(rng, past, len(document), mention_types=options["mention_types"])
    with torch.no_grad():
        ours, theirs = (score_encoded(network, [d], noise=FixedNoise(1)) for d in (document, other))
    for variable in VARIABLES:
        assert_close(getattr(ours, variable)[:cut], getattr(theirs, variable)[:cut])


@settings(max_examples=40)
@given(options=model_options("generative", "causal"), data=st.data())
def test_p_decides_about_a_mention_before_it_sees_the_word(
    options: dict[str, Any], data: st.DataObject
) -> None:
    """Words changed from t on: P's choice of R, E and L at t stays, Q's (which has read word t) may change."""
    network = make_network(**options)
    document = data.draw(encoded_documents(mention_types=options["mention_types"], min_size=1))
    t = data.draw(st.integers(0, len(document) - 1))
    x = document.x.copy()
    x[t:] = 1 + x[t:] % (WORDS - 1)  # every word from t on is another one
    with torch.no_grad():
        before = score_encoded(network, [document], noise=FixedNoise(1))
        after = score_encoded(network, [replace(document, x=x)], noise=FixedNoise(1))
    seen = t + 1 if options["mode"] == "generative" else t
    for variable in "rel":
        assert_close(getattr(before, variable)[:seen], getattr(after, variable)[:seen])
    assert_close(before.x[:t], after.x[:t])
    if options["mode"] == "causal" and document.l[t - 1 : t].sum() <= 1:
        assert before.r[t] != after.r[t]
