"""Write two tables about every text, such as those of tokens and of mentions, to their files."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entitynlm.files import STANDARD
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.inputs import is_folder, name_outputs
from entitynlm.row_files import Kind, open_rows, write_rows


@dataclass(frozen=True)
class TablePair:
    """The two tables of a verb; functions are asked late, because their modules may import torch."""

    names: tuple[str, str]
    get_types: Callable[[], tuple[type, type]]  # the dataclasses of the rows
    list_rows: Callable[[Any], tuple[Iterable[Any], Iterable[Any]]]  # the rows of one document

    def name_files(self, paths: list[str], out: str, kind: Kind) -> dict[str, tuple[Path, Path]]:
        """Name the tables of each text: in a folder its own ones, with one output file the same two for all."""
        if out == STANDARD:
            return {}
        first, second = self.names
        if not is_folder(out):
            return dict.fromkeys(paths, (Path(out), Path(out).with_suffix(f".{second}{Path(out).suffix}")))
        starts = {path: Path(out, name) for path, name in name_outputs(paths).items()}
        return {p: (Path(f"{s}.{first}.{kind}"), Path(f"{s}.{second}.{kind}")) for p, s in starts.items()}

    def write(self, results: Iterable[Any], first: Path, second: Path, *, kind: Kind) -> None:
        """Write both tables while the results come."""
        types = self.get_types()
        with open_rows(types[0], first, kind) as add_first, open_rows(types[1], second, kind) as add_second:
            for result in results:
                own, beside = self.list_rows(result)
                add_first(own)
                add_second(beside)

    def write_all(
        self,
        results: Iterator[tuple[str, Any]],
        paths: list[str],
        out: str,
        kind: Kind,
        rows: str,
        terminal: Terminal,
    ) -> None:
        """Write one table (``rows``) to standard output, or both as files; results come with the text they are from."""
        if out == STANDARD:
            number = self.names.index(rows)
            chosen = (row for _, result in results for row in self.list_rows(result)[number])
            write_rows(chosen, self.get_types()[number], out, kind)
            return
        targets = self.name_files(paths, out, kind)
        by_files = itertools.groupby(results, key=lambda pair: targets[pair[0]])
        # texts without a word have tables without a row
        empty = ((files, iter(())) for files in targets.values())
        written: set[tuple[Path, Path]] = set()
        for files, found in itertools.chain(by_files, empty):
            if files not in written:
                self.write((result for _, result in found), *files, kind=kind)
                terminal.remark(f"wrote {print_path(files[0])} and {print_path(files[1])}", markup=False)
                written.add(files)
