"""Results of a model can be compared, shown on one line, and turned into plain data."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec
import numpy as np


class Result:
    """Mix in for dataclasses that hold arrays, which Python's own comparison and ``repr`` are not made for."""

    INTERNAL: ClassVar[frozenset[str]] = frozenset()
    """Fields that plain data leaves out."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return repr(make_plain(self, whole=True)) == repr(make_plain(other, whole=True))  # NaN is NaN

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        sizes = ((each.name, getattr(self, each.name)) for each in dataclasses.fields(self))  # type: ignore[arg-type]
        shown = (f"{name}={value!r}" if isinstance(value, str | int | float) else f"{len(value)} {name}"
                 for name, value in sizes if isinstance(value, str | int | float | tuple))  # fmt: skip
        return f"<{type(self).__name__}: {', '.join(shown)}>"

    def to_dict(self) -> dict[str, Any]:
        """Describe the result by numbers, strings, lists and dictionaries."""
        plain: dict[str, Any] = make_plain(self)
        return plain

    def to_json(self) -> str:
        """Describe the result as a line of JSON without its end."""
        return json.dumps(self.to_dict(), ensure_ascii=False)


def make_plain(value: Any, *, whole: bool = False) -> Any:
    """Make plain data of a value; ``whole`` keeps internal fields too."""
    if not isinstance(value, Result) and hasattr(value, "to_dict"):
        return value.to_dict()
    if dataclasses.is_dataclass(value):
        hidden = () if whole else getattr(value, "INTERNAL", ())
        names = (each.name for each in dataclasses.fields(value) if each.name not in hidden)
        return {name: make_plain(getattr(value, name), whole=whole) for name in names}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {"" if key is None else str(key): make_plain(each, whole=whole) for key, each in value.items()}
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if isinstance(value, tuple | list):
        return [make_plain(each, whole=whole) for each in value]
    return value
