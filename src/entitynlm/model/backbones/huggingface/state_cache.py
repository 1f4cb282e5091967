"""States of whole documents on disk, so that a frozen language model reads each text once."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from entitynlm.cache import cache_folder
from entitynlm.files import write_atomically
from entitynlm.model.backbones.huggingface.reader import LanguageModelRuntime
from entitynlm.progress import SILENT, Progress

TASK = "reading with the language model"
READER = "c"  # changes when the states that the reader computes change


def read_cached(
    runtime: LanguageModelRuntime,
    documents: Sequence[np.ndarray],
    layers: Sequence[int],
    progress: Progress = SILENT,
) -> list[np.ndarray]:
    """Return states (P + 1, layers · D) of documents (piece ids), memory-mapped from files of the cache folder.

    Missing or damaged files are computed, the longest first so that a lack of memory shows early, and written one by one: an
    interrupted call continues where it stopped.
    """
    parts = (
        runtime.digest,
        f"after{runtime.start}",
        *layers,
        READER,
    )  # states of others have nothing in common
    folder = cache_folder() / "states" / "-".join(map(str, parts))
    paths = [folder / _name_file(document) for document in documents]
    files, width = dict(zip(paths, documents, strict=True)), runtime.width * len(layers)
    missing = [path for path, pieces in files.items() if not _is_whole(path, (len(pieces) + 1, width))]
    missing.sort(key=lambda path: -len(files[path]))
    progress.start(TASK, sum(len(files[path]) + 1 for path in missing))
    for path in missing:
        (states,), _ = runtime.read([files[path]], layers, keep=False)
        with write_atomically(path, "wb") as stream:
            np.save(stream, states.cpu().numpy(), allow_pickle=False)
        progress.advance(TASK, len(states))
        runtime.forget()
    progress.finish(TASK)
    return [np.load(path, mmap_mode="r", allow_pickle=False) for path in paths]


def _name_file(document: np.ndarray) -> Path:
    pieces = np.asarray(document, dtype=np.int64).tobytes()
    key = hashlib.blake2b(pieces, digest_size=16).hexdigest()
    return Path(key[:2]) / f"{key}.npy"


def _is_whole(path: Path, shape: tuple[int, int]) -> bool:
    """Tell whether a file has states of this shape."""
    try:
        states = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # numpy parses headers as Python literals, which fails in a dozen ways
        return False
    return bool(states.shape == shape and states.dtype == np.float32)
