"""GGUF files, turned once into weights that load in no time, and kept in the cache folder by hash."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import torch

from entitynlm.cache import VARIABLE, cache_folder
from entitynlm.errors import ModelError
from entitynlm.extras import require
from entitynlm.files import hash_file
from entitynlm.model.language_models import EXTRA


def import_transformers(purpose: str) -> Any:
    """Import ``transformers``, or say which extra brings it."""
    transformers = require("transformers", extra=EXTRA, purpose=purpose)
    transformers.utils.logging.disable_progress_bar()
    return transformers


def hash_once(path: Path) -> str:
    """Return the SHA-256 of a file; a process computes it once for each version of the file."""
    stat = path.stat()
    return _hash_version(path.resolve(), stat.st_size, stat.st_mtime_ns)


@cache
def _hash_version(path: Path, size: int, changed: int) -> str:
    return hash_file(path)


def find_unpacked(path: Path) -> Path:
    """Find the folder of the cache for a GGUF file's contents, which is there only when all of its files are written."""
    return cache_folder() / "models" / hash_once(path)


def dequantise(path: Path) -> Path:
    """Return the folder in the cache with a GGUF file's contents as ``transformers`` likes them; make it if it is not there."""
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
    """Return what an error of another library says, without its advice."""
    text = str(error).strip().splitlines()
    return text[0][:200] if text else type(error).__name__
