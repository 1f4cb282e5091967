"""Errors of surprisal are errors: of the packaged models' words as many lie within two of them as the t distribution says."""

import numpy as np
import pytest

from entitynlm.inference.readings import Readings
from entitynlm.lm.surprisal import choose_samples
from entitynlm.lm.surprisal_words import estimate_words
from entitynlm.model.packaged import ON_SMOLLM2, SMALL
from entitynlm.model.pretrained import load_pretrained
from entitynlm.text.document import Document
from entitynlm.text.segmentation import segment_text
from support.bare_language_models import needs_smollm2

TEXT = """A visit to the harbour museum is a long affair. Clara Whitfield planned the visit for her pupils, and the harbour
museum sent a guide. The guide, an old sailor called Tom Ferris, met Clara Whitfield at the door. "Is this your first visit?"
asked Tom Ferris. "It is a school visit," she said, "and the pupils know nothing of the harbour museum." Tom Ferris laughed. He
showed the pupils a model of the old ferry, and one of the pupils asked him whether he had sailed on the old ferry himself. He
had. Clara Whitfield wrote it down. A visit to the harbour museum, she thought, was worth it for Tom Ferris alone."""


@pytest.mark.parametrize("name", [SMALL, pytest.param(ON_SMOLLM2, marks=needs_smollm2)])
def test_errors_are_calibrated(name: str) -> None:
    """Names of several words come again and again: where mentions could copy them, errors were far too small."""
    cut, pretrained = segment_text(" ".join(TEXT.split())), load_pretrained(name)
    encoded = pretrained.encoder.encode(Document("text", cut.tokens, cut.sentences))
    networks = pretrained.get("generative"), pretrained.get("causal")
    known = *networks, encoded, Readings(encoded)  # which a language model makes once
    truth = estimate_words(*known, particles=400, repeats=4, seed=1_000).log_probs
    particles = choose_samples(pretrained)
    found = [estimate_words(*known, particles=particles, seed=seed) for seed in range(6)]
    off = np.array([estimate.log_probs - truth for estimate in found]) / np.log(2)
    errors = np.array([estimate.errors for estimate in found]) / np.log(2)
    assert np.mean(np.abs(off) <= 2 * errors + 1e-4) >= 0.84
    assert np.abs(off).max() < 1
    assert abs(off.mean()) < 0.005 + 2 * off.std() / np.sqrt(off.size)
    if encoded.piece_bounds is not None:  # the quotation mark in ` visit?"` has no piece of its own
        certain = np.diff(encoded.piece_bounds) == 0
        assert certain.any() and not np.any([off[:, certain], errors[:, certain]])
