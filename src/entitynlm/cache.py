"""The folder for data that can be computed again: dequantised language models and their states.

This is the only place below the interfaces that reads the environment, because callers deep inside need the folder, and a user
who sets ``ENTITYNLM_CACHE`` expects both the command line and Python to use it.
"""

import os
from pathlib import Path

from platformdirs import user_cache_path

VARIABLE = "ENTITYNLM_CACHE"


def cache_folder() -> Path:
    """Return ``$ENTITYNLM_CACHE``, or the platform's folder for caches of this package; it need not exist yet."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else user_cache_path("entitynlm", appauthor=False)
