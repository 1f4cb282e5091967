"""Going on with a stored model: train the parts that it lacks, and leave alone those that it has.

What is stored must have been made by the same settings and seed; a folder that says otherwise is not touched.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from entitynlm.config import Mode, ModelConfig, TrainingConfig, from_dict
from entitynlm.errors import ConfigError, ModelError
from entitynlm.model.pretrained import CONFIG_FILE, Pretrained, load_pretrained
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document
from entitynlm.training.recipe import train_pretrained
from entitynlm.training.settings import Settings


def complete_pretrained(
    folder: Path,
    train: Sequence[Document],
    development: Sequence[Document],
    settings: Settings,
    *,
    parts: Sequence[Mode],
    seed: int,
    device: str = "cpu",
    progress: Progress = SILENT,
) -> Pretrained | None:
    """The model in ``folder`` with all ``parts``, of which those that are missing are trained; None if it was stopped."""
    stored = load_pretrained(folder, device=device) if (folder / CONFIG_FILE).exists() else None
    if stored is not None:
        check_stored(stored, settings, seed=seed, folder=folder)
    missing = [part for part in parts if stored is None or part not in stored.parts]
    if stored is not None and not missing:
        return stored
    return train_pretrained(
        train,
        development,
        settings,
        parts=missing,
        base=stored,
        seed=seed,
        device=device,
        folder=folder,
        resume=True,
        progress=progress,
    )


def check_stored(pretrained: Pretrained, settings: Settings, *, seed: int, folder: Path) -> None:
    """Whether a stored model is what these settings and this seed make, as far as it got."""
    encoder = pretrained.encoder
    different = []
    if encoder.recipe != settings.recipe:
        different.append("preprocessing")
    if (encoder.singletons, bool(encoder.types)) != (settings.data.singletons, settings.data.typed):
        different.append("data")
    for mode, notes in pretrained.notes.get("training", {}).items():
        model, training = settings.for_part(mode)
        try:
            stored = (from_dict(ModelConfig, notes["model"]), from_dict(TrainingConfig, notes["training"]))
        except (KeyError, TypeError, ConfigError) as error:
            raise ModelError(
                f"{folder}: the notes on the {mode} part's training can't be read ({error})"
            ) from error
        wanted = (replace(model, mention_types=stored[0].mention_types), training)
        if stored != wanted or notes.get("seed") != seed:
            different.append(mode)
    if different:
        raise ConfigError(
            f"{folder}: the model there was made with other settings or another seed ({', '.join(different)}); "
            "choose another folder, or remove this one"
        )
