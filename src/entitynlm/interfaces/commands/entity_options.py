"""What ``evaluate entity`` and ``reproduce entity`` share: reading stories and slots, and the table for people."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE
from rich.progress import Progress, TaskID
from rich.table import Table

from entitynlm.interfaces.console import Terminal

if TYPE_CHECKING:
    from entitynlm.prediction.evaluation import PredictionRow
    from entitynlm.prediction.slots import SlottedStory
    from entitynlm.text.corpora.corpus import Corpus

RowsOption = Annotated[
    str | None,
    typer.Option(
        "--rows",
        help="Some of always-new,shallow,modi,entitynlm,ours,ensemble,human; default: all that can be made.",
    ),
]
OursOption = Annotated[
    Path | None,
    typer.Option(
        "--ours-config",
        help="A TOML file for the row ours; default: the settings of configs/ours-inscript.toml.",
    ),
]
CorpusOption = Annotated[
    Path, typer.Option("--corpus", help="A corpus folder with stories, such as InScript's.")
]


def read_slots(corpus: Corpus, split: str) -> list[SlottedStory]:
    """The slots of a split, people's where the corpus has their guesses."""
    from entitynlm.prediction.slots import GUESSES, collect_slots, read_guesses

    path = corpus.path / GUESSES
    guesses = read_guesses(path) if path.is_file() else None
    return collect_slots(list(corpus.documents(split)), guesses)


def follow_steps(progress: Progress) -> Callable[[str, int, int], None]:
    """A progress bar per step."""
    tasks: dict[str, TaskID] = {}

    def show(name: str, done: int, total: int) -> None:
        if name not in tasks:
            tasks[name] = progress.add_task(name, total=total, note="")
        progress.update(tasks[name], completed=done)

    return show


def draw_rows(rows: Sequence[PredictionRow], title: str) -> Table:
    """Accuracy with its interval, the paper's beside it, and agreement with people where there are any."""
    from entitynlm.prediction.agreement import measure_agreement
    from entitynlm.prediction.evaluation import PAPER

    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    human = any(answer.slot.guesses for answer in rows[0].answers)
    names = ["accuracy", "interval", "paper", "new", "old"]
    names += ["people", "corr.", "JSD"] if human else []
    table.add_column("row", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        figures = row.to_dict()["breakdown"]["newness"]
        cells = [f"{row.accuracy:.2f}", f"{row.interval.low:.1f}–{row.interval.high:.1f}"]
        cells.append(f"{PAPER[row.name]:.2f}" if row.name in PAPER else "")
        cells += [f"{figures[kind]['accuracy']:.1f}" if kind in figures else "" for kind in ("new", "old")]
        if human:
            found = measure_agreement(row.answers)
            correlation = "" if found.correlation is None else f"{found.correlation:.3f}"
            cells += [f"{found.accuracy:.2f}", correlation, f"{found.divergence:.3f}"]
        table.add_row(row.name, *cells)
    return table


def print_rows(rows: Sequence[PredictionRow], title: str, terminal: Terminal) -> None:
    """The table, what its columns mean, and the judgements below it."""
    from entitynlm.prediction.evaluation import compare_rows

    terminal.print(draw_rows(rows, title))
    terminal.print(
        "accuracy in percent with its 95 % interval (stories drawn), on new and on old entities", end=""
    )
    human = any(answer.slot.guesses for answer in rows[0].answers)
    terminal.print("; people: how often the choice is their majority" if human else "")
    for first, second, found in compare_rows(rows):
        terminal.print(
            f"{second} against {first}: {found.difference:+.2f} points "
            f"(95 % interval {found.interval.low:+.2f} … {found.interval.high:+.2f}), "
            f"p = {found.permutation:.4f} by stories, {found.t_test:.2g} by the paired t-test over slots"
        )
