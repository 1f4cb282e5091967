"""Checkpoints of a training under way: current and best weights, the optimizer's state, and where it stands.

Written beside its place and renamed as one folder, so a checkpoint is whole or not there.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from entitynlm.config import ModelConfig, TrainingConfig, rename_settings, to_dict
from entitynlm.errors import ModelError
from entitynlm.training.loop import Training, TrainingState


def save_checkpoint(training: Training, folder: Path, *, settings: dict[str, Any]) -> None:
    """Store all that ``load_checkpoint`` needs to go on exactly here."""
    beside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    save_file(_contiguous(training.network.state_dict()), beside / "weights.safetensors")
    save_file(_contiguous(training.best_weights), beside / "best.safetensors")
    moments, groups = _flatten(training.optimizer.state_dict())
    save_file(moments, beside / "optimizer.safetensors")
    state = {"progress": training.state.to_dict(), "groups": groups, "settings": settings}
    (beside / "state.json").write_text(json.dumps(state, indent=1), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    beside.replace(folder)


def load_checkpoint(training: Training, folder: Path, *, settings: dict[str, Any]) -> None:
    """Put a training back where its checkpoint left it; the settings must be the same."""
    try:
        state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        # An option that came after the checkpoint was made is missing there: it stood at its default.
        stored = {**state["settings"]}
        stored["training"] = {**_plain(TrainingConfig()), **stored["training"]}
        stored["model"] = {**_plain(ModelConfig()), **rename_settings(stored["model"])}
        if stored != settings:
            different = sorted(key for key in {*stored, *settings} if stored.get(key) != settings.get(key))
            raise ModelError(
                f"{folder}: this checkpoint was made with other settings ({', '.join(different)}); "
                "train into another folder, or without --resume"
            )
        training.network.load_state_dict(load_file(folder / "weights.safetensors"))
        training.best_weights = dict(load_file(folder / "best.safetensors"))
        moments = load_file(folder / "optimizer.safetensors")
        training.optimizer.load_state_dict(_unflatten(moments, state["groups"]))
        training.state = TrainingState.from_dict(state["progress"])
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        raise ModelError(f"{folder}: this checkpoint can't be used ({error})") from error


def _plain(config: ModelConfig | TrainingConfig) -> dict[str, Any]:
    """As JSON gives it back."""
    values: dict[str, Any] = json.loads(json.dumps(to_dict(config)))
    return values


def _contiguous(tensors: dict[str, Any]) -> dict[str, torch.Tensor]:
    return {name: value.detach().cpu().contiguous() for name, value in tensors.items()}


def _flatten(state: dict[str, Any]) -> tuple[dict[str, torch.Tensor], list[dict[str, Any]]]:
    tensors = {
        f"{index}.{name}": torch.as_tensor(value).detach().cpu().contiguous()
        for index, values in state["state"].items()
        for name, value in values.items()
    }
    return tensors, state["param_groups"]


def _unflatten(tensors: dict[str, torch.Tensor], groups: list[dict[str, Any]]) -> dict[str, Any]:
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, value in tensors.items():
        index, name = key.split(".", 1)
        state.setdefault(int(index), {})[name] = value
    return {"state": state, "param_groups": groups}
