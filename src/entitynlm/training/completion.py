"""Going on with a stored model: train the parts that it lacks, and leave alone those that it has.

What is stored must have been made by the same settings and seed; a folder that says otherwise is not touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from entitynlm.config import Mode, ModelConfig, TrainingConfig, from_dict, to_dict
from entitynlm.errors import ConfigError, ModelError
from entitynlm.model.pretrained import CARD, Bundle, load_bundle
from entitynlm.text.document import Document
from entitynlm.training.recipe import Listener, train_bundle
from entitynlm.training.settings import Settings


def complete_bundle(
    folder: Path,
    train: Sequence[Document],
    development: Sequence[Document],
    settings: Settings,
    *,
    parts: Sequence[Mode],
    seed: int,
    device: str = "cpu",
    listener: Listener | None = None,
) -> Bundle | None:
    """The model in ``folder`` with all ``parts``, of which those that are missing are trained; None if it was stopped."""
    stored = load_bundle(folder, device=device) if (folder / CARD).exists() else None
    if stored is not None:
        check_stored(stored, settings, seed=seed, folder=folder)
    missing = [part for part in parts if stored is None or part not in stored.parts]
    if stored is not None and not missing:
        return stored
    return train_bundle(
        train,
        development,
        settings,
        parts=missing,
        base=stored,
        seed=seed,
        device=device,
        folder=folder,
        resume=True,
        listener=listener,
    )


def check_stored(bundle: Bundle, settings: Settings, *, seed: int, folder: Path) -> None:
    """Whether a stored model is what these settings and this seed make, as far as it got."""
    encoder = bundle.encoder
    different = []
    if encoder.recipe != settings.recipe:
        different.append("preprocessing")
    if (encoder.singletons, bool(encoder.types)) != (settings.data.singletons, settings.data.typed):
        different.append("data")
    for mode, notes in bundle.notes.get("training", {}).items():
        model, training = settings.for_part(mode)
        try:
            stored = (from_dict(ModelConfig, notes["model"]), from_dict(TrainingConfig, notes["training"]))
        except (KeyError, TypeError, ConfigError) as error:
            raise ModelError(
                f"{folder}: the notes on the {mode} part's training can't be read ({error})"
            ) from error
        kinds = stored[0].kinds
        wanted = (from_dict(ModelConfig, {**to_dict(model), "kinds": kinds}), training)
        if stored != wanted or notes.get("seed") != seed:
            different.append(mode)
    if different:
        raise ConfigError(
            f"{folder}: the model there was made with other settings or another seed ({', '.join(different)}); "
            "choose another folder, or remove this one"
        )
