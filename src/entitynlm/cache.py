"""The folder for what can be computed again: dequantised language models and their states.

This is the one place below the interfaces that reads the environment, because the callers that need the folder are deep inside,
and a user who sets ``ENTITYNLM_CACHE`` expects it to hold for the command line and for Python alike.
"""

from __future__ import annotations

import os
from pathlib import Path

from filelock import BaseFileLock, FileLock, Timeout
from platformdirs import user_cache_path

VARIABLE = "ENTITYNLM_CACHE"


def cache_folder() -> Path:
    """Return ``$ENTITYNLM_CACHE``, or the platform's folder for caches of this package; it need not exist yet."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else user_cache_path("entitynlm", appauthor=False)


class Claims:
    """Pieces of work that this process does, where several processes do it at the same time.

    A claim is a lock on a file of its key. The system drops the locks of a process that ends, however it ends.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._held: dict[str, BaseFileLock] = {}

    def __enter__(self) -> Claims:
        return self

    def __exit__(self, *_: object) -> None:
        for key in list(self._held):
            self.release(key)

    def take(self, key: str) -> bool:
        """Claim the piece with this key; False if another process has it."""
        lock = FileLock(self._folder / f"{key}.lock")
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return False
        self._held[key] = lock
        return True

    def release(self, key: str) -> None:
        """Give a claim up; its file goes, because every document of a corpus has one."""
        lock = self._held.pop(key)
        lock.release()
        Path(lock.lock_file).unlink(missing_ok=True)
