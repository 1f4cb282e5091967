"""Search for the best settings of a training with Optuna, whose storage lets several processes and machines share the trials.

Every point of the space is a trial: P is trained, and given up early if its development loss is worse than that of others. A
trial shows now and then that it is alive (Optuna's heartbeat); the trial of a process that died is tried again. The checkpoint of
a trial lies in a folder named after its settings, so that it goes on where it was.
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

from entitynlm.config import load_toml
from entitynlm.errors import ConfigError, DataError, EntityNLMError
from entitynlm.files import remove_unfinished, write_text
from entitynlm.progress import Progress
from entitynlm.text.document import Document
from entitynlm.training.settings import Settings

SPACES = Path(__file__).resolve().parents[1] / "resources" / "sweeps"
DATABASE, TRIALS = "study.db", "trials"
DEFINITION, FOLDER, REASON = "definition", "folder", "reason"  # attributes of studies and trials
HEARTBEAT, SILENCE = 20, 120  # seconds between two signs of life of a trial; without one, it has died
MOST_RETRIES = 3
DEFAULT_TRIALS = 50  # where the space is not a grid
Sampler = Literal["grid", "random", "tpe"]
Pruner = Literal["median", "halving", "none"]


class Range(msgspec.Struct, forbid_unknown_fields=True):
    """Numbers from ``low`` to ``high``."""

    low: int | float
    high: int | float
    log: bool = False
    step: int | float | None = None


class Method(msgspec.Struct, forbid_unknown_fields=True):
    """How points are chosen and given up: section [sweep] of a space."""

    sampler: Sampler = "grid"
    pruner: Pruner = "median"
    trials: Annotated[int, msgspec.Meta(ge=1)] | None = None


class SearchSpace(msgspec.Struct, forbid_unknown_fields=True):
    """A TOML file with the values or the range of each setting; a list of tables has settings that change together."""

    space: Annotated[
        dict[str, Range | Annotated[list[Any], msgspec.Meta(min_length=1)]], msgspec.Meta(min_length=1)
    ]
    sweep: Method = msgspec.field(default_factory=Method)

    def list_labels(self) -> dict[str, list[Any]]:
        """List the values of each dimension as Optuna stores them; of a range, its two ends."""
        dimensions = self.space.items()
        return {n: [v.low, v.high] if isinstance(v, Range) else list(map(label, v)) for n, v in dimensions}

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
    for name, dimension in found.space.items():
        if found.sweep.sampler == "grid" and isinstance(dimension, Range):
            raise ConfigError(
                f"{path}: {name}: a grid has no ranges; list the values, or take another sampler"
            )
    return found


@dataclass
class Sweep:
    """A search over one corpus, given as training and development documents.

    :param folder: holds the checkpoints of trials, and the database where ``storage`` names no other.
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
            database = optuna.storages.RDBStorage(
                address.replace("postgresql://", "postgresql+psycopg://", 1),
                engine_kwargs={
                    "poolclass": NullPool
                },  # a trial takes minutes between two words to the database
                heartbeat_interval=HEARTBEAT,
                grace_period=SILENCE,
                heartbeat_stale_trial_callback=optuna.storages.RetryHeartbeatStaleTrialCallback(MOST_RETRIES),
            )
            sampler = self.make_sampler()
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

    def make_sampler(self) -> Any:
        """Make the sampler of Optuna that chooses points."""
        from optuna.samplers import GridSampler, RandomSampler, TPESampler

        if self.space.sweep.sampler == "grid":
            return GridSampler(self.space.list_labels(), seed=self.seed)
        return (
            TPESampler(seed=self.seed) if self.space.sweep.sampler == "tpe" else RandomSampler(seed=self.seed)
        )

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

        def finish(study: Any, trial: Any) -> None:
            progress.message(f"trial {trial.number} ({trial.params}): {describe_state(trial)}")
            progress.advance("trials")
            best = find_best(study)
            if best is None or best.number != trial.number:  # there may be hundreds of trials
                shutil.rmtree(self.folder / TRIALS / trial.user_attrs[FOLDER], ignore_errors=True)

        progress.start("trials", self.count_left(study))
        try:
            while self.count_left(study):
                study.optimize(
                    lambda trial: self.train(trial, progress),
                    n_trials=1,
                    catch=EntityNLMError,
                    callbacks=[finish],
                )
        except StorageInternalError as error:
            raise DataError(f"the study can't be written ({explain(error)})", path=self.folder) from error
        except OSError as error:
            raise DataError(f"can't be written ({error.strerror or error})", path=self.folder) from error
        progress.finish("trials")

    def train(self, trial: Any, progress: Progress) -> float:
        """Train P with a trial's settings, and return the development loss of its best epoch."""
        from optuna.exceptions import TrialPruned
        from optuna.storages import RetryHeartbeatStaleTrialCallback

        def report(mode: str, record: dict[str, Any]) -> None:
            trial.report(record["dev_loss"], record["epoch"])
            if trial.should_prune():
                raise TrialPruned

        settings = self.make_settings(self.space.suggest(trial))
        trial.set_user_attr(FOLDER, self.locate(settings).name)
        try:
            trained = self.train_parts(settings, progress, parts=("generative",), on_epoch=report)
            if trained is None:
                raise KeyboardInterrupt
        except EntityNLMError as error:
            if isinstance(error.__cause__, OSError):  # a full disk is no fault of the settings
                RetryHeartbeatStaleTrialCallback()(trial.study, trial.study.trials[trial.number])
                raise error.__cause__ from None
            trial.set_user_attr(REASON, str(error))
            raise
        except KeyboardInterrupt:
            RetryHeartbeatStaleTrialCallback()(trial.study, trial.study.trials[trial.number])
            raise
        return float(trained.notes["training"]["generative"]["best_dev_loss"])

    def train_parts(self, settings: Settings, progress: Progress, **options: Any) -> Any:
        """Train in the folder of these settings, from the checkpoint there if there is one."""
        from entitynlm.training.recipe import train_pretrained

        train, development = self.documents
        own: dict[str, Any] = {"seed": self.seed, "device": self.device, "folder": self.locate(settings)}
        options |= {"resume": True, "progress": progress}
        return train_pretrained(train, development, settings, **own, **options)

    def locate(self, settings: Settings) -> Path:
        """Name the folder of a trial after its settings, so that a trial that is tried again finds its checkpoint."""
        named = json.dumps([settings.to_dict(), self.seed], sort_keys=True)
        return self.folder / TRIALS / hashlib.sha256(named.encode()).hexdigest()[:16]

    def store_winner(self, best: Any, progress: Progress) -> Path:
        """Make the best trial a model with its proposal Q; where its checkpoint is on another machine, P is trained again."""
        from optuna.trial import FixedTrial

        settings = self.make_settings(self.space.suggest(FixedTrial(best.params)))
        model, whole = self.folder / "model", self.folder / ".model.part"
        if self.train_parts(settings, progress) is None:
            raise KeyboardInterrupt
        shutil.rmtree(whole, ignore_errors=True)
        shutil.copytree(self.locate(settings), whole, ignore=shutil.ignore_patterns("checkpoints", "*.part"))
        shutil.rmtree(model, ignore_errors=True)
        whole.rename(model)
        shutil.rmtree(self.folder / TRIALS)
        sections = [
            "\n".join([f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in section.items())])
            for name, section in settings.to_dict().items()
        ]
        write_text(self.folder / "best.toml", "\n\n".join(sections) + "\n")
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
