"""``entitynlm report``: one page about one text."""

from pathlib import Path

from entitynlm.files import STANDARD, write_text
from entitynlm.interfaces import options
from entitynlm.interfaces.commands.surprisal import SurprisalOptions, cite, summarise
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.inputs import check_mentions, name_of, read_input


def report(
    *,
    file: options.File = STANDARD,
    document: options.DocumentId = None,
    format: options.Format = None,
    out: options.OutputPath = Path("report.html"),
    model: options.ModelOptions,
    title: str | None = None,
    measuring: SurprisalOptions,
    terminal: Terminal,
) -> None:
    """Make one HTML page about the entities and the surprisal of a text.

    The page shows the text with entities in colours and surprisal as shading, and drawings.

    The drawings are a timeline of mentions, a network of entities that are mentioned together, and the movement of
    entity vectors. The page needs nothing but a browser: no network, no other file. Point at a word for its numbers,
    click a name to follow it through the text.

    Examples:

      entitynlm report story.txt --out story.html
      entitynlm report chapter.conllu --title "Chapter 1" --mentions given

    :param out: The page's file.
    :param title: Title of the page; default: the file's name.
    """
    found = read_input(file, terminal, format, document)
    if measuring.mentions == "given":
        check_mentions(found, "--mentions given", file)
    pretrained = model.load(terminal)
    made = measuring.report(pretrained, found, terminal)
    from entitynlm.report.page import write_page

    told, shown = cite(model, pretrained, measuring)
    name = Path(model.model).name  # the page may be shown to others, who need not know the folder
    measured = shown.replace(model.model, name)
    page = write_page(made, title=title or name_of(file), model=name, measured=measured)
    write_text(out, page)
    terminal.print(f"wrote {print_path(out)} ({len(page) / 1e6:.1f} MB): open it in a browser", markup=False)
    heading = {"task": "report", **told, "out": str(out)}
    counts = {"mentions": len(made.mentions), "entities": len(made.characters)}  # also those that P can't see
    terminal.write_json({**heading, **summarise(file, made.tables), **counts})
