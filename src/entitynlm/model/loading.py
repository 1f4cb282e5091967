"""Models by name: packaged, in a folder, or a pretrained language model with an untrained entity side."""

import contextlib
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from msgspec import structs

from entitynlm.config import ModelConfig
from entitynlm.errors import ConfigError, DataError
from entitynlm.model.additions import fit_scaling
from entitynlm.model.backbones.base import find_backbone
from entitynlm.model.backbones.huggingface.tokenizer import SubwordTokenizer
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import SUBWORD_RECIPE
from entitynlm.model.language_models import (
    BACKBONE_PREFIX,
    SMOLLM2,
    check_language_model,
    find_smollm2,
    strip_prefix,
)
from entitynlm.model.packaged import hash_model
from entitynlm.model.pretrained import UNTRAINED, Pretrained, load_pretrained, remark_untrained
from entitynlm.text.document import Document

TEXT = Path(__file__).resolve().parents[1] / "resources" / "demo" / "captain-reed.txt"
"""The text by whose states a language model's states are standardised, until there is a corpus."""


def load_model(model: str | Path, *, device: str = "cpu", start_piece: str | None = None) -> Pretrained:
    """Load a model by its name or folder, or ``huggingface:NAME``: that language model with an untrained entity side.

    :param start_piece: piece that ``huggingface:NAME`` reads before a text; a trained model keeps its own.
    """
    name = strip_prefix(model)
    if name is not None:
        return make_untrained(name, device=device, start_piece=start_piece)
    if start_piece is not None:
        raise ConfigError(
            f"{model} was trained with a start piece and keeps it: another one can be chosen for {BACKBONE_PREFIX}NAME alone"
        )
    return load_pretrained(model, device=device)


def make_untrained(
    name: str, *, device: str = "cpu", seed: int = 1, start_piece: str | None = None
) -> Pretrained:
    """Put P and its proposal Q, with random parameters, on a language model: mentions and links are guesses.

    :param name: name as for ``train --backbone``.  :param seed: seed of the entity side's random parameters.
    :param start_piece: piece read before a text; None: the language model's own.
    """
    notes = {UNTRAINED: f"{BACKBONE_PREFIX}{check_language_model(name)}"}
    config = ModelConfig(backbone=notes[UNTRAINED], start_piece=start_piece)
    words = tuple(TEXT.read_text(encoding="utf-8").split())
    document = Document(TEXT.stem, words, ((0, len(words)),))
    tokenizer = find_backbone(config).make_tokenizer(config)
    encoder = Encoder.fit([document], recipe=SUBWORD_RECIPE, singletons="keep", tokenizer=tokenizer)
    pretrained = Pretrained(encoder, None, notes=notes, name=notes[UNTRAINED])
    encoded = encoder.encode(document).words
    for mode in ("generative", "causal"):
        torch.manual_seed(seed)
        pretrained.add(structs.replace(config, mode=mode)).to(device).eval()
        network = pretrained.get(mode)
        with contextlib.suppress(DataError):  # a cache that can't be written makes the next start slower
            network.backbone.prepare([encoded])
        fit_scaling(network, [encoded])
    pretrained.remarks += remark_untrained(pretrained.notes)
    return pretrained


def choose_spelling(
    pretrained: Pretrained, boundaries: bool | None = None, *, exact: bool = False
) -> Pretrained:
    """Change how a model on a pretrained language model spells texts; other models stay unchanged.

    :param boundaries: whether a word's probability includes that the word ends; None: as the model was trained.
    :param exact: read the white space of a text as it stands.
    """
    tokenizer = pretrained.encoder.tokenizer
    if not isinstance(tokenizer, SubwordTokenizer):
        if boundaries is not False:
            return pretrained
        raise ConfigError(
            "word boundaries can be left out only of a model that is built on a pretrained language model; "
            "the words of this one have no pieces"
        )
    other = copy(pretrained)
    other.encoder = replace(pretrained.encoder, tokenizer=tokenizer.respell(boundaries, exact))
    return other


def describe_model(name: str | Path, pretrained: Pretrained) -> dict[str, Any]:
    """Describe a model so that figures can cite it: its hash, and the file, hash and start piece of its language model."""
    told: dict[str, Any] = {"model": str(name), "model_hash": hash_model(str(name))}
    tokenizer = pretrained.encoder.tokenizer
    if isinstance(tokenizer, SubwordTokenizer):
        told["language_model"] = {
            "file": find_smollm2().name if tokenizer.model == SMOLLM2 else tokenizer.model,
            "hash": tokenizer.digest,
            "start_piece": tokenizer.start_piece,
            "word_boundaries": tokenizer.boundaries,
            "white_space": "exact" if tokenizer.exact else "collapsed",
        }
    return told
