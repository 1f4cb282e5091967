"""``entitynlm demo``: what the package does, on the story, the model and the corpus that it carries."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.files import write_text
from entitynlm.interfaces import options
from entitynlm.interfaces.commands.surprisal import SurprisalOptions, summarise
from entitynlm.interfaces.commands.train import follow_training
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.model.packaged import ON_SMOLLM2, SMALL
from entitynlm.stories.folder import NAME
from entitynlm.stories.generator import generate_stories, split_stories
from entitynlm.text.corpora.statistics import measure_documents
from entitynlm.training.settings import load_settings

if TYPE_CHECKING:
    from rich.table import Table

    from entitynlm.report.contents import Report

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

    Annotates a short story with the packaged models, writes a report about it, then trains a small model and prints
    small tables.

    Takes about two minutes and needs no download; --no-training takes a few seconds.

    :param documents: Number of stories to generate and train on.
    :param out: The report's file.
    :param training: With or without the quick training.
    """
    show_running_example(terminal)
    story = show_story(terminal, model, out)
    corpus = show_stories(terminal, documents, seed)
    figures: dict[str, Any] = {"story": story, "corpus": corpus, "tables": None}
    if training and documents >= ENOUGH_STORIES:
        figures["tables"] = show_training(terminal, documents, seed)
    elif training:
        terminal.remark(f"nothing is trained on fewer than {ENOUGH_STORIES} stories (--documents)")
    terminal.print(f"\nThe report on the story is in [bold]{print_path(out)}[/bold]: open it in a browser.")
    terminal.write_json(figures)


def show_running_example(terminal: Terminal) -> None:
    """The paper's running example, and its sequences X, R, E, L."""
    from entitynlm.interfaces.views import show_document
    from entitynlm.text.corpora.example import RUNNING_EXAMPLE

    terminal.print(
        "[bold]The paper's running example[/bold]: each colour is an entity; below, X is the word,"
    )
    terminal.print("R whether it is in a mention, E which entity, L how many words are left\n")
    show_document(terminal, RUNNING_EXAMPLE, sequences=True)


def show_story(terminal: Terminal, model: options.ModelOptions, out: Path) -> dict[str, Any]:
    """The model on a story: its entities, its most surprising referents, and the report.

    Before the model on a language model, the small one reads the same story, so that the difference is seen.
    """
    from entitynlm.api import as_document
    from entitynlm.interfaces.views import show_document
    from entitynlm.report.page import write_page

    text = (resources.files("entitynlm") / "resources" / "demo" / STORY).read_text(encoding="utf-8")
    document = as_document(text, id=TITLE)
    name = Path(model.model).name
    title = f"[bold]{TITLE}[/bold], a story of our own, read by"
    if model.model == ON_SMOLLM2:
        pretrained = replace(model, model=SMALL).load(terminal)
        from entitynlm.coref.annotation import annotate_document

        terminal.print(f"\n{title} the small model {SMALL}\n")
        show_document(terminal, annotate_document(pretrained, document), entities=8)
        title = "The same story, read by"
    report = SurprisalOptions().report(model.load(terminal), document, terminal)
    terminal.print(f"\n{title} {name}\n")
    show_document(terminal, report.document, entities=8)
    terminal.print()
    terminal.print(draw_surprises(report))
    write_text(out, write_page(report, title=TITLE, model=name))
    terminal.print(f"\nwrote {print_path(out)}", markup=False)
    return {"model": model.model, **summarise(STORY, report.tables), "report": str(out)}


def draw_surprises(report: Report, most: int = 6) -> Table:
    """The least expected referents, in their contexts."""
    from rich.text import Text

    from entitynlm.interfaces.views import colour_of, draw_table, number_entities

    numbers = number_entities(report.document)
    rows = []
    for found in report.surprises[:most]:
        style = f"bold {colour_of(numbers[found.row.entity])}"
        where = Text(" ".join(["…", *found.before.split()[-5:], ""])).append(found.row.mention, style=style)
        where.append(" ".join(["", *found.after.split()[:4], "…"]))
        who = Text(report.characters[found.number - 1].name, style=style)
        expected = Text(f"{found.expected} {100 * (found.row.expected_probability or 0):.0f} %", style="dim")
        rows.append((f"{found.row.known_surprisal:.1f}", who, where, expected))
    headings, title = (report.unit, "who", "where", "expected"), "The most surprising referents"
    return draw_table(headings, rows, right=(report.unit,), title=title, header_style="bold")


def show_stories(terminal: Terminal, documents: int, seed: int) -> dict[str, Any]:
    """Show the generated corpus: one story, and counts per split."""
    from entitynlm.interfaces.views import render_document, tabulate_statistics

    first = next(generate_stories(1, seed=seed))
    heading = "[bold]The corpus that the package carries[/bold]"
    terminal.print(f"\n{heading}: generated stories; this one is {first.id}\n")
    terminal.print(render_document(first))
    found = {
        split: measure_documents(stories) for split, stories in split_stories(documents, seed=seed).items()
    }
    terminal.print(f"\n{documents:,} of them (generated, seed {seed}):\n")
    terminal.print(tabulate_statistics(found))
    return {"seed": seed, "splits": {split: counts.as_json() for split, counts in found.items()}}


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
        train, development = splits["train"], splits["dev"]
        pretrained = train_pretrained(
            train, development, settings, parts=NEEDED_PARTS, seed=seed, progress=progress
        )
    if pretrained is None:
        terminal.remark("stopped")
        raise typer.Exit(130)
    tables = measure_small_tables(pretrained, stories, seed=seed, say=terminal.remark)
    for table in tables.values():
        print_table(table, terminal)
    return [{"task": task, **table.to_dict()} for task, table in tables.items()]
