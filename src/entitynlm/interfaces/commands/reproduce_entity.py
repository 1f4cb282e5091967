"""``entitynlm reproduce entity``: the paper's Table 3 from nothing but a corpus."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from entitynlm.interfaces.commands.entity_options import (
    CorpusOption,
    OursOption,
    RowsOption,
    follow_steps,
    print_rows,
    read_slots,
)
from entitynlm.interfaces.commands.lm_options import parse_numbers
from entitynlm.interfaces.commands.train import follow_training, parse_changes, prepare_torch
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import DeviceOption, FormatOption, JsonOption, QuietOption, ThreadsOption

if TYPE_CHECKING:
    from entitynlm.tasks.entity_prediction import Row


def reproduce_entity(
    corpus: CorpusOption,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for models and tables.")],
    rows: RowsOption = None,
    ours_config: OursOption = None,
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", help="Settings of EntityNLM (configs/paper-inscript.toml)."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Change one setting of EntityNLM."),
    ] = None,
    seeds: Annotated[str, typer.Option("--seeds", help="Seeds of the trainings.")] = "1",
    split: Annotated[str, typer.Option("--split", help="Which stories to ask about: test or dev.")] = "test",
    format: FormatOption = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = None,
    json_path: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Train whatever a row needs, for each seed, and print Table 3 with intervals and tests (those of the first seed).

    Models are kept in --out/seed-N and used again by the same command, so it goes on after Ctrl-C, or with more seeds.

    Examples:

      entitynlm reproduce entity --corpus ../shared/data/inscript -c configs/paper-inscript.toml --out runs/entity
      entitynlm reproduce entity --corpus stories --rows always-new,shallow,modi,ours --seeds 1,2,3 --out runs/stories
    """
    from entitynlm.baselines.entity_choice.anticipator import load_config
    from entitynlm.data.corpora import open_corpus
    from entitynlm.tasks.entity_prediction import describe_table, measure_row
    from entitynlm.tasks.entity_reproduction import OURS, Counts, Teller, Workshop, choose_rows
    from entitynlm.training.completion import complete_bundle
    from entitynlm.training.settings import load_settings

    terminal = Terminal(quiet=quiet, json_path=json_path)
    prepare_torch(device, threads)
    settings = load_settings(config, parse_changes(set_ or []))
    ours = load_config(ours_config)
    numbers = parse_numbers(seeds, "--seeds")
    opened = open_corpus(corpus, format=format)
    train, development = (list(opened.documents(name)) for name in ("train", "dev"))
    stories = read_slots(opened, split)
    human = bool(stories) and all(slot.guesses for slotted in stories for slot in slotted.slots)
    wanted = [name.strip() for name in rows.split(",") if name.strip()] if rows else []
    names = choose_rows(wanted, model=True, human=human)
    tables: dict[int, list[Row]] = {}
    counts = Counts()
    for seed in numbers:
        folder = out / f"seed-{seed}"
        bundle = None
        with terminal.progress() as progress:
            if "entitynlm" in names:
                with follow_training(terminal, progress) as listener:
                    bundle = complete_bundle(
                        folder,
                        train,
                        development,
                        settings,
                        parts=("generative",),
                        seed=seed,
                        device=device,
                        listener=listener,
                    )
                if bundle is None:
                    terminal.remark("stopped; the same command goes on from here")
                    raise typer.Exit(130)
            show = follow_steps(progress)
            teller = Teller(terminal.remark, show)
            workshop = Workshop(
                train,
                development,
                stories,
                bundle,
                folder / OURS,
                seed=seed,
                teller=teller,
                config=ours,
                counts=counts,
            )
            fixed = {row.name: row for row in tables[numbers[0]] if row.name not in SEEDED} if tables else {}
            tables[seed] = [
                fixed.get(name) or measure_row(name, workshop.make(name), stories, on_story=show)
                for name in names
            ]
            told = [f"{row.name} {row.accuracy:.2f} %" for row in tables[seed] if row.name in SEEDED]
            if told:
                terminal.remark(f"seed {seed}: {', '.join(told)}")
    print_rows(
        tables[numbers[0]], f"Who is mentioned next, {opened.name} {split}, seed {numbers[0]}", terminal
    )
    means = summarise_seeds(tables)
    for name, found in means.items():
        terminal.print(f"{name}: mean {found['mean']:.2f} over {len(numbers)} seeds ({found['accuracies']})")
    figures: dict[str, Any] = {
        "task": "entity",
        "corpus": {"name": opened.name, "path": str(corpus)},
        "split": split,
        "out": str(out),
        **describe_table(tables[numbers[0]]),
        "seeds": {"numbers": list(numbers), "rows": means},
    }
    terminal.write_json(figures)


SEEDED = ("entitynlm", "ours", "ensemble")
"""Rows that change with the seed; the others are fitted once."""


def summarise_seeds(tables: dict[int, list[Row]]) -> dict[str, dict[str, Any]]:
    """Mean and spread of the rows that are trained."""
    found: dict[str, dict[str, Any]] = {}
    for name in SEEDED:
        values = [row.accuracy for rows in tables.values() for row in rows if row.name == name]
        if values:
            spread = statistics.stdev(values) if len(values) > 1 else None
            accuracies = [round(value, 2) for value in values]
            found[name] = {"mean": statistics.fmean(values), "spread": spread, "accuracies": accuracies}
    return found
