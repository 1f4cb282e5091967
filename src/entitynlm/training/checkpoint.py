"""Checkpoints: all that a training needs to go on exactly where it was, in one file.

A file is renamed into its place when every byte of it is on the disk, so whatever happens to the process, the last whole
checkpoint is there.
"""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from entitynlm.errors import ModelError
from entitynlm.files import write_atomically
from entitynlm.training.loop import Training, TrainingState


def save_checkpoint(training: Training, path: Path) -> None:
    """Store all that ``load_checkpoint`` needs."""
    optimizer = training.optimizer.state_dict()
    tensors = {
        **{f"weights.{name}": value for name, value in training.network.state_dict().items()},
        **{f"best.{name}": value for name, value in training.best_weights.items()},
        **{
            f"optimizer.{index}.{name}": torch.as_tensor(value)
            for index, values in optimizer["state"].items()
            for name, value in values.items()
        },
    }
    state = {
        "progress": asdict(training.state),
        "groups": optimizer["param_groups"],
        "settings": training.describe(),
    }
    own = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    with write_atomically(path, "wb", durable=True) as stream:
        stream.write(save(own, {"state": json.dumps(state)}))


def load_checkpoint(training: Training, path: Path) -> None:
    """Put a training back where its checkpoint left it; the settings must be the same."""
    try:
        with safe_open(path, "pt") as stored_file:
            state = json.loads(stored_file.metadata()["state"])
            tensors = {name: stored_file.get_tensor(name) for name in stored_file.keys()}  # noqa: SIM118
        check_settings(training, state["settings"], path)
        parts: dict[str, dict[str, torch.Tensor]] = {"weights": {}, "best": {}, "optimizer": {}}
        for key, value in tensors.items():
            part, _, name = key.partition(".")
            parts[part][name] = value
        training.network.load_state_dict(parts["weights"])
        training.best_weights = parts["best"]
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for key, value in parts["optimizer"].items():
            index, name = key.split(".", 1)
            moments.setdefault(int(index), {})[name] = value
        training.optimizer.load_state_dict({"state": moments, "param_groups": state["groups"]})
        training.state = TrainingState(**state["progress"])
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise ModelError(f"{path}: this checkpoint can't be used ({error})") from error


def check_settings(training: Training, stored: dict[str, Any], path: Path) -> None:
    """Refuse a checkpoint that was made with other settings than those of this training."""
    settings = training.describe()
    if stored != settings:
        different = sorted(key for key in {*stored, *settings} if stored.get(key) != settings.get(key))
        raise ModelError(
            f"{path}: this checkpoint was made with other settings ({', '.join(different)}); "
            "train into another folder, or without --resume"
        )
