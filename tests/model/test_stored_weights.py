"""Models of strangers: no code is run, no memory taken for sizes that are only claimed, nothing read outside of the folder."""

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from entitynlm import files
from entitynlm.errors import ModelError
from entitynlm.files import HASH_LIST
from entitynlm.model import packaged
from entitynlm.model.pretrained import CONFIG_FILE, build_network, load_pretrained, read_weights
from support.small_model import store_model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model without hashes, as whoever changes it on purpose would leave it."""
    store_model(tmp_path / "model")
    (tmp_path / "model" / HASH_LIST).unlink()
    return tmp_path / "model"


def change(folder: Path, edit: Callable[[dict[str, Any]], None]) -> None:
    config = json.loads((folder / CONFIG_FILE).read_text())
    edit(config)
    (folder / CONFIG_FILE).write_text(json.dumps(config))


def claim(path: Path, header: object, content: bytes = b"") -> None:
    """A safetensors file with a header of our own."""
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content)


HUGE = 10**12


@pytest.mark.parametrize(
    "header",
    [
        {"w": {"dtype": "F32", "shape": [HUGE], "data_offsets": [0, 4 * HUGE]}},
        {"w": {"dtype": "F32", "shape": [HUGE], "data_offsets": [0, 16]}},
        {"w": {"dtype": "F32", "shape": [2**40, 2**40], "data_offsets": [0, 0]}},
        {"w": {"dtype": "F32", "shape": [4], "data_offsets": [-16, 0]}},
        {"w": {"dtype": "pickle", "shape": [4], "data_offsets": [0, 16]}},
    ],
)
def test_a_header_that_claims_too_much_is_refused(header: object, tmp_path: Path) -> None:
    claim(tmp_path / "w.safetensors", header, bytes(16))
    with pytest.raises(ModelError, match=r"w\.safetensors: the weights can't be read"):
        read_weights(tmp_path / "w.safetensors")
    (tmp_path / "w.safetensors").write_bytes(struct.pack("<Q", 2**62) + b"{}")
    with pytest.raises(ModelError, match=r"w\.safetensors: the weights can't be read"):
        read_weights(tmp_path / "w.safetensors")


@pytest.mark.parametrize("size", [10**6, 2**40, 2**62, 10**30])
@pytest.mark.parametrize("name", ["hidden_size", "embedding_size", "mention_positions"])
def test_sizes_are_compared_before_memory_is_taken(name: str, size: int, folder: Path) -> None:
    """A network of 10¹² numbers would end this process: the sizes in the JSON are those of the files, or nothing is made."""
    change(folder, lambda config: config["parts"]["generative"].update({name: size}))
    with pytest.raises(ModelError, match=r"don't fit the configuration|can't be built"):
        load_pretrained(folder)


def test_a_vocabulary_of_another_model_is_refused(folder: Path) -> None:
    change(folder, lambda config: config["encoder"]["tokenizer"]["words"].append("nobody"))
    with pytest.raises(ModelError, match=r"safetensors: .*classes of \d+ words for a vocabulary of \d+"):
        load_pretrained(folder)
    change(folder, lambda config: config["classes"]["class_of"].append(0))
    with pytest.raises(ModelError, match=r"safetensors: the weights don't fit .* and the vocabulary"):
        load_pretrained(folder)


@pytest.mark.parametrize(
    ("name", "value"), [("mode", "causal"), ("mention_types", 3), ("max_length", 7)]
)  # the last two are in no weight, or not in all
def test_parts_and_encoder_that_disagree_are_refused(name: str, value: object, folder: Path) -> None:
    change(folder, lambda config: config["parts"]["generative"].update({name: value}))
    with pytest.raises(ModelError, match=r"model\.json: the .* of the part generative is"):
        load_pretrained(folder)


def test_weights_that_are_not_numbers_are_refused(folder: Path) -> None:
    path = folder / "generative.safetensors"
    weights = load_file(path)
    weights["W_r"] = weights["W_r"].clone()
    weights["W_r"][1, 2] = torch.nan
    save_file(weights, path)
    with pytest.raises(ModelError, match="W_r has numbers that are not finite"):
        load_pretrained(folder)


def test_weights_that_are_missing_or_too_many_are_named() -> None:
    with pytest.raises(ModelError, match=r"here: .*bias has the size None, expected \(2,\)"):
        build_network(lambda: torch.nn.Linear(3, 2), {"weight": torch.zeros(2, 3)}, "here")
    tensors = {"weight": torch.zeros(2, 3), "bias": torch.ones(2), "more": torch.zeros(1)}
    with pytest.raises(ModelError, match=r"more has the size \(1,\), expected None"):
        build_network(lambda: torch.nn.Linear(3, 2), tensors, "here")
    del tensors["more"]
    network = build_network(lambda: torch.nn.Linear(3, 2), tensors, "here")
    assert network.weight.device.type == "cpu" and torch.equal(network.bias, torch.ones(2))


# -- nothing outside of the folder --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [CONFIG_FILE, "generative.safetensors"])
def test_links_that_lead_outside_are_refused(name: str, folder: Path) -> None:
    (folder / name).rename(folder.parent / "elsewhere")
    (folder / name).symlink_to(folder.parent / "elsewhere")
    with pytest.raises(ModelError, match=r"leads out of the model's folder.*cp -rL"):
        load_pretrained(folder)
    (folder / name).unlink()
    (folder.parent / "elsewhere").rename(folder / "inside")
    (folder / name).symlink_to("inside")
    assert load_pretrained(folder)
    (folder.parent / "link").symlink_to(folder)  # to the folder itself: the user's own choice
    assert load_pretrained(folder.parent / "link")


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/../../b", "\0", "x" * 300])
def test_components_and_hashes_are_files_of_the_folder(name: str, folder: Path) -> None:
    change(folder, lambda config: config.update(components={name: {"tensors": True, "settings": {}}}))
    with pytest.raises(
        ModelError, match=r"leads out of the model's folder|no file that is called|missing|can't be read"
    ):
        load_pretrained(folder)
    change(folder, lambda config: config.update(components={}))
    (folder / HASH_LIST).write_text(f"{'0' * 64}  {name}\n")
    with pytest.raises(ModelError, match=r"leads out of the model's folder|no file that is called|missing"):
        load_pretrained(folder)


def test_devices_and_loops_do_not_hang(folder: Path) -> None:
    (folder / CONFIG_FILE).unlink()
    os.mkfifo(folder / CONFIG_FILE)
    with pytest.raises(ModelError, match="is no file"):
        load_pretrained(folder)
    (folder / CONFIG_FILE).unlink()
    (folder / CONFIG_FILE).symlink_to(CONFIG_FILE)
    with pytest.raises(ModelError, match=r"no file that is called|no model here|can't be read"):
        load_pretrained(folder)


# -- JSON ---------------------------------------------------------------------------------------------------------------------


def test_json_that_is_huge_or_deep_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / CONFIG_FILE).write_text("[" * 100_000)
    with pytest.raises(ModelError, match="nested too deeply"):
        load_pretrained(folder)
    monkeypatch.setattr(files, "MOST_JSON", 1000)
    (folder / CONFIG_FILE).write_text("[" + "1," * 1000 + "1]")
    with pytest.raises(ModelError, match=r"more than 1,000 bytes"):
        load_pretrained(folder)
    assert packaged.read_language_model(folder) is None


@pytest.mark.parametrize(
    "text", ["[]", "{}", "null", '{"format": 3}', '{"format": 3, "encoder": 1}', '{"format": 3, "parts": []}']
)
def test_json_of_another_kind_is_refused(text: str, folder: Path) -> None:
    (folder / CONFIG_FILE).write_text(text)
    with pytest.raises(ModelError, match=r"model\.json"):
        load_pretrained(folder)


def test_a_list_of_hashes_without_end_is_refused(folder: Path) -> None:
    (folder / HASH_LIST).write_bytes(b"0" * 2_000_000)
    with pytest.raises(ModelError, match="more than 1,048,576 bytes"):
        load_pretrained(folder)
