"""Optional dependencies: imported where they are used, with one readable message when they are missing."""

import importlib
from typing import Any

from entitynlm.errors import MissingExtraError


def require(module: str, *, extra: str, purpose: str) -> Any:
    """Import ``module`` or say which extra brings it, and what it was wanted for."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(module, extra, purpose) from error
