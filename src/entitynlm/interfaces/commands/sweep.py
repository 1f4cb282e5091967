"""``entitynlm sweep``: search for the best settings of a training with Optuna; processes and machines share its storage."""

import hashlib
import json
import math
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from filelock import FileLock

from entitynlm.config import load_toml, to_dict
from entitynlm.errors import ConfigError, DataError, EntityNLMError, require
from entitynlm.files import write_text
from entitynlm.interfaces import options
from entitynlm.interfaces.console import Terminal, count
from entitynlm.interfaces.training_options import CorpusOptions, SettingsOptions, follow_training
from entitynlm.training.settings import Settings

PAPER_GRID = Path(__file__).resolve().parents[2] / "resources" / "sweeps" / "paper.toml"
REASON = "reason"  # attribute of a trial that failed
HEARTBEAT, SILENCE, MOST_RETRIES = 20, 120, 3  # a trial without a sign of life for 120 seconds is tried again
DEFAULT_TRIALS = 50  # where the space has ranges
Space = dict[str, Any]


def sweep(
    *,
    source: CorpusOptions,
    out: options.OutputFolder,
    space: Annotated[str, typer.Option(metavar="NAME|FILE")] = "paper",
    choosing: SettingsOptions,
    trials: Annotated[int | None, typer.Option(min=1)] = None,
    storage: Annotated[str | None, typer.Option(metavar="URL")] = None,
    seed: options.Seed = 1,
    terminal: Terminal,
) -> None:
    """Search for the best settings of a training.

    Each trial trains P with the settings of one point of the search space, and stops early if its development loss is
    worse than the median of the other trials. The same command continues after Ctrl-C, a crash, or with more --trials;
    started several times, on one machine or many, it shares the trials. It writes the best settings to --out/best.toml,
    for train --config.

    Examples:

      entitynlm sweep corpora/inscript -c configs/paper-inscript.toml --out runs/grid
      entitynlm sweep stories --space my-space.toml --trials 20 --out runs/sweep

    :param out: The sweep's folder: its database, and the settings of the best trial. Optuna's study has the folder's name.
    :param space: The space to search: paper (the grid of the paper's section 3), or a TOML file (docs/howto-train.md).
    :param trials: Number of trials. Default: all points, or 50 where the space has ranges.
    :param storage: A database (postgresql://user@host/name) for workers on many machines. Default: a file in --out.
    """
    optuna = require("optuna", extra="scale", purpose="a hyperparameter search")
    points = load_space(space)

    def make_settings(trial: Any) -> Settings:
        return choosing.load(**draw_settings(points, trial))

    definition: list[Any] = [to_dict(choosing.load()), points, seed]
    corpus = source.open("train", "dev")
    train, dev = list(corpus.documents("train")), list(corpus.documents("dev"))
    definition += [document.tokens for document in (*train, *dev)]
    study = open_study(storage, out, points, definition, seed)
    source.prepare()
    from entitynlm.training.recipe import train_pretrained

    with follow_training(terminal) as progress:
        run = partial(train_pretrained, train, dev, seed=seed, device=source.device, progress=progress)
        try:
            while left := count_left(study, points, trials):
                progress.message(f"{count(left, 'trial')} to do")
                study.optimize(partial(try_point, make_settings, run), n_trials=1, catch=EntityNLMError)
        except KeyboardInterrupt:
            progress.message(f"stopped; the same command goes on (in {out})")
            raise typer.Exit(130) from None
        except optuna.exceptions.StorageInternalError as error:
            raise DataError(f"the study can't be written ({explain(error)})", path=out) from error
    done = list_trials(study)
    for one in done:
        terminal.print(*(f"{name}: {value}" for name, value in one.items()), markup=False)
    best = done[0] if done[0]["state"] == "complete" else None
    terminal.write_json({"task": "sweep", "best": best and best["trial"], "trials": done})
    if best is None:
        raise ConfigError("no trial came to its end; the list has the reasons")
    write_settings(out / "best.toml", make_settings(optuna.trial.FixedTrial(best["settings"])))
    terminal.print(
        f"train the best with: entitynlm train {source.corpus} -c {out / 'best.toml'}", markup=False
    )


def write_settings(path: Path, settings: Settings) -> None:
    """Write settings as a TOML file, which has no value for None."""
    lines = []
    for name, section in to_dict(settings).items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in section.items() if value is not None]
    write_text(path, "\n".join([*lines, ""]))


def load_space(source: str | Path) -> Space:
    """Load a search space, the paper's or a file's: the values of each setting, or a range of numbers."""
    distribution = require("optuna.distributions", extra="scale", purpose="a space").FloatDistribution
    path = PAPER_GRID if source == "paper" else Path(source)
    space = load_toml(path)
    if list(space) != ["space"] or not (space := space["space"]) or not isinstance(space, dict):
        raise ConfigError(f"{path}: a space has one section, [space], with a line for each setting")
    for name, values in space.items():
        try:
            if isinstance(values, dict):
                distribution(**values)
            elif not isinstance(values, list) or not values:
                raise ValueError("a list of values is wanted, or a range such as { low = 0.1, high = 0.5 }")
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{path}: {name}: {error}") from error
    return space


