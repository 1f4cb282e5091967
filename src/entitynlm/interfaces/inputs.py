"""What people name on the command line, as documents: many files, patterns, standard input."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from entitynlm.errors import DataError
from entitynlm.files import STANDARD
from entitynlm.interfaces.console import Terminal

if TYPE_CHECKING:
    from entitynlm.text.document import Document
    from entitynlm.text.formats.base import Oddity

FilesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE", help="Texts in any readable format; patterns in quotes; '-': standard input."
    ),
]
ModelOption = Annotated[
    str, typer.Option("--model", "-m", help="A model's folder, or the name of one that the package carries.")
]
DEFAULT_MODEL = "entitynlm-en"


def expand_files(named: Sequence[str] | None) -> list[str]:
    """The files that were named, patterns expanded; nothing named is standard input."""
    found: list[str] = []
    for name in named or [STANDARD]:
        if name == STANDARD or Path(name).exists() or not glob.has_magic(name):
            found.append(name)
            continue
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 (absolute patterns, too)
        if not matches:
            raise DataError("no file is called like this", path=name, hint="Check the pattern")
        found += [match for match in matches if Path(match).is_file()]
    return list(dict.fromkeys(found))


def read_inputs(
    files: Sequence[str], terminal: Terminal, *, format: str | None = None
) -> Iterator[tuple[str, Document]]:
    """The documents of all files, one at a time, with the file each is from; oddities are remarked upon."""
    from entitynlm.text.formats.registry import read_documents

    def remark(oddity: Oddity) -> None:
        terminal.remark(f"remark: {oddity}", markup=False)

    for file in files:
        for document in read_documents(file, format, on_oddity=remark):
            yield file, document


def name_of(file: str) -> str:
    """What outputs made from a file are called after."""
    from entitynlm.text.formats.base import ENDINGS

    name = Path(file).name
    for ending in ENDINGS:
        if name.endswith(ending) and name != ending:
            name = name[: -len(ending)]
    return "text" if file == STANDARD else name
