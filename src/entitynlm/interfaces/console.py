"""The terminal: figures on standard output, everything else (progress, remarks) on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from entitynlm.files import STANDARD, write_atomically

Item = TypeVar("Item")


class Terminal:
    """Where a verb prints. One instance per run, configured by ``--quiet``, ``--json`` and ``--colour``."""

    def __init__(
        self, *, quiet: bool = False, json_path: str | None = None, colour: bool | None = None
    ) -> None:
        self.quiet = quiet
        self.json_path = json_path
        self.out = Console(
            file=sys.stdout,
            quiet=json_path == STANDARD,
            highlight=False,
            force_terminal=colour,
            no_color=None if colour is None else not colour,
        )
        self.err = Console(file=sys.stderr, stderr=True, quiet=quiet, highlight=False)

    def print(self, *things: Any, **options: Any) -> None:
        """For people, on standard output; silent when ``--json -`` claims that for itself."""
        self.out.print(*things, **_keep_lines(things, options))

    def remark(self, *things: Any, **options: Any) -> None:
        """A word on what is going on, on standard error; silent with ``--quiet``."""
        self.err.print(*things, **_keep_lines(things, options))

    def write_json(self, figures: Any) -> None:
        """The figures as JSON where ``--json`` asked for them."""
        if self.json_path is None:
            return
        text = json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False)
        with write_atomically(self.json_path) as stream:
            stream.write(text + "\n")

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """A progress display on standard error that vanishes when it is not a terminal or with ``--quiet``."""
        with Progress(
            TextColumn("[progress.description]{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=self.err,
            transient=True,
            disable=self.quiet or not self.err.is_terminal,
        ) as progress:
            yield progress

    def track(self, items: Iterable[Item], description: str, total: int | None = None) -> Iterator[Item]:
        """Go through ``items`` with a progress bar."""
        with self.progress() as progress:
            size = len(items) if total is None and isinstance(items, Sized) else total
            task = progress.add_task(description, total=size, note="")
            for item in items:
                yield item
                progress.advance(task)


def print_path(path: str | Path) -> str:
    """A path as people should see it: relative to here where that is shorter."""
    path = Path(path)
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _keep_lines(things: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """A path must be fit to be copied: lines of plain text are broken by the terminal, if at all, and not by us."""
    return {"soft_wrap": all(isinstance(thing, str) for thing in things), **options}
