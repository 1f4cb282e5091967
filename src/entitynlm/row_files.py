"""Tables for other programs: rows that are dataclasses, as TSV or CSV.

Fields are quoted only where necessary (a quotation mark is a token, too), in the way that R, pandas and spreadsheets read by
default. None is an empty field, a truth value 1 or 0.
"""

import contextlib
import csv
import dataclasses
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from entitynlm.errors import ConfigError
from entitynlm.files import make_printable, write_atomically

Kind = Literal["tsv", "csv"]
DIGITS = 6  # decimals of written figures


def choose_kind(wanted: Kind | None, out: str) -> Kind:
    """Choose the kind of table: the one asked for, else by the ending of the output's name, else TSV."""
    ending = Path(out).suffix[1:].lower()
    known: dict[str, Kind] = {"": "tsv", "txt": "tsv", **{kind: kind for kind in get_args(Kind)}}
    folder = out.endswith(("/", "\\")) or Path(out).is_dir()
    if wanted is None and not folder and ending not in known:
        raise ConfigError(
            f"{out}: which kind of table is this? Say so with --as ({', '.join(get_args(Kind))})"
        )
    return wanted or known.get(ending, "tsv")


@contextlib.contextmanager
def open_rows(row_type: type, path: str | Path, kind: Kind) -> Iterator[Callable[[Iterable[Any]], None]]:
    """Return a function that adds rows of one dataclass to a table; the file appears when the block ends without an error.

    Rows are written as they come, so that the table may be of any length.
    """
    columns = [field.name for field in dataclasses.fields(row_type)]
    with write_atomically(path) as stream:
        writer = csv.writer(stream, delimiter="\t" if kind == "tsv" else ",", lineterminator="\n")
        writer.writerow(columns)
        yield lambda rows: writer.writerows(
            [show_cell(getattr(row, name)) for name in columns] for row in rows
        )


def write_rows(rows: Iterable[Any], row_type: type, path: str | Path, kind: Kind) -> None:
    """Write rows of one dataclass atomically; a table without rows still has its columns."""
    with open_rows(row_type, path, kind) as add:
        add(rows)


def show_cell(value: Any) -> str:
    """Write a value as text without line breaks and tabs, so that simple readers find one row per line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return f"{value:.{DIGITS}f}"
    return make_printable(" ".join(value.split())) if isinstance(value, str) else str(value)
