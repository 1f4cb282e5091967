"""Tables for other people's programs: rows that are dataclasses, as TSV, CSV, Parquet or JSON.

TSV and CSV quote a field only where they must (a quotation mark is a token, too), in the way that R, pandas and spreadsheets read
back by default. None is an empty field, a truth value 1 or 0.
"""

import contextlib
import csv
import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from entitynlm.errors import ConfigError, require
from entitynlm.files import STANDARD, make_printable, write_atomically

Kind = Literal["tsv", "csv", "parquet", "json"]
DIGITS = 6  # decimals of written figures
ROW_GROUP = 100_000  # rows of a Parquet file that are in memory at a time


def choose_kind(wanted: Kind | None, out: str) -> Kind:
    """Choose the kind of table that is asked for, or the one that the output's name tells, or TSV."""
    ending = Path(out).suffix[1:].lower()
    known: dict[str, Kind] = {"": "tsv", "txt": "tsv", **{kind: kind for kind in get_args(Kind)}}
    folder = out.endswith(("/", "\\")) or Path(out).is_dir()
    if wanted is None and not folder and ending not in known:
        raise ConfigError(
            f"{out}: which kind of table is this? Say so with --as ({', '.join(get_args(Kind))})"
        )
    kind = wanted or known.get(ending, "tsv")
    if kind == "parquet" and out == STANDARD:
        raise ConfigError("Parquet is not for a terminal: name a file or a folder with --out")
    return kind


def check_kind(kind: Any) -> Any:
    """Return the kind of table, unless it can't be written here, which is found before anything is computed."""
    if kind == "parquet":
        require("pyarrow", extra="parquet", purpose="writing Parquet")
    return kind


@contextlib.contextmanager
def open_rows(row_type: type, path: str | Path, kind: Kind) -> Iterator[Callable[[Iterable[Any]], None]]:
    """Give a function that adds rows of one dataclass to a table; the file is there when the block ends well.

    Rows are written as they come (a table as one JSON array is collected first), so that its length does not matter.
    """
    columns = [field.name for field in dataclasses.fields(row_type)]
    if kind == "parquet":
        with _open_parquet(row_type, path) as add:
            yield add
        return
    with write_atomically(path) as stream:
        if kind == "json":
            records: list[dict[str, Any]] = []
            yield lambda rows: records.extend({name: getattr(row, name) for name in columns} for row in rows)
            json.dump(records, stream, ensure_ascii=False, indent=1, allow_nan=False)
            stream.write("\n")
        else:
            writer = csv.writer(stream, delimiter="\t" if kind == "tsv" else ",", lineterminator="\n")
            writer.writerow(columns)
            yield lambda rows: writer.writerows(
                [show_cell(getattr(row, name)) for name in columns] for row in rows
            )


def write_rows(rows: Iterable[Any], row_type: type, path: str | Path, kind: Kind) -> None:
    """Write rows of one dataclass, all of them or nothing; a table without rows has its columns all the same."""
    with open_rows(row_type, path, kind) as add:
        add(rows)


def show_cell(value: Any) -> str:
    """Write a value as text without line breaks and tabs, so that a line is a row for simple readers too."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return f"{value:.{DIGITS}f}"
    return make_printable(" ".join(value.split())) if isinstance(value, str) else str(value)


@contextlib.contextmanager
def _open_parquet(row_type: type, path: str | Path) -> Iterator[Callable[[Iterable[Any]], None]]:
    arrow = require("pyarrow", extra="parquet", purpose="writing Parquet")
    parquet = require("pyarrow.parquet", extra="parquet", purpose="writing Parquet")
    kinds = {str: arrow.string(), int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    types = {name: kinds[_plain_type(hint)] for name, hint in get_type_hints(row_type).items()}
    schema = arrow.schema(types.items())
    waiting: list[Any] = []

    def write(writer: Any) -> None:
        columns = {name: [getattr(row, name) for row in waiting] for name in types}
        writer.write_table(arrow.table(columns, schema=schema))
        waiting.clear()

    def add(rows: Iterable[Any]) -> None:
        for row in rows:
            waiting.append(row)
            if len(waiting) == ROW_GROUP:
                write(writer)

    with write_atomically(path, "wb") as stream, parquet.ParquetWriter(stream, schema) as writer:
        yield add
        if waiting:
            write(writer)


def _plain_type(hint: Any) -> type:
    """Find the type of a column: float of ``float | None``, str of a Literal of strings."""
    if get_origin(hint) in (Union, UnionType):
        hint = next(part for part in get_args(hint) if part is not type(None))
    if get_args(hint):
        return type(get_args(hint)[0])
    return hint if isinstance(hint, type) else str
