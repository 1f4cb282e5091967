"""entitynlm: a language model that knows who it is talking about."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("entitynlm")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
