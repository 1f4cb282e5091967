"""entitynlm: a language model that knows who it is talking about."""

from typing import TYPE_CHECKING, Any

from entitynlm.text.document import Document, Entity, Mention

if TYPE_CHECKING:
    from entitynlm.api import EntityNLM, load

    __version__: str

__all__ = ["Document", "Entity", "EntityNLM", "Mention", "__version__", "load"]


def __dir__() -> list[str]:
    """List what the package offers, also what is not imported yet."""
    return sorted(__all__)


def __getattr__(name: str) -> Any:
    """Look the model class and the version up when they are first used, because importing torch takes a second."""
    if name in ("EntityNLM", "load"):
        from entitynlm import api

        return getattr(api, name)
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("entitynlm")
        except PackageNotFoundError:  # a source tree that was never installed
            return "0+unknown"
    raise AttributeError(f"module 'entitynlm' has no attribute {name!r}")
