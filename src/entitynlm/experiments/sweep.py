"""Search for the best settings of a training with Optuna, whose storage lets several processes and machines share the trials.

Every point of the space is a trial: P is trained, and given up early if its development loss is worse than that of others. A
trial shows now and then that it is alive (Optuna's heartbeat); the trial of a process that died is tried again.
"""

import hashlib
import json
import math
import shutil
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from filelock import FileLock

from entitynlm.config import load_toml
from entitynlm.errors import ConfigError, DataError, EntityNLMError
from entitynlm.files import remove_unfinished, write_text
from entitynlm.progress import Progress
from entitynlm.text.document import Document
from entitynlm.training.settings import Settings

SPACES = Path(__file__).resolve().parents[1] / "resources" / "sweeps"
DATABASE = "study.db"
DEFINITION, REASON = "definition", "reason"  # attributes of studies and trials
HEARTBEAT, SILENCE = 20, 120  # seconds between two signs of life of a trial; without one, it has died
MOST_RETRIES = 3
DEFAULT_TRIALS = 50  # where the space is not a grid
Pruner = Literal["median", "halving", "none"]


class Range(msgspec.Struct, forbid_unknown_fields=True):
    """Numbers from ``low`` to ``high``."""

    low: int | float
    high: int | float
    log: bool = False
    step: int | float | None = None


class Method(msgspec.Struct, forbid_unknown_fields=True):
    """How points are chosen and given up: section [sweep] of a space."""

    sampler: Literal["grid", "tpe"] = "grid"
    pruner: Pruner = "median"
    trials: Annotated[int, msgspec.Meta(ge=1)] | None = None


class SearchSpace(msgspec.Struct, forbid_unknown_fields=True):
    """A TOML file with the values or the range of each setting; a list of tables has settings that change together."""

    space: Annotated[
        dict[str, Range | Annotated[list[Any], msgspec.Meta(min_length=1)]], msgspec.Meta(min_length=1)
    ]
    sweep: Method = msgspec.field(default_factory=Method)

    def list_labels(self) -> dict[str, list[Any]]:
        """List the values of each dimension of a grid as Optuna stores them."""
        return {
            name: list(map(label, values)) for name, values in self.space.items() if isinstance(values, list)
        }

    def suggest(self, trial: Any) -> dict[str, Any]:
        """Draw the settings of a trial, as changes like ``{"model.dropout": 0.5}``."""
        changes: dict[str, Any] = {}
        for name, values in self.space.items():
            if isinstance(values, Range):
                whole = isinstance(values.low, int) and isinstance(values.high, int)
                draw = trial.suggest_int if whole else trial.suggest_float
                step = values.step if values.step is not None or not whole else 1
                changes[name] = draw(name, values.low, values.high, log=values.log, step=step)
            else:
                by_label = {label(value): value for value in values}
                chosen = by_label[trial.suggest_categorical(name, list(by_label))]
                changes |= chosen if isinstance(chosen, dict) else {name: chosen}
        return changes


def label(value: Any) -> Any:
    """Name a value for Optuna, which stores no lists and tables."""
    if isinstance(value, dict):
        return ", ".join(map(str, value.values()))
    return value if isinstance(value, (str, int, float)) else json.dumps(value)


def load_space(source: str | Path, **changes: Any) -> SearchSpace:
    """Load a space by its name in the package, or from a file; ``changes`` (but None) go over what stands in [sweep]."""
    packaged = SPACES / f"{source}.toml"
    path = packaged if packaged.is_file() else Path(source)
    if not path.is_file():
        known = ", ".join(sorted(found.stem for found in SPACES.glob("*.toml")))
        raise ConfigError(f"{source}: there is no such file, and no space of the package ({known})")
    values = load_toml(path)
    method = {
        **values.get("sweep", {}),
        **{name: value for name, value in changes.items() if value is not None},
    }
    try:
        found = msgspec.convert({**values, "sweep": method}, SearchSpace)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {error}") from error
    ranges = {name: values for name, values in found.space.items() if isinstance(values, Range)}
    for name, one in ranges.items():
        if one.low > one.high or (one.log and one.low <= 0):
            raise ConfigError(f"{path}: {name}: there are no such numbers from {one.low} to {one.high}")
        if found.sweep.sampler == "grid":
            raise ConfigError(f"{path}: {name}: a grid has no ranges; list the values, or name a sampler")
    return found


