"""``entitynlm demo``: the running example, an annotated story with its report, and small tables from a quick training."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from entitynlm.files import write_text
from entitynlm.interfaces import options
from entitynlm.interfaces.commands.surprisal import SurprisalOptions, summarise
from entitynlm.interfaces.commands.train import follow_training
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.stories.folder import NAME
from entitynlm.stories.generator import split_stories
from entitynlm.training.settings import load_settings

STORY, TITLE = "captain-reed.txt", "The Captain's Visitor"
ENOUGH_STORIES = 100  # fewer teach nothing, so nothing is trained on them


def demo(
    *,
    documents: Annotated[int, typer.Option(min=10)] = 400,
    model: options.ModelOptions,
    out: options.OutputPath = Path("report.html"),
    training: Annotated[bool, typer.Option("--training/--no-training")] = True,
    seed: options.Seed = 1,
    terminal: Terminal,
) -> None:
    """See what the package does, on a text and a corpus that it carries.

    Annotates a short story, writes a report about it, then trains a small model on generated stories and prints small
    tables.

    Takes about two minutes and needs no download; --no-training takes a few seconds.

    :param documents: Number of stories to generate and train on.
    :param out: The report's file.
    :param training: With or without the quick training.
    """
    show_running_example(terminal)
    figures: dict[str, Any] = {"story": show_story(terminal, model, out), "tables": None}
    if training and documents >= ENOUGH_STORIES:
        figures["tables"] = show_training(terminal, documents, seed)
    elif training:
        terminal.remark(f"nothing is trained on fewer than {ENOUGH_STORIES} stories (--documents)")
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
    terminal.print(f"\nwrote {print_path(out)}", markup=False)
    return {"model": model.model, **summarise(STORY, report.tables), "report": str(out)}


def show_training(terminal: Terminal, documents: int, seed: int) -> list[dict[str, Any]]:
    """Train a small model in a minute, and make small versions of the paper's three tables."""
    from entitynlm.experiments.paper import load_packaged_settings
    from entitynlm.experiments.small_tables import NEEDED_PARTS, Stories, measure_small_tables
    from entitynlm.interfaces.result_tables import print_table
    from entitynlm.training.recipe import train_pretrained

    splits = split_stories(documents, seed=seed)
    stories, settings = Stories(NAME, *splits.values()), load_settings(None, load_packaged_settings("quick"))
    terminal.print(
        f"\n[bold]A quick training[/bold] on {len(stories.train)} generated stories, then small versions of the paper's "
        "three tables (one seed, a small model: the order of things, not results)\n"
    )
    with follow_training(terminal) as progress:
        documents_of = stories.train, stories.development
        pretrained = train_pretrained(
            *documents_of, settings, parts=NEEDED_PARTS, seed=seed, progress=progress
        )
    if pretrained is None:
        terminal.remark("stopped")
        raise typer.Exit(130)
    tables = measure_small_tables(pretrained, stories, seed=seed, say=terminal.remark)
    for table in tables.values():
        print_table(table, terminal)
    return [{"task": task, **table.to_dict()} for task, table in tables.items()]
