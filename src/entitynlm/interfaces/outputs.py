"""Write the results for texts to files of each text, or all to one place."""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from entitynlm.files import STANDARD, check_outputs
from entitynlm.interfaces.console import Terminal, count, print_path
from entitynlm.interfaces.inputs import distinguish, is_folder, name_of
from entitynlm.row_files import Kind, open_rows

Targets = Mapping[str, tuple[Path, ...]]  # the files of each text; none for standard output
Tables = Mapping[str, tuple[type, Callable[[Any], Iterable[Any]]]]  # row types, and the rows of a text


def name_files(paths: Sequence[str], out: str, endings: Sequence[str], terminal: Terminal) -> Targets:
    """Name the files of each text and check that they may be written: own files in a folder, or one output file for all."""
    terminal.check_standard(out)
    if out == STANDARD:
        return {}
    beside = (Path(out).with_suffix(f"{Path(ending).stem}{Path(out).suffix}") for ending in endings[1:])
    targets = dict.fromkeys(paths, (Path(out), *beside))
    if is_folder(out):
        names = zip(paths, distinguish(map(name_of, paths)), strict=True)
        targets = {path: tuple(Path(out, name + ending) for ending in endings) for path, name in names}
    check_outputs(itertools.chain(*targets.values()))
    return targets


def write_files(
    results: Iterator[tuple[str, Any]], targets: Targets, write: Callable[..., object], terminal: Terminal
) -> None:
    """Write results as they come, each with its text's file.

    :param write: writes the results that go to one set of files, given their paths.
    """
    if not targets:
        write((result for _, result in results), STANDARD)
        return
    by_files = itertools.groupby(results, key=lambda pair: targets[pair[0]])
    empty = ((files, iter(())) for files in targets.values())  # of texts without a word
    written: set[tuple[Path, ...]] = set()
    for files, found in itertools.chain(by_files, empty):
        if files not in written:
            write((result for _, result in found), *files)
            written.add(files)
    shown = " and ".join(map(print_path, files))
    if len(written) > 1:
        shown = f"{count(sum(map(len, written)), 'file')} in {print_path(files[0].parent)}"
    terminal.remark(f"wrote {shown}", markup=False)


def write_tables(
    results: Iterable[Any],
    *paths: str | Path,
    list_tables: Callable[[], Tables],
    kind: Kind,
    only: str | None = None,
) -> None:
    """Write tables as the results come, a file for each, or only the table called ``only``.

    :param list_tables: called late, because row types may be defined in modules that import torch.
    """
    chosen = [table for name, table in list_tables().items() if only in (None, name)]
    with contextlib.ExitStack() as stack:
        adders = [
            stack.enter_context(open_rows(row_type, path, kind))
            for (row_type, _), path in zip(chosen, paths, strict=True)
        ]
        for result in results:
            for add, (_, list_rows) in zip(adders, chosen, strict=True):
                add(list_rows(result))