@dataclass
class Sweep:
    """A search over one corpus, given as training and development documents.

    :param folder: holds the winner, and the database where ``storage`` names no other.
    :param make_settings: makes settings from the changes of a trial.
    """

    documents: tuple[Sequence[Document], Sequence[Document]]
    folder: Path
    space: SearchSpace
    make_settings: Callable[[dict[str, Any]], Settings]
    seed: int = 1
    device: str = "cpu"

    def open(self, storage: str | None, name: str) -> Any:
        """Open the study of this name, or make it; a study that was begun with other settings is refused."""
        import optuna
        from sqlalchemy.pool import NullPool

        optuna.logging.set_verbosity(optuna.logging.CRITICAL)
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_unfinished(self.folder.glob("*"))
        address = storage or f"sqlite:///{self.folder / DATABASE}"
        pruner = {
            "median": optuna.pruners.MedianPruner(n_warmup_steps=1),
            "halving": optuna.pruners.SuccessiveHalvingPruner(min_resource=2, reduction_factor=3),
            "none": optuna.pruners.NopPruner(),
        }[self.space.sweep.pruner]
        try:
            with FileLock(self.folder / ".open.lock"):  # two processes can't make one database at once
                database = optuna.storages.RDBStorage(
                    address.replace("postgresql://", "postgresql+psycopg://", 1),
                    engine_kwargs={"poolclass": NullPool},  # the database is asked once in minutes
                    heartbeat_interval=HEARTBEAT,
                    grace_period=SILENCE,
                    heartbeat_stale_trial_callback=optuna.storages.RetryHeartbeatStaleTrialCallback(
                        MOST_RETRIES
                    ),
                )
            grid = self.space.sweep.sampler == "grid"
            labels, seed = self.space.list_labels(), self.seed
            sampler: Any = (
                optuna.samplers.GridSampler(labels, seed=seed)
                if grid
                else optuna.samplers.TPESampler(seed=seed)
            )
            study = optuna.create_study(
                study_name=name, storage=database, sampler=sampler, pruner=pruner, load_if_exists=True
            )
        except Exception as error:  # SQLAlchemy's and its drivers'
            raise ConfigError(
                f"{self.folder}: the study {name!r} can't be used ({explain(error)})"
            ) from error
        now = self.describe()
        if study.user_attrs.get(DEFINITION, now) != now:
            hint = "choose another --out (or --study)"
            raise ConfigError(
                f"the study {name!r} was begun with another corpus, space, seed or settings; {hint}"
            )
        study.set_user_attr(DEFINITION, now)
        return study

    def describe(self) -> str:
        """Describe all that must be the same when the sweep goes on; more trials may be asked for."""
        tokens = [list(document.tokens) for split in self.documents for document in split]
        digest = hashlib.sha256(json.dumps(tokens).encode()).hexdigest()
        space = msgspec.to_builtins(self.space.space)
        settings = self.make_settings({}).to_dict()
        return json.dumps([settings, space, self.space.sweep.sampler, self.seed, digest], sort_keys=True)

    def count_left(self, study: Any) -> int:
        """Count the trials that are still to be finished: of a grid, its points; an interrupted trial is not finished."""
        done = [trial.params for trial in study.get_trials(deepcopy=False) if is_finished(trial)]
        wanted = self.space.sweep.trials
        if self.space.sweep.sampler != "grid":
            return max(0, (wanted or DEFAULT_TRIALS) - len(done))
        points = math.prod(map(len, self.space.list_labels().values()))
        return max(0, min(points, wanted or points) - len({json.dumps(one, sort_keys=True) for one in done}))

    def run(self, study: Any, progress: Progress) -> None:
        """Do trials until none is left; KeyboardInterrupt comes through, and the trial is tried again next time."""
        from optuna.exceptions import StorageInternalError

        progress.start("trials", self.count_left(study))
        try:
            while self.count_left(study):
                study.optimize(
                    lambda trial: self.try_point(trial, progress), n_trials=1, catch=EntityNLMError
                )
                progress.advance("trials")
        except StorageInternalError as error:
            raise DataError(f"the study can't be written ({explain(error)})", path=self.folder) from error
        progress.finish("trials")

    def try_point(self, trial: Any, progress: Progress) -> float:
        """Train P with a trial's settings, and return the development loss of its best epoch."""
        from optuna.exceptions import TrialPruned
        from optuna.storages import RetryHeartbeatStaleTrialCallback

        def report(mode: str, record: dict[str, Any]) -> None:
            trial.report(record["dev_loss"], record["epoch"])
            if trial.should_prune():
                raise TrialPruned

        try:
            settings = self.make_settings(self.space.suggest(trial))
            trained = self.train(settings, progress, parts=("generative",), on_epoch=report)
        except EntityNLMError as error:
            trial.set_user_attr(REASON, str(error))
            raise
        except KeyboardInterrupt:
            RetryHeartbeatStaleTrialCallback()(trial.study, trial.study.trials[trial.number])
            raise
        loss = float(trained.notes["training"]["generative"]["best_dev_loss"])
        progress.message(f"trial {trial.number} ({trial.params}): {loss:.4f}")
        return loss

    def train(self, settings: Settings, progress: Progress, **options: Any) -> Any:
        """Train a model with these settings."""
        from entitynlm.training.recipe import train_pretrained

        options |= {"seed": self.seed, "device": self.device, "progress": progress}
        trained = train_pretrained(*self.documents, settings, **options)
        if trained is None:
            raise KeyboardInterrupt
        return trained

    def store_winner(self, best: Any, progress: Progress) -> Path:
        """Train the best trial's settings again, with the proposal Q, and store the model and ``best.toml``."""
        from optuna.trial import FixedTrial

        settings = self.make_settings(self.space.suggest(FixedTrial(best.params)))
        sections = [
            "\n".join([f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in section.items())])
            for name, section in settings.to_dict().items()
        ]
        text, file = "\n\n".join(sections) + "\n", self.folder / "best.toml"
        model, made = self.folder / "model", self.folder / ".model.part"
        with FileLock(self.folder / ".lock"):  # other processes of the sweep wait, and find the model
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                shutil.rmtree(made, ignore_errors=True)
                self.train(settings, progress, folder=made)
                shutil.rmtree(made / "checkpoints", ignore_errors=True)
                shutil.rmtree(model, ignore_errors=True)
                made.rename(model)
                write_text(file, text)
        return model


def explain(error: Exception) -> str:
    """Say in one line why a database can't be used, without its address, which may have a password."""
    cause = error.__cause__ or error
    reason = str(getattr(cause, "orig", cause)).splitlines()[0]
    return reason.replace("database or disk is full", "No space left on device")


def is_finished(trial: Any) -> bool:
    """Tell whether a trial came to its end: trained, given up, or failed for a reason of its settings."""
    return trial.state.name in ("COMPLETE", "PRUNED") or REASON in trial.user_attrs


def describe_state(trial: Any) -> str:
    """Name the state of a trial; a failure without a reason is an interruption, after which the trial is tried again."""
    state = trial.state.name.lower()
    return "interrupted" if state == "fail" and REASON not in trial.user_attrs else state


def find_best(study: Any) -> Any | None:
    """Find the finished trial with the lowest development loss."""
    finished = [trial for trial in study.get_trials(deepcopy=False) if trial.state.name == "COMPLETE"]
    return min(finished, key=lambda trial: (trial.value, trial.number), default=None)
