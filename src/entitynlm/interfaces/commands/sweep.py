"""``entitynlm sweep``: a hyperparameter search over a corpus; the winner is stored as a model."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from entitynlm.errors import ConfigError
from entitynlm.experiments.sweep import REASON, Pruner, Sweep, describe_state, find_best, load_space
from entitynlm.extras import require
from entitynlm.interfaces import options
from entitynlm.interfaces.commands.train import follow_training, parse_changes
from entitynlm.interfaces.console import Terminal, count, print_path
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

    :param out: The sweep's folder: its database, and the winner as a model with its settings (best.toml).
    :param space: The space to search: paper (the grid of the paper's section 3), or a TOML file.
    :param trials: Points to try. Default: all of a grid, else what the space says, else 50.
    :param pruner: Which trials are given up after an epoch: median (worse than half of the others), halving (successive
        halving) or none. Default: as the space says, else median.
    :param storage: A database (postgresql://user@host/name) for workers on many machines. Default: a file in --out.
    :param study: The name of the search in the database. Default: the name of --out.
    """
    require("optuna", extra="scale", purpose="a hyperparameter search")
    found = load_space(space, pruner=pruner, trials=trials)
    changes = parse_changes(set_ or [])

    def make_settings(point: dict[str, Any]) -> Settings:
        return load_settings(config, {**changes, **point}, language_model=backbone)

    make_settings({})
    opened = open_corpus(corpus, format=format)
    documents = list(opened.documents("train")), list(opened.documents("dev"))
    plan = Sweep(documents, out, found, make_settings, seed, device)
    search = plan.open(storage, study or out.resolve().name)
    prepare_torch(device, threads)
    with follow_training(terminal, out / "log.txt") as progress:
        progress.message(f"{count(plan.count_left(search), 'trial')} to do, in {print_path(out)}")
        try:
            plan.run(search, progress)
            best = find_best(search)
            model = plan.store_winner(best, progress) if best else None
        except KeyboardInterrupt:
            progress.message(f"stopped; the same command goes on (in {out})")
            raise typer.Exit(130) from None
    trials_done = list_trials(search)
    show_trials(trials_done, terminal)
    terminal.write_json({"task": "sweep", "best": best and best.number, "trials": trials_done})
    if best is None:
        raise ConfigError("no trial came to its end; the table has the reasons")
    told = f"the winner is stored in {model}, its settings in {out / 'best.toml'}"
    terminal.print(f"{told}: development loss {best.value:.4f}", markup=False)


def list_trials(study: Any) -> list[dict[str, Any]]:
    """Describe all trials by plain values, the best first; those that were given up or failed are at the end."""

    def rank(trial: Any) -> tuple[int, float, int]:
        state = {"COMPLETE": 0, "PRUNED": 1}.get(trial.state.name, 2)
        return state, min(trial.intermediate_values.values(), default=1e9), trial.number

    return [
        {
            "trial": trial.number,
            "state": describe_state(trial),
            "settings": trial.params,
            "dev_loss": trial.value,
            "dev_losses": list(trial.intermediate_values.values()),
            "reason": trial.user_attrs.get(REASON),
        }
        for trial in sorted(study.trials, key=rank)
    ]


def show_trials(trials: list[dict[str, Any]], terminal: Terminal) -> None:
    """Print the best trials: development loss of the best epoch in nats per word, settings, epochs and state."""
    from entitynlm.interfaces.views import draw_table

    names = list(dict.fromkeys(name for trial in trials for name in trial["settings"]))
    rows = [
        [
            str(trial["trial"]),
            f"{min(trial['dev_losses']):.4f}" if trial["dev_losses"] else "",
            *(str(trial["settings"].get(name, "")) for name in names),
            str(len(trial["dev_losses"])),
            " ".join(filter(None, (trial["state"], trial["reason"]))),
        ]
        for trial in trials[:MOST_ROWS]
    ]
    terminal.print(draw_table(("trial", "dev loss", *names, "epochs", "state"), rows, right=("dev loss",)))
