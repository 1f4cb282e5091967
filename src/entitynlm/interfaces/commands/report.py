"""``entitynlm report``: one page about one text, for the eye."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from entitynlm.errors import DataError
from entitynlm.files import write_atomically
from entitynlm.interfaces.commands.surprisal import follow_words, parse_base, summarise
from entitynlm.interfaces.commands.train import prepare_torch
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.inputs import DEFAULT_MODEL, ModelOption, name_of, read_inputs
from entitynlm.interfaces.options import (
    DeviceOption,
    FormatOption,
    JsonOption,
    QuietOption,
    SeedOption,
    ThreadsOption,
)

if TYPE_CHECKING:
    from entitynlm.interfaces.report.contents import Report
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document


def report(
    file: Annotated[str, typer.Argument(help="A text in any readable format; '-': standard input.")] = "-",
    out: Annotated[Path, typer.Option("--out", "-o", help="The page.")] = Path("report.html"),
    model: ModelOption = DEFAULT_MODEL,
    title: Annotated[
        str | None, typer.Option("--title", help="The page's title; default: the file's name.")
    ] = None,
    document: Annotated[
        str | None,
        typer.Option("--document", help="Of a file with several documents, this one; default: the first."),
    ] = None,
    mentions: Annotated[
        str, typer.Option("--mentions", help="given, sampled or auto, as for entitynlm surprisal.")
    ] = "auto",
    samples: Annotated[int, typer.Option("--samples", min=1, help="Particles per repeat.")] = 50,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Independent estimates.")] = 4,
    base: Annotated[str, typer.Option("--base", help="Unit: 2 or bits, e or nats, 10.")] = "2",
    format: FormatOption = None,
    seed: SeedOption = 0,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """One self-contained page: the text with entities in colours and surprisal as shading, timeline, network, movements.

    The page needs nothing but a browser: no network, no other file. Point at
    a word for its numbers, click a name to follow it through the text.

    Examples:

      entitynlm report story.txt --out story.html
      entitynlm report chapter.conllu --title "Chapter 1" --mentions given
    """
    from entitynlm.interfaces.api import EntityNLM
    from entitynlm.interfaces.report.page import write_page

    unit = parse_base(base)
    terminal = Terminal(quiet=quiet, json_path=json_path)
    found = choose_document(file, document, format, terminal)
    prepare_torch(device, threads)
    pretrained = EntityNLM.from_pretrained(model, device=device).pretrained
    made = measure_report(
        pretrained,
        found,
        terminal,
        mentions=cast(Any, mentions),
        samples=samples,
        repeats=repeats,
        seed=seed,
        base=unit,
    )
    page = write_page(made, title=title or name_of(file), model=Path(model).name)
    with write_atomically(out) as stream:
        stream.write(page)
    terminal.print(f"wrote {print_path(out)} ({len(page) / 1e6:.1f} MB): open it in a browser", markup=False)
    figures = summarise(file, made.tables)
    terminal.write_json({"task": "report", "model": model, "out": str(out), "seed": seed, **figures})


def choose_document(file: str, wanted: str | None, format: str | None, terminal: Terminal) -> Document:
    """The document to report on."""
    names = []
    for _, document in read_inputs([file], terminal, format=format):
        if wanted is None or document.id == wanted:
            return document
        names.append(document.id)
    if names:
        raise DataError(f"there is no document {wanted!r} in it", path=file, expected=", ".join(names[:10]))
    raise DataError("there is no word to report on", path="standard input" if file == "-" else file)


def measure_report(pretrained: Pretrained, document: Document, terminal: Terminal, **options: Any) -> Report:
    """Surprisal and all that is made from it, with progress."""
    from entitynlm.interfaces.report.contents import make_report
    from entitynlm.lm.surprisal import measure_surprisal

    with follow_words(terminal, document.id) as on_words:
        tables = measure_surprisal(pretrained, document, on_words=on_words, **options)
    return make_report(pretrained, tables)
