"""The folder for what can be computed again: dequantised language models and their states.

This is the one place below the interfaces that reads the environment, because the callers that need the folder are deep inside,
and a user who sets ``ENTITYNLM_CACHE`` expects it to hold for the command line and for Python alike.
"""

import os
from pathlib import Path

from platformdirs import user_cache_path

VARIABLE = "ENTITYNLM_CACHE"


def cache_folder() -> Path:
    """Return ``$ENTITYNLM_CACHE``, or the platform's folder for caches of this package; it need not exist yet."""
    chosen = os.environ.get(VARIABLE)
    return Path(chosen).expanduser() if chosen else user_cache_path("entitynlm", appauthor=False)
