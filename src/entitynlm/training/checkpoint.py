"""Checkpoints of a training under way: current and best weights, the optimizer's state, and where it stands.

Written beside its place and renamed as one folder, so a checkpoint is whole or not there.
"""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from entitynlm.config import ModelConfig, TrainingConfig, rename_settings, to_dict
from entitynlm.errors import ModelError
from entitynlm.training.loop import Training, TrainingState


def save_checkpoint(training: Training, folder: Path) -> None:
    """Store all that ``load_checkpoint`` needs to go on exactly here."""
    beside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    save_file(_contiguous(training.network.state_dict()), beside / "weights.safetensors")
    save_file(_contiguous(training.best_weights), beside / "best.safetensors")
    optimizer = training.optimizer.state_dict()
    moments = {
        f"{index}.{name}": torch.as_tensor(value)
        for index, values in optimizer["state"].items()
        for name, value in values.items()
    }
    save_file(_contiguous(moments), beside / "optimizer.safetensors")
    state = {
        "progress": asdict(training.state),
        "groups": optimizer["param_groups"],
        "settings": training.describe(),
    }
    (beside / "state.json").write_text(json.dumps(state, indent=1), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    beside.replace(folder)


def load_checkpoint(training: Training, folder: Path) -> None:
    """Put a training back where its checkpoint left it; the settings must be the same."""
    try:
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        # An option that came after the checkpoint was made is missing there: it stood at its default.
        stored = {**state["settings"]}
        stored["training"] = {**to_dict(TrainingConfig()), **stored["training"]}
        stored["model"] = {**to_dict(ModelConfig()), **rename_settings(stored["model"])}
        settings = training.describe()
        if stored != settings:
            different = sorted(key for key in {*stored, *settings} if stored.get(key) != settings.get(key))
            raise ModelError(
                f"{folder}: this checkpoint was made with other settings ({', '.join(different)}); "
                "train into another folder, or without --resume"
            )
        training.network.load_state_dict(load_file(folder / "weights.safetensors"))
        training.best_weights = dict(load_file(folder / "best.safetensors"))
        moments: dict[int, dict[str, torch.Tensor]] = {}
        for key, value in load_file(folder / "optimizer.safetensors").items():
            index, name = key.split(".", 1)
            moments.setdefault(int(index), {})[name] = value
        training.optimizer.load_state_dict({"state": moments, "param_groups": state["groups"]})
        training.state = TrainingState(**state["progress"])
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise ModelError(f"{folder}: this checkpoint can't be used ({error})") from error


def _contiguous(tensors: dict[str, Any]) -> dict[str, torch.Tensor]:
    return {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
