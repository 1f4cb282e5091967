"""Nothing that is read can run: no module of ours unpickles, evaluates or asks a library to run what comes with a model."""

import ast
import json
import pickle
from pathlib import Path

import pytest
import torch

from entitynlm.errors import ModelError
from support.tiny_language_models import import_or_skip, save_model

ROOT = Path(__file__).resolve().parents[1] / "src" / "entitynlm"
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "yaml", "runpy"}
CALLS = {"eval", "exec", "compile", "__import__"}
LOADERS = {"torch.jit.load", "torch.hub.load", "pandas.read_pickle"}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_can_run_what_it_reads(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not {alias.name.split(".")[0] for alias in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in MODULES
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            given = {word.arg: ast.unparse(word.value) for word in node.keywords}
            assert name not in CALLS | LOADERS
            if name == "torch.load":  # unpickles tensors and plain data, nothing else, since torch 2.6
                assert given.get("weights_only") == "True", ast.unparse(node)
            if name in ("np.load", "numpy.load"):
                assert given.get("allow_pickle") == "False", ast.unparse(node)
            if name.endswith(".from_pretrained") and "transformers" in name:
                assert given.get("trust_remote_code") == "False", ast.unparse(node)


class Trap:
    """Whoever unpickles it leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


@pytest.fixture
def language_model(tmp_path: Path) -> Path:
    import_or_skip()
    return save_model(tmp_path / "lm")


def load(folder: Path) -> None:
    from entitynlm.model.backbones.huggingface.weights import load_language_model

    load_language_model(str(folder))


def test_a_pickle_in_the_place_of_weights_is_not_run(language_model: Path, tmp_path: Path) -> None:
    (language_model / "model.safetensors").unlink()
    trap = Trap(tmp_path / "ran")
    torch.save({"weight": trap}, language_model / "pytorch_model.bin")
    with pytest.raises(ModelError, match="no weights here"):
        load(language_model)
    (language_model / "model.safetensors").write_bytes(pickle.dumps(trap))
    with pytest.raises(ModelError, match="the weights can't be read"):
        load(language_model)
    assert not trap.path.exists()


def test_code_beside_a_language_model_is_not_run(
    language_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor is the user asked whether it may: transformers would, on the terminal."""
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked"))
    (language_model / "own.py").write_text(
        f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    )
    config = json.loads((language_model / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M"}}
    (language_model / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"can't be (used|read)"):
        load(language_model)
    assert not (tmp_path / "ran").exists()
