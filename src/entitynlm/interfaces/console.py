"""The terminal: figures on standard output, everything else (progress, remarks) on standard error."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from entitynlm.files import STANDARD, write_atomically
from entitynlm.interfaces.options import Colour, Json, Quiet

if TYPE_CHECKING:  # rich takes longer to import than most wrong calls take to be answered
    from rich.console import Console
    from rich.progress import Progress

    from entitynlm.model.pretrained import Pretrained

Item = TypeVar("Item")


@dataclass
class Terminal:
    """Where a verb prints, as its options say: one instance per run."""

    json_path: Json = None
    quiet: Quiet = False
    colour: Colour = None

    @cached_property
    def out(self) -> Console:
        from rich.console import Console

        return Console(
            file=sys.stdout,
            quiet=self.json_path == STANDARD,
            highlight=False,
            force_terminal=self.colour,
            no_color=None if self.colour is None else not self.colour,
        )

    @cached_property
    def err(self) -> Console:
        from rich.console import Console

        return Console(file=sys.stderr, stderr=True, quiet=self.quiet, highlight=False)

    def print(self, *things: Any, **options: Any) -> None:
        """Print for people, on standard output; nothing when ``--json -`` has claimed it."""
        self.out.print(*things, **_keep_lines(things, options))

    def remark(self, *things: Any, **options: Any) -> None:
        """Print a remark on standard error; nothing with ``--quiet``."""
        self.err.print(*things, **_keep_lines(things, options))

    def load_model(self, path: str | Path, device: str = "cpu") -> Pretrained:
        """A model, with a remark where there is something to say about its folder."""
        from entitynlm.model.pretrained import load_pretrained

        pretrained = load_pretrained(path, device=device)
        for remark in pretrained.remarks:
            self.remark(f"remark: {remark}", markup=False)
        return pretrained

    def write_json(self, figures: Any) -> None:
        """Write the figures as JSON where ``--json`` asked for them."""
        if self.json_path is None:
            return
        text = json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False)
        with write_atomically(self.json_path) as stream:
            stream.write(text + "\n")

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """Progress bars on standard error, absent when it is not a terminal or with ``--quiet``."""
        from rich import progress as bars

        with bars.Progress(
            bars.TextColumn("[progress.description]{task.description}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TimeElapsedColumn(),
            bars.TimeRemainingColumn(),
            bars.TextColumn("{task.fields[note]}"),
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


class ProgressBars:
    """Progress in the terminal: a bar for each task, messages as remarks (and, with the time, at the end of a log file).

    :param should_stop: asked at every step; a stop is an interrupt.
    """

    def __init__(
        self,
        bars: Progress,
        terminal: Terminal,
        *,
        log: Path | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._bars, self._terminal, self._log, self._should_stop = bars, terminal, log, should_stop
        self._tasks: dict[str, Any] = {}

    def start(self, task: str, total: int | None = None) -> None:
        self.finish(task)
        self._tasks[task] = self._bars.add_task(task, total=total, note="")

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self._bars.update(self._tasks[task], advance=amount, note=note)
        if self._should_stop():
            raise KeyboardInterrupt

    def finish(self, task: str) -> None:
        if task in self._tasks:
            self._bars.remove_task(self._tasks.pop(task))

    def message(self, text: str) -> None:
        self._terminal.remark(text, markup=False)
        if self._log is not None:
            self._log.parent.mkdir(parents=True, exist_ok=True)
            with self._log.open("a", encoding="utf-8") as stream:
                stream.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")


def print_path(path: str | Path) -> str:
    """A path as people should see it: relative to here where that is shorter."""
    path = Path(path)
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def _keep_lines(things: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]:
    """Don't break lines of plain text, so that a printed path can be copied."""
    return {"soft_wrap": all(isinstance(thing, str) for thing in things), **options}
