"""``entitynlm report``: one page about one text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from entitynlm.files import write_atomically
from entitynlm.interfaces import options
from entitynlm.interfaces.commands.surprisal import BASES, summarise
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.inputs import name_of, read_one

if TYPE_CHECKING:
    from entitynlm.interfaces.report.contents import Report
    from entitynlm.model.pretrained import Pretrained
    from entitynlm.text.document import Document


def report(
    *,
    file: options.File = "-",
    out: options.OutputPath = Path("report.html"),
    model: options.ModelOptions,
    title: str | None = None,
    document: options.DocumentId = None,
    mentions: options.Mentions = "auto",
    samples: options.Samples = 50,
    repeats: options.Repeats = 4,
    base: options.Base = "2",
    format: options.Format = None,
    seed: options.Seed = 0,
    terminal: Terminal,
) -> None:
    """Make one self-contained page: the text with entities in colours and surprisal as shading, and drawings.

    The drawings are a timeline of mentions, a network of entities that are
    mentioned together, and the movement of entity vectors. The page needs
    nothing but a browser: no network, no other file. Point at a word for its
    numbers, click a name to follow it through the text.

    :param out: The page's file.
    :param title: Title of the page; default: the file's name.
    """
    found = read_one(file, terminal, format=format, wanted=document)
    pretrained = model.load(terminal)
    from entitynlm.interfaces.report.page import write_page

    settings = {"mentions": mentions, "samples": samples, "repeats": repeats, "base": BASES[base]}
    made = measure_report(pretrained, found, terminal, seed=seed, **settings)
    page = write_page(made, title=title or name_of(file), model=Path(model.model).name)
    with write_atomically(out) as stream:
        stream.write(page)
    terminal.print(f"wrote {print_path(out)} ({len(page) / 1e6:.1f} MB): open it in a browser", markup=False)
    figures = summarise(file, made.tables)
    terminal.write_json({"task": "report", "model": model.model, "out": str(out), "seed": seed, **figures})


def measure_report(pretrained: Pretrained, document: Document, terminal: Terminal, **settings: Any) -> Report:
    """Surprisal and all that is made from it, with progress."""
    from entitynlm.interfaces.report.contents import make_report
    from entitynlm.lm.surprisal import measure_surprisal

    return make_report(pretrained, measure_surprisal(pretrained, document, progress=terminal, **settings))
