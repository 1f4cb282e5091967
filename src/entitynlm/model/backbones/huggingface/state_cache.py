"""States of whole documents on disk, so that a frozen language model reads each text once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from filelock import FileLock

from entitynlm.cache import cache_folder
from entitynlm.errors import DataError, ModelError
from entitynlm.files import write_atomically
from entitynlm.model.backbones.huggingface.reader import BATCH_PIECES, LanguageModelRuntime
from entitynlm.progress import SILENT, Progress

TASK = "reading with the language model"
READER = "c"  # changes when the states that the reader computes change


def read_cached(
    runtime: LanguageModelRuntime,
    documents: Sequence[np.ndarray],
    layers: Sequence[int],
    progress: Progress = SILENT,
) -> list[np.ndarray]:
    """Give states (P + 1, layers · D) of documents (piece ids), mapped from files of the cache folder, not held in memory.

    What is not there yet, or is damaged, is computed, the longest first so that it is known early whether memory suffices, and
    written batch by batch: work that was interrupted goes on where it stopped. Of several processes one computes, and the others
    wait for it.
    """
    folder, width = _find_folder(runtime, layers), runtime.width * len(layers)
    files = {folder / _name_of(document): document for document in documents}
    if any(_open(path, len(document) + 1, width) is None for path, document in files.items()):
        with _lock(folder):
            _fill(runtime, files, layers, progress)
    states = []
    for document in documents:
        path = folder / _name_of(document)
        own = _open(path, len(document) + 1, width)
        if own is None:
            raise ModelError(
                f"{path}: was written and can't be read; does another process clear the cache folder?"
            )
        states.append(own)
    return states


def _lock(folder: Path) -> FileLock:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"can't be written ({error.strerror or error})", path=folder) from error
    return FileLock(folder / ".lock")


def _fill(
    runtime: LanguageModelRuntime, files: dict[Path, np.ndarray], layers: Sequence[int], progress: Progress
) -> None:
    """Compute and write the states of documents that are not there."""
    width = runtime.width * len(layers)
    missing = [path for path, pieces in files.items() if _open(path, len(pieces) + 1, width) is None]
    missing.sort(key=lambda path: -len(files[path]))
    progress.start(TASK, sum(len(files[path]) + 1 for path in missing))
    while missing:
        count = max(BATCH_PIECES // (len(files[missing[0]]) + 1), 1)
        batch, missing = missing[:count], missing[count:]
        states, _ = runtime.read([files[path] for path in batch], layers, keep=False)
        for path, own in zip(batch, states, strict=True):
            _write(path, own.cpu().numpy())
            progress.advance(TASK, len(own))
    runtime.forget()
    progress.finish(TASK)


def _find_folder(runtime: LanguageModelRuntime, layers: Sequence[int]) -> Path:
    """Find the folder of a language model, its start piece and a choice of layers: other states have nothing in common."""
    parts = (runtime.digest, f"after{runtime.start}", *layers, READER)
    return cache_folder() / "states" / "-".join(map(str, parts))


def _name_of(document: np.ndarray) -> Path:
    pieces = np.asarray(document, dtype=np.int64).tobytes()
    key = hashlib.blake2b(pieces, digest_size=16).hexdigest()
    return Path(key[:2]) / f"{key}.npy"


def _open(path: Path, rows: int, width: int) -> np.ndarray | None:
    """Map the states of a file; None where it is missing, cut short or something else."""
    try:
        states = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # numpy parses headers as Python literals, which fails in a dozen ways
        return None
    good = states.shape == (rows, width) and states.dtype == np.float32
    return states if good else None


def _write(path: Path, states: np.ndarray) -> None:
    """Write states, and remove what a killed process has left of them."""
    for old in path.parent.glob(f".{path.name}.*.part"):
        old.unlink(missing_ok=True)
    with write_atomically(path, "wb") as stream:
        np.save(stream, states, allow_pickle=False)
