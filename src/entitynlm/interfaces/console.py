"""The terminal: figures on standard output, progress and remarks on standard error."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sized
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from entitynlm.cache import cache_folder
from entitynlm.errors import ConfigError
from entitynlm.files import STANDARD, make_printable, write_text
from entitynlm.interfaces.options import Force, Json, Quiet
from entitynlm.model.language_models import strip_prefix
from entitynlm.model.packaged import find_model, read_language_model
from entitynlm.progress import Progress

if TYPE_CHECKING:  # rich takes longer to import than most wrong calls take to be answered
    from rich.console import Console
    from rich.progress import Progress as Bars

    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document
    from entitynlm.text.formats.base import Oddity


@dataclass
class Terminal(Progress):
    """Where a verb prints and shows its progress (``entitynlm.progress.Progress``), by its options."""

    json_path: Json = None
    force: Force = False
    quiet: Quiet = False

    def __post_init__(self) -> None:
        self.stop_asked = False  # answered at the next step of the progress
        self._tasks: dict[str, Any] = {}
        self._doubts = self.oddities = 0

    @cached_property
    def out(self) -> Console:
        from rich.console import Console

        return Console(file=io.StringIO() if self.json_path == STANDARD else sys.stdout, highlight=False)

    @cached_property
    def err(self) -> Console:
        from rich.console import Console

        return Console(file=sys.stderr, stderr=True, quiet=self.quiet, highlight=False)

    @cached_property
    def _bars(self) -> Bars:
        from rich import progress as bars

        return bars.Progress(
            bars.TextColumn("[progress.description]{task.description}"),
            bars.BarColumn(),
            bars.MofNCompleteColumn(),
            bars.TimeElapsedColumn(),
            bars.TimeRemainingColumn(),
            bars.TextColumn("{task.fields[note]}"),
            console=self.err,
            transient=True,
            disable=self.quiet or not self.err.is_terminal,
        )

    def print(self, *things: Any, **options: Any) -> None:
        """Print for people, on standard output; nothing when ``--json -`` has claimed it."""
        _print(self.out, things, options)

    def remark(self, *things: Any, **options: Any) -> None:
        """Print a remark on standard error; nothing with ``--quiet``."""
        _print(self.err, things, options)

    def check_standard(self, out: str) -> None:
        """Refuse to write to standard output where ``--json -`` has claimed it."""
        if out == self.json_path == STANDARD:
            raise ConfigError("--json - and --out - both want standard output; give one of them a file")

    def write_json(self, figures: Any) -> None:
        """Write the figures as JSON where ``--json`` asked for them."""
        if self.json_path is not None:
            text = json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False)
            write_text(self.json_path, text + "\n")

    def load_model(
        self, path: str | Path, device: str = "cpu", *, start_piece: str | None = None
    ) -> Pretrained:
        """Load a model, and print its name on standard error."""
        from entitynlm.model.loading import load_model

        self.unpack_for(path)
        pretrained = load_model(path, device=device, start_piece=start_piece)
        self.remark(f"model: {print_path(path)}", markup=False)
        for remark in pretrained.remarks:
            self.remark(f"remark: {remark}", markup=False)
        return pretrained

    def unpack_for(self, model: str | Path) -> None:
        """Unpack the language model that a model is trained on, if there is one."""
        own = read_language_model(find_model(model)) if strip_prefix(model) is None else None
        self.unpack(own["model"] if own else strip_prefix(model))

    def unpack(self, language_model: str | None) -> None:
        """Unpack a language model before its first use, which takes about a minute, with a message."""
        if language_model is None:
            return
        from entitynlm.model.backbones.huggingface.weights import find_language_model, must_be_unpacked

        if must_be_unpacked(language_model):
            told = f"unpacking the language model {language_model} into {cache_folder()}"
            self.remark(f"{told}: this is done once, and takes about a minute", markup=False)
            self.start(f"unpacking {language_model}")
            find_language_model(language_model)
            self.finish(f"unpacking {language_model}")

    def doubt(self, document: Document, pretrained: Pretrained) -> None:
        """Warn of texts that are unlike the model's training texts; of many, name the first few."""
        from entitynlm.model.encoding.suitability import find_doubt

        if (told := find_doubt(document, pretrained.encoder)) is not None:
            self._doubts += 1
            more = "; no more is said about other texts of this kind" if self._doubts == MOST_DOUBTS else ""
            if self._doubts <= MOST_DOUBTS:
                self.remark(f"warning: {told}{more}", markup=False)

    def remark_oddity(self, oddity: Oddity) -> None:
        """Remark on oddities of a file that was read nevertheless; of many, report the first ones."""
        self.oddities += 1
        more = "; no more is said about others" if self.oddities == MOST_ODDITIES else ""
        if self.oddities <= MOST_ODDITIES:
            self.remark(f"remark: {oddity}{more}", markup=False)

    def start(self, task: str, total: int | None = None) -> None:
        self.finish(task)
        self._bars.start()
        self._tasks[task] = self._bars.add_task(task, total=total, note="")

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self._bars.update(self._tasks[task], advance=amount, note=note)
        if self.stop_asked:
            raise KeyboardInterrupt

    def finish(self, task: str) -> None:
        if task in self._tasks:
            self._bars.remove_task(self._tasks.pop(task))
            if not self._tasks:
                self._bars.stop()

    def message(self, text: str) -> None:
        self.remark(text, markup=False)

    def close(self) -> None:
        """Finish the progress bars that an error has interrupted."""
        for task in list(self._tasks):
            self.finish(task)


MOST_DOUBTS, MOST_ODDITIES = 3, 100


def count(things: int | Sized, one: str, many: str | None = None) -> str:
    """Count things with the right plural: 1 text, 2 texts."""
    number = things if isinstance(things, int) else len(things)
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def print_path(path: str | Path) -> str:
    """Shorten a path for people: relative to the working folder where it is below that."""
    here = Path.cwd()
    return str(Path(path).relative_to(here) if Path(path).is_relative_to(here) else path)


def _print(console: Console, things: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Print without signs that a terminal obeys; lines of plain text are not broken, so that a printed path can be copied."""
    shown = [make_printable(thing) if isinstance(thing, str) else thing for thing in things]
    console.print(*shown, **{"soft_wrap": all(isinstance(thing, str) for thing in things), **options})