def draw_settings(space: Space, trial: Any) -> dict[str, Any]:
    """Draw a trial's settings as changes such as ``{"model.dropout": 0.5}``; a table groups settings that change together."""
    changes: dict[str, Any] = {}
    for name, values in space.items():
        if isinstance(values, dict):
            whole = isinstance(values["low"], int) and isinstance(values["high"], int)
            changes[name] = (trial.suggest_int if whole else trial.suggest_float)(name, **values)
        else:
            by_label = dict(zip(label_values(values), values, strict=True))
            chosen = by_label[trial.suggest_categorical(name, list(by_label))]
            changes |= chosen if isinstance(chosen, dict) else {name: chosen}
    return changes


def label_values(values: list[Any]) -> list[Any]:
    """Name values for Optuna, which stores no lists and tables."""
    return [value if isinstance(value, str | int | float) else json.dumps(value) for value in values]


def open_study(storage: str | None, folder: Path, space: Space, definition: list[Any], seed: int) -> Any:
    """Open or make the study of the folder's name; a study with another definition is refused."""
    import optuna
    from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback
    from sqlalchemy.pool import NullPool

    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    folder.mkdir(parents=True, exist_ok=True)
    making: dict[str, Any] = {"study_name": folder.resolve().name, "load_if_exists": True}
    making["pruner"] = optuna.pruners.MedianPruner(n_warmup_steps=1)
    making["sampler"] = optuna.samplers.TPESampler(seed=seed)
    if count_points(space) is not None:
        labels = {name: label_values(values) for name, values in space.items()}
        making["sampler"] = optuna.samplers.GridSampler(labels, seed=seed)
    try:
        with FileLock(folder / ".lock"):  # two processes can't make one database at once
            making["storage"] = RDBStorage(
                (storage or f"sqlite:///{folder}/study.db").replace("postgresql:", "postgresql+psycopg:", 1),
                engine_kwargs={"poolclass": NullPool},  # the database is asked once in minutes
                heartbeat_interval=HEARTBEAT,
                grace_period=SILENCE,
                heartbeat_stale_trial_callback=RetryHeartbeatStaleTrialCallback(MOST_RETRIES),
            )
        study = optuna.create_study(**making)
    except Exception as error:  # SQLAlchemy's and its drivers'
        raise ConfigError(f"{folder}: the study can't be used ({explain(error)})") from error
    now = hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()
    if study.user_attrs.get("definition", now) != now:
        raise ConfigError(
            f"{folder}: begun with another corpus, space, seed or settings; choose another --out"
        )
    study.set_user_attr("definition", now)
    return study


def count_points(space: Space) -> int | None:
    """Count the points of a grid; None where the space has ranges."""
    lists = [values for values in space.values() if isinstance(values, list)]
    return math.prod(map(len, lists)) if len(lists) == len(space) else None


def count_left(study: Any, space: Space, trials: int | None) -> int:
    """Count the trials that are not finished: of a grid, its points; an interrupted trial is not finished."""
    found = (one for one in list_trials(study) if one["state"] in ("complete", "pruned", "fail"))
    done = [json.dumps(one["settings"], sort_keys=True) for one in found]
    points = count_points(space)
    if points is None:
        return max(0, (trials or DEFAULT_TRIALS) - len(done))
    return max(0, min(points, trials or points) - len(set(done)))


def try_point(make_settings: Callable[[Any], Settings], run: Callable[..., Any], trial: Any) -> float:
    """Train P with a trial's settings, and return the development loss of its best epoch."""
    from optuna.exceptions import TrialPruned
    from optuna.storages import RetryHeartbeatStaleTrialCallback

    def report(mode: str, record: dict[str, Any]) -> None:
        trial.report(record["dev_loss"], record["epoch"])
        if trial.should_prune():
            raise TrialPruned

    try:
        trained = run(make_settings(trial), parts=["generative"], on_epoch=report)
    except EntityNLMError as error:
        trial.set_user_attr(REASON, str(error))
        raise
    if trained is None:  # interrupted
        RetryHeartbeatStaleTrialCallback()(trial.study, trial.study.trials[trial.number])
        raise KeyboardInterrupt
    return float(trained.notes["training"]["generative"]["best_dev_loss"])


def explain(error: Exception) -> str:
    """Say in one line why a database can't be used, without its address, which may contain a password."""
    reason = str(getattr(error.__cause__ or error, "orig", error.__cause__ or error)).splitlines()[0]
    return reason.replace("database or disk is full", "No space left on device")


def list_trials(study: Any) -> list[dict[str, Any]]:
    """Describe all trials, the best first; a failure without a reason is an interruption, after which the trial is repeated."""
    found = [
        {
            "trial": trial.number,
            "state": trial.state.name.lower(),
            "settings": trial.params,
            "dev_loss": trial.value,
            "dev_losses": list(trial.intermediate_values.values()),
            "reason": trial.user_attrs.get(REASON),
        }
        for trial in study.trials
    ]
    for one in (one for one in found if one["state"] == "fail" and not one["reason"]):
        one["state"] = "interrupted"
    return sorted(
        found, key=lambda one: (one["state"] != "complete", min(one["dev_losses"], default=math.inf))
    )
