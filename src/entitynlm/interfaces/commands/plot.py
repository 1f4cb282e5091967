"""``entitynlm plot``: figures for papers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from entitynlm.errors import DataError
from entitynlm.interfaces.commands import plot_marginal, plot_text
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import QuietOption

app = typer.Typer(help="Figures (PNG, SVG or PDF, by the file's ending).", no_args_is_help=True)
app.command("calibration")(plot_text.calibration)
app.command("marginal")(plot_marginal.marginal)
app.command("surprisal")(plot_text.surprisal)
app.command("timeline")(plot_text.timeline)

OutOption = Annotated[Path, typer.Option("--out", "-o", help="The figure's file: .png, .svg or .pdf.")]


@app.command("training")
def training(
    model: Annotated[Path, typer.Argument(help="A model's folder (with its log.jsonl), or such a log.")],
    out: OutOption = Path("training.png"),
    quiet: QuietOption = False,
) -> None:
    """Training curves: loss on training and development documents, epoch by epoch.

    Example: entitynlm plot training runs/stories --out curves.svg
    """
    from entitynlm.interfaces.figures.drawing import draw_training, save_figure

    save_figure(draw_training(read_log(model)), out)
    Terminal(quiet=quiet).print(f"wrote {out}")


def read_log(path: Path) -> list[dict[str, Any]]:
    """The records of a training log, checked."""
    path = path / "log.jsonl" if path.is_dir() else path
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the training log can't be read ({error})", path=path) from error
    records = []
    for number, line in enumerate(lines, start=1):
        try:
            record = json.loads(line)
            record["part"], record["epoch"], float(record["train_loss"]), float(record["dev_loss"])
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                "this is not a line of a training log",
                path=path,
                line=number,
                found=line,
                expected="JSON with part, epoch, …",
            ) from error
        records.append(record)
    if not records:
        raise DataError("the training log is empty", path=path)
    return records
