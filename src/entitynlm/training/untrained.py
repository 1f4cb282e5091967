"""A pretrained language model behind the story before training: its words are the language model's, its entities are guesses."""

from __future__ import annotations

import contextlib
from copy import copy
from dataclasses import replace
from pathlib import Path

from entitynlm.errors import ConfigError, ModelError
from entitynlm.model.additions import fit_scaling
from entitynlm.model.backbones.huggingface.tokenizer import SubwordTokenizer
from entitynlm.model.language_models import PREFIX, check_language_model, strip_prefix
from entitynlm.model.pretrained import UNTRAINED, Pretrained, load_pretrained, remark_untrained
from entitynlm.text.document import Document

TEXT = Path(__file__).resolve().parents[1] / "resources" / "demo" / "captain-reed.txt"
"""What states are standardised by, until there is a corpus."""


def load_model(model: str | Path, *, device: str = "cpu") -> Pretrained:
    """A stored model by its name or folder, or ``huggingface:NAME``: that language model with an untrained entity side."""
    name = strip_prefix(model)
    return load_pretrained(model, device=device) if name is None else make_untrained(name, device=device)


def make_untrained(name: str, *, device: str = "cpu", seed: int = 1) -> Pretrained:
    """P and its proposal Q on a language model; only their standardisation has seen a text.

    :param name: as ``train --backbone`` takes it.  :param seed: of the entity side's random parameters.
    """
    from entitynlm.training.recipe import fit_encoder, make_network  # here: a stored model needs no training
    from entitynlm.training.settings import load_settings

    name = check_language_model(name)
    settings = load_settings(None, language_model=name)
    words = tuple(TEXT.read_text(encoding="utf-8").split())
    document = Document(TEXT.stem, words, ((0, len(words)),))
    notes = {UNTRAINED: f"{PREFIX}{name}"}
    pretrained = Pretrained(fit_encoder([document], settings), None, notes=notes, name=notes[UNTRAINED])
    encoded = pretrained.encoder.encode(document).words
    for mode in ("generative", "causal"):
        make_network(pretrained, mode, settings, seed=seed)
        network = pretrained.get(mode).to(device).eval()
        with contextlib.suppress(ModelError):  # a cache that can't be written makes the next start slower
            network.backbone.prepare([encoded])
        fit_scaling(network, [encoded])
    pretrained.remarks += remark_untrained(pretrained.notes)
    return pretrained


def choose_boundaries(pretrained: Pretrained, boundaries: bool) -> Pretrained:
    """The same model with or without word boundaries: whether a word's probability includes that it ends."""
    tokenizer = pretrained.encoder.tokenizer
    if not isinstance(tokenizer, SubwordTokenizer):
        if boundaries:
            return pretrained
        raise ConfigError(
            "word boundaries can be left out only of a model that stands on a pretrained language model; "
            "the words of this one have no pieces"
        )
    if tokenizer.boundaries == boundaries:
        return pretrained
    other = copy(pretrained)
    other.encoder = replace(pretrained.encoder, tokenizer=tokenizer.with_boundaries(boundaries))
    return other
