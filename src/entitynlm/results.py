"""Results of a model can be compared, shown on one line, and turned into plain data."""

import copyreg
import dataclasses
import json
import reprlib
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

from entitynlm.errors import DataError


class Result:
    """Mix in for dataclasses that hold arrays, which Python's own comparison and ``repr`` are not made for."""

    INTERNAL: ClassVar[frozenset[str]] = frozenset()
    """Fields that plain data leaves out: they are None in what is made of it, and don't count in a comparison."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return repr(make_plain(self)) == repr(make_plain(other))  # NaN is NaN

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = (each.name for each in dataclasses.fields(self) if each.name not in self.INTERNAL)  # type: ignore[arg-type]
        sizes = ((name, getattr(self, name)) for name in names)
        shown = (f"{name}={reprlib.repr(value)}" if isinstance(value, str | int | float) else f"{len(value)} {name}"
                 for name, value in sizes if isinstance(value, str | int | float | tuple))  # fmt: skip
        return f"<{type(self).__name__}: {', '.join(shown)}>"

    def to_dict(self) -> dict[str, Any]:
        """Describe the result by numbers, strings, lists and dictionaries."""
        plain: dict[str, Any] = make_plain(self)
        return plain

    def to_json(self) -> str:
        """Describe the result as a line of JSON without its end."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Make the result that :meth:`to_dict` described."""
        try:
            found: Self = restore(cls, plain)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            expected = f"what {cls.__name__}.to_dict gave"
            raise DataError(
                "this is not the plain data of a result", found=str(error), expected=expected
            ) from error
        return found

    @classmethod
    def from_json(cls, line: str) -> Self:
        """Make the result that :meth:`to_json` described."""
        return cls.from_dict(json.loads(line))


def make_plain(value: Any) -> Any:
    """Make plain data of a value."""
    if not isinstance(value, Result) and hasattr(value, "to_dict"):
        return value.to_dict()
    if dataclasses.is_dataclass(value):
        names = (
            each.name for each in dataclasses.fields(value) if each.name not in getattr(value, "INTERNAL", ())
        )
        return {name: make_plain(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {"" if key is None else str(key): make_plain(each) for key, each in value.items()}
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if isinstance(value, tuple | list):
        return [make_plain(each) for each in value]
    return value


def restore(kind: Any, plain: Any) -> Any:
    """Restore a value of a type from the output of :func:`make_plain`."""
    if plain is None:
        return None
    if get_origin(kind) is UnionType:
        kind = next(part for part in get_args(kind) if part is not type(None))
        if plain == "" and kind is int:
            return None  # as a key
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if hasattr(origin, "from_dict") and not issubclass(origin, Result):
        return origin.from_dict(plain)
    if dataclasses.is_dataclass(origin):
        hints, internal = get_type_hints(origin), getattr(origin, "INTERNAL", ())
        given = {name: restore(hints[name], value) for name, value in plain.items() if name in hints}
        return origin(**dict.fromkeys(internal), **given)  # type: ignore[operator]
    if origin is tuple:
        kinds = parts[:1] * len(plain) if parts[-1] is ... else parts
        return tuple(restore(*pair) for pair in zip(kinds, plain, strict=True))
    if origin is Mapping:
        return {restore(parts[0], key): restore(parts[1], value) for key, value in plain.items()}
    if origin is np.ndarray:
        return np.array(plain)
    return msgspec.convert(plain, kind, strict=False)


class RowType(type):
    """The type of rows whose columns are known only when a table is made."""

    recipe: tuple[Any, ...]


class Row(metaclass=RowType):
    """Mix in for row types made at run time, which are pickled by their columns."""

    __slots__ = ()


@cache
def add_columns(base: type, name: str, *columns: tuple[Any, ...]) -> RowType:
    """Make the type of rows that have further columns, given as (name, type) or (name, type, default)."""
    made: Any = dataclasses.make_dataclass(name, columns, bases=(base, Row), frozen=True, kw_only=True)
    made.recipe = (base, name, *columns)
    return made


copyreg.pickle(RowType, lambda made: (add_columns, made.recipe))
