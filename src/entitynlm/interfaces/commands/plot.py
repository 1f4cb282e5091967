"""Draw figures (PNG, SVG or PDF, by the ending of the file)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import decode_lines, open_binary
from entitynlm.interfaces import options
from entitynlm.interfaces.commands.surprisal import SurprisalOptions, summarise
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.inputs import TextOptions


def plot_training(
    *,
    model: Annotated[Path, typer.Argument(callback=options.check_exists)],
    out: options.Figure = Path("training.png"),
    terminal: Terminal,
) -> None:
    """Draw training curves: loss on training and development documents, epoch by epoch.

    Examples:

      entitynlm plot training runs/stories --out curves.svg

    :param model: A model's folder (with its log.jsonl), or such a log.
    """
    records = read_log(model)
    from entitynlm.interfaces.figures import draw_training

    finish(terminal, out, draw_training(records), {"task": "plot training", "epochs": len(records)})


def read_log(path: Path) -> list[dict[str, Any]]:
    """The records of a training log, checked."""
    path = path / "log.jsonl" if path.is_dir() else path
    with open_binary(path) as stream:
        lines = list(decode_lines(stream, str(path)))
    records = []
    for number, line in lines:
        try:
            record = json.loads(line)
            record["part"], record["epoch"], float(record["train_loss"]), float(record["dev_loss"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            where: dict[str, Any] = {"path": path, "line": number, "found": line}
            expected = "JSON with part, epoch, …"
            raise DataError("this is not a line of a training log", expected=expected, **where) from error
        records.append(record)
    if not records:
        raise DataError("the training log is empty", path=path)
    return records


def plot_surprisal(
    *,
    text: TextOptions,
    out: options.Figure = Path("surprisal.png"),
    model: options.ModelOptions,
    measuring: SurprisalOptions,
    smooth: Annotated[int | None, typer.Option(min=1)] = None,
    terminal: Terminal,
) -> None:
    """Draw surprisal along a text, with and without entities.

    Examples:

      entitynlm plot surprisal story.txt --out curve.svg

    :param smooth: Words of the moving average; default: none for a short text.
    """
    document = text.read(terminal, mentions=measuring.mentions)
    report = measuring.report(model.load(terminal), document, terminal)
    if not report.tables.words:
        raise ConfigError("there is no word in this text that the model reads")
    from entitynlm.interfaces.figures import draw_surprisal

    drawn = draw_surprisal(report.tables, unit=report.unit, smooth=smooth)
    heading = {"task": "plot surprisal", "model": model.model}
    finish(terminal, out, drawn, {**heading, **summarise(text.file, report.tables)})


def plot_timeline(
    *,
    text: TextOptions,
    out: options.Figure = Path("timeline.png"),
    model: options.ModelOptions,
    mentions: options.Mentions = "auto",
    entities: options.Count = 15,
    samples: options.Samples = 5,
    seed: options.Seed = 0,
    terminal: Terminal,
) -> None:
    """Draw the mentions of each entity along a text, one line per entity.

    Examples:

      entitynlm plot timeline chapter.txt --entities 10 --out timeline.pdf

    :param entities: Number of entities, the most frequent first.
    """
    document = text.read(terminal, mentions=mentions)
    measuring = SurprisalOptions(mentions, samples, seed=seed)
    report = measuring.report(model.load(terminal), document, terminal)
    if not report.characters:
        raise ConfigError("no entity was found in this text, so there is no timeline to draw")
    from entitynlm.interfaces.figures import draw_entities

    drawn = draw_entities(report, most=entities)
    heading = {"task": "plot timeline", "model": model.model}
    finish(terminal, out, drawn, {**heading, **summarise(text.file, report.tables)})


def finish(terminal: Terminal, out: Path, drawn: Any, figures: dict[str, Any]) -> None:
    """Write the drawing, and the figures in it as JSON where asked for."""
    from entitynlm.interfaces.figures import save_figure

    save_figure(drawn, out)
    terminal.print(f"wrote {print_path(out)}", markup=False)
    terminal.write_json({**figures, "out": str(out)})
