"""The folder for what can be computed again: dequantised language models and their states.

This is the one place below the interfaces that reads the environment, because whoever needs the folder is deep inside, and a user
who sets ``ENTITYNLM_CACHE`` expects it to hold for the command line and for Python alike.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from types import TracebackType

try:
    import fcntl
except ImportError:  # Windows: every process does all of the work
    fcntl = None  # type: ignore[assignment]

VARIABLE = "ENTITYNLM_CACHE"


def cache_folder() -> Path:
    """``$ENTITYNLM_CACHE``, or ``entitynlm`` in the platform's folder for caches; it need not exist yet."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "entitynlm"


class Claims:
    """Which parts of some work this process does, where several do it at the same time.

    A claim is a lock on one byte of a file, at the place that the part's key says. The kernel drops the locks of a process that
    ends, however it ends, so that nothing has to be cleaned up; over a network file system the same holds for other machines.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")

    def __enter__(self) -> Claims:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def take(self, key: str) -> bool:
        """Claim the part with this key (hexadecimal digits); False if another process has it."""
        if fcntl is not None:
            try:
                fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, int(key[:15], 16))
            except (BlockingIOError, PermissionError):
                return False
            except OSError:  # a file system without locks: parts may be done twice, and nothing worse
                return True
        return True

    def release(self, key: str) -> None:
        """Let others have it."""
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, int(key[:15], 16))
