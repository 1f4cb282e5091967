"""``entitynlm demo``: the running example, and an annotated story with its report."""

from importlib import resources
from pathlib import Path
from typing import Any

from entitynlm.files import write_text
from entitynlm.interfaces import options
from entitynlm.interfaces.commands.surprisal import SurprisalOptions, summarise
from entitynlm.interfaces.console import Terminal, print_path

STORY, TITLE = "captain-reed.txt", "The Captain's Visitor"


def demo(
    *, model: options.ModelOptions, out: options.OutputPath = Path("report.html"), terminal: Terminal
) -> None:
    """See what the package does, on a story that it carries.

    Shows the paper's running example, annotates a short story, and writes a report about it.

    :param out: The report's file.
    """
    show_running_example(terminal)
    figures = show_story(terminal, model, out)
    terminal.print(f"\nThe report on the story is in [bold]{print_path(out)}[/bold]: open it in a browser.")
    terminal.write_json(figures)


def show_running_example(terminal: Terminal) -> None:
    """Show the paper's running example, and its sequences X, R, E, L."""
    from entitynlm.interfaces.views import show_document
    from entitynlm.text.corpora.example import RUNNING_EXAMPLE

    terminal.print(
        "[bold]The paper's running example[/bold]: each colour is an entity; below, X is the word,"
    )
    terminal.print("R whether it is in a mention, E which entity, L how many words are left\n")
    show_document(terminal, RUNNING_EXAMPLE, sequences=True)


def show_story(terminal: Terminal, model: options.ModelOptions, out: Path) -> dict[str, Any]:
    """Annotate a story, show its entities, and write the report."""
    from entitynlm.api import as_document
    from entitynlm.interfaces.views import show_document
    from entitynlm.report.page import write_page

    text = (resources.files("entitynlm") / "resources" / "demo" / STORY).read_text(encoding="utf-8")
    name = Path(model.model).name
    report = SurprisalOptions().report(model.load(terminal), as_document(text, id=TITLE), terminal)
    terminal.print(f"\n[bold]{TITLE}[/bold], a story of our own, read by {name}\n")
    show_document(terminal, report.document, entities=8)
    write_text(out, write_page(report, title=TITLE, model=name))
    return {"model": model.model, **summarise(STORY, report.tables), "report": str(out)}
