"""``entitynlm demo``: what the package carries, in a minute and without any download."""

from __future__ import annotations

from typing import Annotated

import typer

from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import ColourOption, JsonOption, QuietOption, SeedOption


def demo(
    documents: Annotated[
        int, typer.Option("--documents", min=10, help="How many stories to generate.")
    ] = 500,
    seed: SeedOption = 1,
    colour: ColourOption = None,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Show the generated corpus and the paper's running example, annotated and in colours."""
    terminal = Terminal(quiet=quiet, json_path=json, colour=colour)
    show_running_example(terminal)
    show_stories(terminal, documents, seed)


def show_running_example(terminal: Terminal) -> None:
    """The two sentences that the paper explains itself with, and its sequences X, R, E, L."""
    from entitynlm.data.corpora.example import RUNNING_EXAMPLE
    from entitynlm.interfaces.views import list_entities, render_document, tabulate_sequences

    terminal.print("[bold]The paper's running example[/bold]: each colour is an entity\n")
    terminal.print(render_document(RUNNING_EXAMPLE))
    terminal.print()
    terminal.print(list_entities(RUNNING_EXAMPLE))
    terminal.print(
        "\nAs the model sees it: X is the word, R whether it is in a mention, E which entity, L how many words are left"
    )
    for table in tabulate_sequences(RUNNING_EXAMPLE):
        terminal.print()
        terminal.print(table)


def show_stories(terminal: Terminal, documents: int, seed: int) -> None:
    """The generated corpus: one story, the counts, and how hard it is to guess who comes next."""
    from entitynlm.data.corpora.generated import make_stories
    from entitynlm.data.stories.generator import generate_stories
    from entitynlm.interfaces.views import describe_difficulty, render_document, tabulate_statistics

    first = next(generate_stories(1, seed=seed))
    terminal.print(
        f"\n[bold]The corpus that the package carries[/bold]: generated stories; this one is {first.id}\n"
    )
    terminal.print(render_document(first))
    with terminal.progress() as progress:
        task = progress.add_task("generating stories", total=documents, note="")
        report = make_stories(documents, seed=seed, on_document=lambda story: progress.advance(task))
    terminal.print(f"\n{documents:,} of them (generated, seed {seed}):\n")
    terminal.print(tabulate_statistics(report.statistics))
    terminal.print()
    terminal.print(describe_difficulty(report.difficulty))
    terminal.write_json(report.as_json())
