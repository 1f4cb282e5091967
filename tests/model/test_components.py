"""The resolver and other trained components travel in a model's folder and are built once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from entitynlm.model.pretrained import load_pretrained, save_pretrained
from support.small_bundles import make_bundle


@dataclass
class Scale:
    """A component with one tensor and one setting."""

    component_name = "scale"
    factors: torch.Tensor
    unit: str

    def to_stored(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        return {"factors": self.factors}, {"unit": self.unit}

    @classmethod
    def from_stored(cls, tensors: Mapping[str, torch.Tensor], settings: Mapping[str, Any]) -> Scale:
        return cls(tensors["factors"], settings["unit"])


def test_components_are_stored_with_the_model_and_built_once(tmp_path: Path) -> None:
    pretrained, _ = make_bundle()
    assert pretrained.get_component(Scale) is None
    pretrained.set_component(Scale(torch.tensor([1.0, 2.5]), "words"))
    save_pretrained(pretrained, tmp_path / "a")
    loaded = load_pretrained(tmp_path / "a")
    save_pretrained(loaded, tmp_path / "b")  # nobody asked for the component: it travels as it was read
    again = load_pretrained(tmp_path / "b")
    found = again.get_component(Scale)
    assert found is not None and found.unit == "words"
    assert torch.equal(found.factors, torch.tensor([1.0, 2.5]))
    assert again.get_component(Scale) is found
