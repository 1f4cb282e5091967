"""``entitynlm reproduce`` without a task: all three tables of the paper beside ours, and one report on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.errors import ConfigError
from entitynlm.interfaces.commands.lm_options import parse_numbers, split_list
from entitynlm.interfaces.commands.reproduce_coref import reproduce_coref
from entitynlm.interfaces.commands.reproduce_entity import reproduce_entity
from entitynlm.interfaces.commands.reproduce_lm import reproduce_lm
from entitynlm.interfaces.console import Terminal, print_path
from entitynlm.interfaces.options import JsonOption, QuietOption, ThreadsOption

if TYPE_CHECKING:
    from entitynlm.experiments.paper_tables import PaperTable

TASKS = ("lm", "coref", "entity")
OUT = Path("runs/reproduce")


def reproduce_all(
    context: typer.Context,
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", help="A corpus folder for all tables; default: generated stories."),
    ] = None,
    lm: Annotated[Path | None, typer.Option("--lm", help="Another corpus for Table 1.")] = None,
    coref: Annotated[Path | None, typer.Option("--coref", help="Another corpus for Table 2.")] = None,
    entity: Annotated[Path | None, typer.Option("--entity", help="Another corpus for Table 3.")] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The folder for models, tables and the report.")
    ] = OUT,
    tasks: Annotated[str, typer.Option("--tasks", help="Some of lm, coref, entity.")] = ",".join(TASKS),
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="A TOML file of settings; default: small and quick ones."),
    ] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change one setting.")
    ] = None,
    seeds: Annotated[str, typer.Option("--seeds", help="Seeds of the trainings.")] = "1",
    documents: Annotated[int, typer.Option("--documents", min=50, help="Stories to generate.")] = 600,
    samples: Annotated[int, typer.Option("--samples", min=1, help="Samples per document and repeat.")] = 50,
    k: Annotated[int, typer.Option("--k", min=1, help="Candidates per document.")] = 50,
    rows: Annotated[
        str, typer.Option("--rows", help="Rows of Table 3 (see: entitynlm reproduce entity --help).")
    ] = "always-new,shallow,modi,entitynlm,ours",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """The paper's tables from training to figures: one task by its name, or all three without one.

    Without a task, all three tables are measured on the corpora given (the
    generated stories by default), printed beside the paper's, and written as
    tables.md and tables.html in --out. Whatever is done is kept there, and
    the same command goes on from it. Without --config a small model is
    trained, for the order of things; configs/ has the settings for results.

    Examples:

      entitynlm reproduce
      entitynlm reproduce --corpus ../shared/data/ontogum --entity ../shared/data/inscript -c configs/lm.toml --seeds 1,2,3
      entitynlm reproduce lm --corpus ../shared/data/ontogum --config configs/lm.toml --out runs/lm-ontogum
    """
    if context.invoked_subcommand is not None:
        return
    terminal = Terminal(quiet=quiet, json_path=json_path)
    wanted = split_list(tasks)
    if unknown := [task for task in wanted if task not in TASKS]:
        raise ConfigError(f"there is no task {unknown[0]!r}; choose some of {', '.join(TASKS)}")
    numbers = parse_numbers(seeds, "--seeds")
    corpora = {"lm": lm or corpus, "coref": coref or corpus, "entity": entity or corpus}
    if any(corpora[task] is None for task in wanted):
        stories = generate(out / "stories", documents, numbers[0], terminal)
        corpora = {task: path or stories for task, path in corpora.items()}
    changes = set_ or []
    if config is None:
        changes = [*list_quick_changes(), *changes]
    verbs = make_verbs(corpora, out, config, changes, seeds, numbers, samples, k, rows, threads, quiet)
    found = [run_task(task, verbs[task], out / f"{task}.json", terminal) for task in wanted]
    present(found, out, terminal)
    terminal.write_json({"task": "all", "out": str(out), "tables": [table.to_dict() for table in found]})


def generate(folder: Path, documents: int, seed: int, terminal: Terminal) -> Path:
    """The generated corpus, made unless it is there."""
    from entitynlm.text.corpora.corpus import CARD
    from entitynlm.text.corpora.generated import make_stories

    if not (folder / CARD).exists():
        with terminal.progress() as progress:
            task = progress.add_task("generating stories", total=documents, note="")
            make_stories(
                documents, seed=seed, target=folder, on_document=lambda story: progress.advance(task)
            )
    return folder


def list_quick_changes() -> list[str]:
    """The small settings as the verbs take them."""
    from entitynlm.experiments.small_tables import QUICK

    return [f"{name}={json.dumps(value)}" for name, value in QUICK.items()]


def make_verbs(
    corpora: dict[str, Path | None],
    out: Path,
    config: Path | None,
    changes: list[str],
    seeds: str,
    numbers: list[int],
    samples: int,
    k: int,
    rows: str,
    threads: int | None,
    quiet: bool,
) -> dict[str, Callable[[str], None]]:
    """Each task's verb with its options, waiting for the file to write its figures to."""

    def known(task: str) -> Path:
        path = corpora[task]
        assert path is not None
        return path

    common: dict[str, Any] = {"set_": changes, "threads": threads, "quiet": quiet}
    return {
        "lm": lambda figures: reproduce_lm(
            corpus=known("lm"),
            out=out / "lm",
            config=[config] if config else None,
            seeds=seeds,
            lookahead=False,
            samples=samples,
            readings="marginal",
            json_path=figures,
            **common,
        ),
        "coref": lambda figures: reproduce_coref(
            corpus=known("coref"),
            out=out / "coref",
            config=config,
            k=k,
            samples=samples,
            seed=numbers[0],
            json_path=figures,
            **common,
        ),
        "entity": lambda figures: reproduce_entity(
            corpus=known("entity"),
            out=out / "entity",
            config=config,
            rows=rows,
            seeds=seeds,
            json_path=figures,
            **common,
        ),
    }


def run_task(task: str, verb: Callable[[str], None], figures: Path, terminal: Terminal) -> PaperTable:
    """One verb, and its figures as a table."""
    from entitynlm.experiments.paper_tables import TITLES, from_coref, from_entity, from_lm

    terminal.remark(f"── {TITLES[task]}")
    verb(str(figures))
    read = {"lm": from_lm, "coref": from_coref, "entity": from_entity}[task]
    return read(json.loads(figures.read_text(encoding="utf-8")))


def present(tables: list[PaperTable], out: Path, terminal: Terminal) -> None:
    """All tables together: in the terminal, and as two files."""
    from entitynlm import __version__
    from entitynlm.files import write_atomically
    from entitynlm.interfaces.paper_report import print_paper_table, write_html, write_markdown

    for table in tables:
        print_paper_table(table, terminal)
    title = "Dynamic Entity Representations in Neural Language Models: the paper's tables beside ours"
    remarks = [f"measured by entitynlm {__version__}; models and full figures are in this folder"]
    for name, write in (("tables.md", write_markdown), ("tables.html", write_html)):
        with write_atomically(out / name) as stream:
            stream.write(write(tables, title=title, remarks=remarks))
    terminal.print(
        f"\nwrote {print_path(out / 'tables.md')} and {print_path(out / 'tables.html')}", markup=False
    )
