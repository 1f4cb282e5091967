"""States of whole documents on disk, so that a frozen language model reads each text once."""

from __future__ import annotations

import errno
import hashlib
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from entitynlm.cache import VARIABLE, Claims, cache_folder
from entitynlm.errors import DataError, ModelError
from entitynlm.files import write_atomically
from entitynlm.model.backbones.huggingface.reader import BATCH_PIECES, LanguageModelRuntime
from entitynlm.progress import SILENT, Progress

TASK = "reading with the language model"
READER = "c"  # changes with the last digits of states
PAUSE = 0.2  # seconds, while other processes compute what is left


def read_cached(
    runtime: LanguageModelRuntime,
    documents: Sequence[np.ndarray],
    layers: Sequence[int],
    progress: Progress = SILENT,
) -> list[np.ndarray]:
    """States (P + 1, layers · D) of documents (piece ids), mapped from files of the cache folder, not held in memory.

    What is not there yet, or is damaged, is computed, the longest first so that it is known early whether memory suffices, and
    written batch by batch: work that was interrupted goes on where it stopped. Several processes share the work: each computes
    what no other one has claimed, and a file that is there is not written again, so that all of them see the same states.
    """
    if runtime.trainable:
        raise ModelError("states of a language model that is being trained are not kept: they change with it")
    folder = _find_folder(runtime, layers)
    paths = [folder / _name_of(document) for document in documents]
    width = runtime.width * len(layers)
    missing = {
        path: document
        for path, document in zip(paths, documents, strict=True)
        if _open(path, len(document) + 1, width) is None
    }
    if missing:
        progress.start(TASK, sum(len(document) + 1 for document in missing.values()))
        with _claim_in(folder) as claims:
            _fill(runtime, missing, layers, claims, progress)
        runtime.forget()
        progress.finish(TASK)
    return [_reopen(path, len(document) + 1, width) for path, document in zip(paths, documents, strict=True)]


def _fill(
    runtime: LanguageModelRuntime,
    missing: dict[Path, np.ndarray],
    layers: Sequence[int],
    claims: Claims,
    progress: Progress,
) -> None:
    """Write all files that are missing, or wait for those that other processes are at."""
    width = runtime.width * len(layers)
    order = sorted(missing, key=lambda path: -len(missing[path]))
    while order:
        count = max(BATCH_PIECES // (len(missing[order[0]]) + 1), 1)
        batch: list[Path] = []
        left: list[Path] = []
        for number, path in enumerate(order):
            rows = len(missing[path]) + 1
            if len(batch) == count:
                left += order[number:]
                break
            if not claims.take(path.stem):
                left.append(path)
            elif _open(path, rows, width) is not None:  # somebody else's work
                claims.release(path.stem)
                progress.advance(TASK, rows)
            else:
                batch.append(path)
        if batch:
            states, _ = runtime.read([missing[path] for path in batch], layers, keep=False)
            for path, own in zip(batch, states, strict=True):
                _write(path, own.cpu().numpy())
                claims.release(path.stem)
                progress.advance(TASK, len(own))
        elif left:
            time.sleep(PAUSE)
        order = left


def _claim_in(folder: Path) -> Claims:
    try:
        return Claims(folder / ".claims")
    except OSError as error:
        raise DataError(f"can't be written ({error.strerror or error})", path=folder) from error


def _find_folder(runtime: LanguageModelRuntime, layers: Sequence[int]) -> Path:
    """One folder per language model, window and choice of layers: states of different ones have nothing in common.

    So have those of readers with other last digits (:data:`READER`).
    """
    names = [runtime.digest, *map(str, layers), READER]
    if runtime.half != runtime.default_half:
        names.append(f"w{2 * runtime.half}")
    return cache_folder() / "states" / "-".join(names)


def _name_of(document: np.ndarray) -> Path:
    pieces = np.asarray(document, dtype=np.int64).tobytes()
    key = hashlib.blake2b(pieces, digest_size=16).hexdigest()
    return Path(key[:2]) / f"{key}.npy"


def _open(path: Path, rows: int, width: int) -> np.ndarray | None:
    """The states of a file, mapped; None where it is missing, cut short or something else."""
    try:
        states = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # numpy parses headers as Python literals, which fails in a dozen ways
        return None
    good = states.shape == (rows, width) and states.dtype == np.float32
    return states if good else None


def _reopen(path: Path, rows: int, width: int) -> np.ndarray:
    states = _open(path, rows, width)
    if states is None:
        raise ModelError(
            f"{path}: was written and can't be read; is somebody else clearing the cache folder?"
        )
    return states


def _write(path: Path, states: np.ndarray) -> None:
    """Write states that this process has claimed, and remove what a killed one has left of them."""
    for old in path.parent.glob(f".{path.name}.*.part"):
        old.unlink(missing_ok=True)
    try:
        with write_atomically(path, "wb") as stream:
            np.save(stream, states, allow_pickle=False)
    except DataError as error:
        reason = error.__cause__
        if isinstance(reason, OSError) and reason.errno == errno.ENOSPC:
            raise ModelError(
                f"{path.parent.parent}: no space is left for the states of the language model (about "
                f"{states.nbytes / max(len(states), 1) / 1024:,.1f} KB a piece). Make some, or set {VARIABLE} to a folder "
                "elsewhere; what was computed is kept"
            ) from error
        raise
