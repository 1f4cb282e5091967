"""The folder for what can be computed again: dequantised language models and their states.

This is the one place below the interfaces that reads the environment, because whoever needs the folder is deep inside, and a user
who sets ``ENTITYNLM_CACHE`` expects it to hold for the command line and for Python alike.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

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
