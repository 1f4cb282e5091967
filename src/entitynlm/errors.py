"""Everything that can go wrong for a user, as one small tree.

The command line turns each of these into one readable message and exit code 2. Anything else is a bug of ours.
"""

import importlib
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

LONGEST = 80  # characters that are shown of what was found
LONGEST_PATH = 1000  # characters of a path, which may be the id of a document


class EntityNLMError(Exception):
    """The root: catch this one to catch every error that is not a bug."""


@dataclass(eq=False)
class DataError(EntityNLMError):
    """Input that can't be used, said so that a person can mend the file."""

    message: str
    _: KW_ONLY
    path: str | Path | None = None
    line: int | None = None
    found: str | None = None
    expected: str | None = None
    hint: str | None = None

    def __post_init__(self) -> None:
        self.path = str(self.path) if self.path is not None else None

    def __str__(self) -> str:
        place = str(self.path or "")[-LONGEST_PATH:]
        if self.line is not None:
            place += f"{':' if place else 'line '}{self.line}"
        text = f"{place}: {self.message}" if place else self.message
        if self.found is not None:
            shown = repr(self.found)
            text += f"; found {shown if len(shown) <= LONGEST else shown[: LONGEST - 2] + '…' + shown[0]}"
        if self.expected is not None:
            text += f"; expected {self.expected}"
        if self.hint is not None:
            text += f". {self.hint}"
        return text


class ConfigError(EntityNLMError):
    """An option or configuration that makes no sense."""


class ModelError(EntityNLMError):
    """A stored model that is missing, damaged, or of another kind than was asked for."""


class TrainingError(EntityNLMError):
    """A training that can't go on: a loss that is not a number, say."""


class InferenceError(EntityNLMError):
    """A question that the model can't answer, such as a choice that the proposal can't draw."""


class Busy(EntityNLMError):
    """A question whose answer is still being computed; ask again soon."""


class MissingExtraError(EntityNLMError):
    """An optional part of the package is needed and not installed."""

    def __init__(self, module: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the Python package '{module}', which is not installed. "
            f"Install it with: pip install 'entitynlm[{extra}]'"
        )
        self.module = module
        self.extra = extra


def require(module: str, *, extra: str, purpose: str) -> Any:
    """Import ``module``, or name the extra that brings it and the purpose that it was needed for."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtraError(module, extra, purpose) from error
