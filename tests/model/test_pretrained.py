"""Model folders: what is saved is loaded, damage is found and named."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from entitynlm.errors import ModelError
from entitynlm.files import HASH_LIST
from entitynlm.model import packaged
from entitynlm.model.packaged import find_model, list_models
from entitynlm.model.pretrained import CONFIG_FILE, load_pretrained, save_pretrained
from support.small_bundles import make_bundle


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_pretrained(make_bundle()[0], tmp_path / "a-model")
    return tmp_path / "a-model"


def test_what_is_saved_is_loaded_without_remarks(folder: Path) -> None:
    saved, loaded = make_bundle()[0], load_pretrained(folder)
    assert loaded.remarks == []
    assert json.loads((folder / CONFIG_FILE).read_text())["format"] == 3
    for mode, network in saved.parts.items():
        for name, value in network.state_dict().items():
            assert torch.equal(loaded.parts[mode].state_dict()[name], value), (mode, name)


@pytest.mark.parametrize("name", ["causal.safetensors", "rnnlm.safetensors", CONFIG_FILE])
def test_a_flipped_bit_is_found_and_the_file_is_named(folder: Path, name: str) -> None:
    copied = shutil.copytree(folder, folder.parent / "copied")
    damaged = bytearray((copied / name).read_bytes())
    damaged[-3] ^= 1
    (copied / name).write_bytes(damaged)
    with pytest.raises(ModelError, match=name.replace(".", "[.]")):
        load_pretrained(copied)
    assert load_pretrained(folder).parts.keys() == make_bundle()[0].parts.keys()


@pytest.mark.parametrize("listed", [True, False])
def test_a_file_that_was_cut_short_or_is_missing_is_named(folder: Path, listed: bool) -> None:
    weights = folder / "causal.safetensors"
    weights.write_bytes(weights.read_bytes()[:-7])
    if not listed:
        (folder / HASH_LIST).unlink()
    with pytest.raises(ModelError, match=r"causal\.safetensors: .*damaged"):
        load_pretrained(folder)
    weights.unlink()
    with pytest.raises(ModelError, match=r"causal\.safetensors.*missing"):
        load_pretrained(folder)


def test_a_list_that_is_no_list_is_an_error_and_none_at_all_a_remark(folder: Path) -> None:
    (folder / HASH_LIST).write_text("all is well\n")
    with pytest.raises(ModelError, match=HASH_LIST):
        load_pretrained(folder)
    (folder / HASH_LIST).unlink()
    (remark,) = load_pretrained(folder).remarks
    assert HASH_LIST in remark


def test_a_format_to_come_is_refused(folder: Path) -> None:
    config = json.loads((folder / CONFIG_FILE).read_text())
    (folder / CONFIG_FILE).write_text(json.dumps({**config, "format": 4}))
    with pytest.raises(ModelError, match="format 4"):
        load_pretrained(folder)


def test_models_of_the_package_are_found_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged, "PACKAGED_MODELS", folder.parent)
    assert list_models() == ["a-model"] and find_model("a-model") == folder
    with pytest.raises(ModelError, match="no model of the package"):
        find_model("another")


@dataclass
class Scale:
    """A component with one tensor and one setting."""

    component_name = "scale"
    factors: torch.Tensor
    unit: str

    def to_stored(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        return {"factors": self.factors}, {"unit": self.unit}

    @classmethod
    def from_stored(cls, tensors: Mapping[str, torch.Tensor], settings: Mapping[str, Any]) -> "Scale":
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
