"""GGUF files, turned once into weights that load in no time, and kept in the cache folder by hash."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from entitynlm.cache import VARIABLE, cache_folder
from entitynlm.errors import DataError, ModelError
from entitynlm.extras import require
from entitynlm.files import hash_file, write_atomically
from entitynlm.model.backbones.huggingface.imports import import_transformers
from entitynlm.model.language_models import EXTRA

HASHES = "hashes.json"


def hash_once(path: Path) -> str:
    """The SHA-256 of a file, kept in the cache folder until its size or its time changes."""
    path = path.resolve()
    stat = path.stat()
    stamp = [str(path), stat.st_size, stat.st_mtime_ns]
    key = hashlib.blake2b(str(path).encode(), digest_size=16).hexdigest()
    note = cache_folder() / "digests" / f"{key}.json"
    try:
        known = json.loads(note.read_text(encoding="utf-8"))
        if known["stamp"] == stamp:
            return str(known["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    sha = hash_file(path)
    try:
        with write_atomically(note) as stream:
            json.dump({"stamp": stamp, "sha256": sha}, stream)
    except DataError:  # it is computed again next time
        pass
    return sha


def dequantise(path: Path, sha: str) -> Path:
    """The folder in the cache with a GGUF file's contents as ``transformers`` likes them; made if it is not there."""
    folder = cache_folder() / "models" / sha
    if _is_whole(folder):
        return folder
    transformers = import_transformers(f"The language model {path.name}")
    require("gguf", extra=EXTRA, purpose="Reading a GGUF file")
    require("accelerate", extra=EXTRA, purpose="Reading a GGUF file")
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32, trust_remote_code=False
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            path.parent, gguf_file=path.name, trust_remote_code=False
        )
    except Exception as error:
        raise ModelError(f"{path}: this GGUF file can't be read ({first_line(error)})") from error
    size = sum(tensor.numel() * 4 for tensor in model.state_dict().values())
    with _make_folder(folder, size, path.name) as temporary:
        _write(model, tokenizer, temporary)
        hashes = {part.name: hash_file(part) for part in sorted(temporary.iterdir())}
        (temporary / HASHES).write_text(json.dumps(hashes, indent=1), encoding="utf-8")
    return folder


def is_unpacked(path: Path) -> bool:
    """Whether the cache has a GGUF file's contents, so that :func:`dequantise` takes no time."""
    return _is_whole(cache_folder() / "models" / hash_once(path))


def _is_whole(folder: Path) -> bool:
    """Whether a folder of the cache is what was written there (a file that has not been touched since is not read)."""
    try:
        hashes = json.loads((folder / HASHES).read_text(encoding="utf-8"))
        return all(hash_once(folder / name) == sha for name, sha in hashes.items())
    except (OSError, ValueError, AttributeError):
        return False


def _write(model: Any, tokenizer: Any, folder: Path) -> None:
    """Write a model that came from GGUF, for which ``save_pretrained`` is refused."""
    tensors = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        tensors.pop("lm_head.weight", None)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = model.config.to_dict()
    config.pop("quantization_config", None)
    config.pop("_name_or_path", None)
    config["architectures"] = [type(model).__name__]
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    tokenizer.save_pretrained(folder)


@contextmanager
def _make_folder(folder: Path, size: int, name: str) -> Iterator[Path]:
    """A temporary folder that takes the place of ``folder`` when the block ends well."""
    full = ModelError(
        f"{folder.parent}: there is not enough space for the weights of {name} ({size / 1e6:,.0f} MB). "
        f"Make some, or set {VARIABLE} to a folder elsewhere"
    )
    temporary: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        if shutil.disk_usage(folder.parent).free < size + (16 << 20):
            raise full
        temporary = Path(tempfile.mkdtemp(prefix=".part-", dir=folder.parent))
        yield temporary
        try:
            temporary.rename(folder)
        except OSError:
            if not _is_whole(folder):  # else another process has made it meanwhile, and may be reading it
                shutil.rmtree(folder, ignore_errors=True)
                temporary.rename(folder)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise full from error
        raise ModelError(f"{folder}: can't be written ({error.strerror or error})") from error
    finally:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)


def first_line(error: BaseException) -> str:
    """What an error of another library says, without its advice."""
    text = str(error).strip().splitlines()
    return text[0][:200] if text else type(error).__name__
