"""``entitynlm plot surprisal``, ``timeline`` and ``calibration``: figures about texts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from entitynlm.errors import ConfigError
from entitynlm.interfaces.commands.report import choose_document, measure_report
from entitynlm.interfaces.commands.surprisal import parse_base, summarise
from entitynlm.interfaces.commands.train import prepare_torch
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.inputs import DEFAULT_MODEL, ModelOption
from entitynlm.interfaces.options import FormatOption, JsonOption, QuietOption, SeedOption, ThreadsOption

if TYPE_CHECKING:
    from entitynlm.interfaces.report.contents import Report

FileArgument = Annotated[str, typer.Argument(help="A text in any readable format; '-': standard input.")]
DocumentOption = Annotated[
    str | None,
    typer.Option("--document", help="Of a file with several documents, this one; default: the first."),
]
MentionsOption = Annotated[
    str, typer.Option("--mentions", help="given, sampled or auto, as for entitynlm surprisal.")
]
SamplesOption = Annotated[int, typer.Option("--samples", min=1, help="Particles per repeat.")]


def out_option(default: str) -> Any:
    return typer.Option(default, "--out", "-o", help="The figure's file: .png, .svg or .pdf.")


def surprisal(
    file: FileArgument = "-",
    out: Path = out_option("surprisal.png"),
    model: ModelOption = DEFAULT_MODEL,
    document: DocumentOption = None,
    mentions: MentionsOption = "auto",
    samples: SamplesOption = 50,
    base: Annotated[str, typer.Option("--base", help="Unit: 2 or bits, e or nats, 10.")] = "2",
    smooth: Annotated[
        int | None,
        typer.Option("--smooth", min=1, help="Words to average over; default: none for a text that fits."),
    ] = None,
    format: FormatOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Surprisal along a text, with and without entities.

    Example: entitynlm plot surprisal story.txt --out curve.svg
    """
    from entitynlm.interfaces.figures.drawing import save_figure
    from entitynlm.interfaces.figures.text import draw_surprisal

    terminal = Terminal(quiet=quiet, json_path=json_path)
    report = _measure(file, document, format, terminal, model, mentions, samples, base, seed, threads)
    if not report.tables.words:
        raise ConfigError("there is no word in this text that the model reads")
    save_figure(draw_surprisal(report.tables, unit=report.unit, smooth=smooth), out)
    _finish(terminal, "plot surprisal", file, out, report)


def timeline(
    file: FileArgument = "-",
    out: Path = out_option("timeline.png"),
    model: ModelOption = DEFAULT_MODEL,
    document: DocumentOption = None,
    mentions: MentionsOption = "auto",
    entities: Annotated[
        int, typer.Option("--entities", min=1, help="How many, the frequent ones first.")
    ] = 15,
    samples: SamplesOption = 5,
    format: FormatOption = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Who is mentioned when: one line per entity.

    Example: entitynlm plot timeline chapter.txt --entities 10 --out timeline.pdf
    """
    from entitynlm.interfaces.figures.drawing import save_figure
    from entitynlm.interfaces.figures.text import draw_entities

    terminal = Terminal(quiet=quiet, json_path=json_path)
    report = _measure(file, document, format, terminal, model, mentions, samples, "2", seed, threads)
    if not report.characters:
        raise ConfigError("no entity was found in this text, so there is no timeline to draw")
    save_figure(draw_entities(report, most=entities), out)
    _finish(terminal, "plot timeline", file, out, report)


def calibration(
    corpus: Annotated[Path, typer.Argument(help="Annotated documents: a file or a corpus folder.")],
    out: Path = out_option("calibration.png"),
    model: ModelOption = DEFAULT_MODEL,
    split: Annotated[str | None, typer.Option("--split", help="Of a corpus folder, this split.")] = None,
    bins: Annotated[int, typer.Option("--bins", min=2, help="How many bins of probability.")] = 10,
    format: FormatOption = None,
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Whether probabilities of referents mean what they say: predicted against observed.

    Example: entitynlm plot calibration ../shared/data/litbank --split dev --out calibration.svg
    """
    from entitynlm.interfaces.api import EntityNLM
    from entitynlm.interfaces.figures.drawing import save_figure
    from entitynlm.interfaces.figures.text import draw_calibration
    from entitynlm.prediction.calibration import measure_calibration
    from entitynlm.text.corpora import open_corpus

    terminal = Terminal(quiet=quiet, json_path=json_path)
    prepare_torch("cpu", threads)
    pretrained = EntityNLM.from_pretrained(model).pretrained
    opened = open_corpus(corpus, format=format)
    found = measure_calibration(pretrained, terminal.track(opened.documents(split), opened.name), bins=bins)
    name = f"{opened.name} {split}" if split else opened.name
    save_figure(draw_calibration(found, name), out)
    terminal.print(
        f"{found.mentions:,} mentions in {found.documents:,} documents: {100 * found.accuracy:.1f} % of referents right, "
        f"{found.surprisal:.2f} bits, calibration error {100 * found.error:.1f} points",
        markup=False,
    )
    terminal.print(f"wrote {print_path(out)}", markup=False)
    terminal.write_json(
        {"task": "plot calibration", "model": model, "corpus": str(corpus), **found.to_dict()}
    )


def _measure(
    file: str,
    document: str | None,
    format: str | None,
    terminal: Terminal,
    model: str,
    mentions: str,
    samples: int,
    base: str,
    seed: int,
    threads: int | None,
) -> Report:
    from entitynlm.interfaces.api import EntityNLM

    unit = parse_base(base)
    found = choose_document(file, document, format, terminal)
    prepare_torch("cpu", threads)
    pretrained = EntityNLM.from_pretrained(model).pretrained
    options = {"mentions": cast(Any, mentions), "samples": samples, "seed": seed, "base": unit}
    return measure_report(pretrained, found, terminal, **options)


def _finish(terminal: Terminal, task: str, file: str, out: Path, report: Report) -> None:
    terminal.print(f"wrote {print_path(out)}", markup=False)
    terminal.write_json({"task": task, "out": str(out), **summarise(file, report.tables)})
