"""entitynlm: a language model that knows who it is talking about."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from entitynlm.data.document import Document, Entity, Mention

if TYPE_CHECKING:
    from entitynlm.interfaces.api import EntityNLM, load

try:
    __version__ = version("entitynlm")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["Document", "Entity", "EntityNLM", "Mention", "__version__", "load"]


def __getattr__(name: str) -> Any:
    """The model class is imported when it is first asked for: torch takes a second, and not everyone needs it."""
    if name in ("EntityNLM", "load"):
        from entitynlm.interfaces import api

        return getattr(api, name)
    raise AttributeError(f"module 'entitynlm' has no attribute {name!r}")
