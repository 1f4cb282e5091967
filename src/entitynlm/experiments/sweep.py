"""A hyperparameter search on Optuna: trials that several processes, and machines, take from one queue.

Every point of the search is a trial that waits in the study; a worker takes one, trains P, and reports the development loss
after each epoch. A worker writes a sign of life into its trial; one that is silent for long, or whose process is gone, has died,
and its point waits again. Its checkpoint lies in a folder that is named by its settings, so it goes on where it was. What two
workers put into the queue twice is done by the trial with the lower number. So a sweep can be killed at any moment and started
again.
"""

import contextlib
import hashlib
import json
import os
import socket
import time
import warnings
import zlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from entitynlm.errors import ConfigError
from entitynlm.experiments.sweep_space import SearchSpace
from entitynlm.extras import require
from entitynlm.text.corpora import open_corpus
from entitynlm.training.settings import Settings

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PURPOSE = "a hyperparameter search"
JOURNAL = "journal.log"
HEARTBEAT = 30.0  # seconds between a trial's signs of life
SILENCE = 300.0  # seconds without one after which it has died
UNCLAIMED = 10.0  # the same for a worker that died before its first one
MOST_DEATHS = 3  # a point that kills its worker so often, while its sweep goes on, is given up
POINT, WORKER, ALIVE, REASON, DUPLICATE, DEAD = "point", "worker", "alive", "reason", "duplicate", "dead"
DEFINITION = "definition"


@dataclass(frozen=True)
class Sweep:
    """All that fixes a sweep; plain values, so that it can be handed to other processes.

    :param values: the settings of all trials, as :meth:`Settings.to_dict` gives them; a trial's own are laid over them.
    :param storage: the address of a database; None: a journal in the folder.
    """

    corpus: str
    folder: Path
    values: dict[str, Any]
    space: SearchSpace
    seed: int = 1
    storage: str | None = None
    study: str = "sweep"
    format: str | None = None
    device: str = "cpu"
    threads: int | None = None

    def open(self) -> Any:
        """The study of Optuna, made if it isn't there; one that was begun with something else is an error."""
        optuna = require("optuna", extra="scale", purpose=PURPOSE)
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                study = optuna.create_study(
                    study_name=self.study,
                    storage=open_storage(self.storage, self.folder),
                    sampler=make_sampler(self.space.sampler, self.seed),
                    pruner=make_pruner(self.space.pruner),
                    load_if_exists=True,
                )
        except (ImportError, ValueError, OSError) as error:
            raise ConfigError(
                f"{self.storage or self.folder / JOURNAL}: can't be opened ({error})"
            ) from error
        except Exception as error:  # SQLAlchemy's, of which this module knows nothing
            if self.storage is None:
                raise
            raise ConfigError(
                f"{hide_password(self.storage)}: this database can't be used ({error})"
            ) from error
        definition = json.dumps(self.describe(), sort_keys=True)
        known = study.user_attrs.get(DEFINITION)
        if known is not None and known != definition:
            before, now = json.loads(known), json.loads(definition)
            different = ", ".join(sorted(key for key in now if before.get(key) != now[key]))
            raise ConfigError(
                f"the study {self.study!r} was begun with something else ({different}); "
                "choose another --out (or --study)"
            )
        if known is None:
            study.set_user_attr(DEFINITION, definition)
        return study

    def describe(self) -> dict[str, Any]:
        """What must be the same when the sweep goes on; more trials may be asked for."""
        checksum = 0
        for split in ("train", "dev"):
            for document in open_corpus(self.corpus, format=self.format).documents(split):
                checksum = zlib.crc32("\0".join(document.tokens).encode(), checksum)
        space = {"dimensions": self.space.dimensions, "sampler": self.space.sampler}
        return {"settings": self.values, "space": space, "seed": self.seed, "corpus": checksum}

    def make_settings(self, changes: dict[str, Any]) -> Settings:
        """The settings of all trials with those of one laid over them."""
        values = json.loads(json.dumps(self.values))
        for name, value in changes.items():
            section, _, key = name.partition(".")
            values.setdefault(section, {})[key] = value
        return Settings.from_dict(values)

    def locate(self, settings: Settings) -> Path:
        """The folder of a trial: the same for the same settings, so whoever does it again goes on from its checkpoint."""
        named = json.dumps([settings.to_dict(), self.seed], sort_keys=True)
        return self.folder / "trials" / hashlib.sha256(named.encode()).hexdigest()[:16]


def open_storage(address: str | None, folder: Path) -> Any:
    """A database, or the journal in the folder, which several processes may write to."""
    from optuna.storages import JournalStorage, RDBStorage
    from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock

    if address is not None:
        driver = "postgresql+psycopg://"  # whichever SQLAlchemy would choose, this is the one in the extra
        from sqlalchemy.pool import NullPool  # workers train for minutes between two words to the database

        return RDBStorage(address.replace("postgresql://", driver, 1), engine_kwargs={"poolclass": NullPool})
    folder.mkdir(parents=True, exist_ok=True)
    path = str(folder / JOURNAL)
    lock: Any = JournalLock(folder / JOURNAL) if fcntl is not None else JournalFileOpenLock(path)
    return JournalStorage(JournalFileBackend(path, lock_obj=lock))


class JournalLock:
    """Lets one process at a time write to the journal; the line that a killed process or a full disk left unfinished is cut off.

    The kernel drops this lock when its process ends. Optuna's is a file that a killed process leaves behind, for which all others
    then wait for half a minute; and what follows an unfinished line would make the journal unreadable.
    """

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._held: BinaryIO | None = None

    def acquire(self) -> bool:
        stream = self._journal.open("r+b")
        fcntl.flock(stream, fcntl.LOCK_EX)
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - 1))
        if stream.read(1) not in (b"", b"\n"):
            stream.seek(0)
            stream.truncate(stream.read().rfind(b"\n") + 1)
        self._held = stream
        return True

    def release(self) -> None:
        assert self._held is not None
        self._held.close()


def hide_password(address: str) -> str:
    """A database's address for people."""
    before, at, place = address.rpartition("@")
    return f"{before.rpartition(':')[0]}:…@{place}" if at and ":" in before.partition("://")[2] else address


def make_sampler(name: str, seed: int) -> Any:
    from optuna.samplers import RandomSampler, TPESampler

    return TPESampler(seed=seed, constant_liar=True) if name == "tpe" else RandomSampler(seed=seed)


def make_pruner(name: str) -> Any:
    from optuna import pruners

    if name == "halving":
        return pruners.SuccessiveHalvingPruner(min_resource=2, reduction_factor=3)
    return pruners.MedianPruner(n_warmup_steps=1) if name == "median" else pruners.NopPruner()


# -- the queue -----------------------------------------------------------------------------------------------------------


def fill_queue(study: Any, sweep: Sweep, *, begun: datetime | None = None) -> None:
    """Let every point wait that has no trial, or only trials whose workers have died.

    :param begun: deaths since then count against a point. Those before are no fault of its: the whole sweep was stopped or
        killed, perhaps often.
    """
    bury_dead(study)
    trials = list_trials(study)
    known = {trial.user_attrs.get(POINT) for trial in trials if DEAD not in trial.user_attrs}
    for number, point in enumerate(sweep.space.list_points(sweep.seed)):
        if number in known:
            continue
        dead = [trial for trial in trials if trial.user_attrs.get(POINT) == number]
        if begun and sum(trial.datetime_start >= begun for trial in dead) >= MOST_DEATHS:
            continue
        params = dead[-1].params if dead and dead[-1].params else point
        study.enqueue_trial(params, user_attrs={POINT: number})


def list_trials(study: Any) -> list[Any]:
    """All trials but those that another one is in place of."""
    return [trial for trial in study.get_trials(deepcopy=False) if DUPLICATE not in trial.user_attrs]


def bury_dead(study: Any) -> None:
    """Mark trials as failed whose worker is gone."""
    from optuna.exceptions import UpdateFinishedTrialError
    from optuna.trial import TrialState

    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        if is_alive(trial):
            continue
        with contextlib.suppress(UpdateFinishedTrialError, RuntimeError):
            study._storage.set_trial_user_attr(trial._trial_id, DEAD, True)
            study.tell(trial.number, state=TrialState.FAIL)


def is_alive(trial: Any) -> bool:
    """Whether a trial's worker is there (on this machine), or was heard of lately (on another one)."""
    host, _, process = str(trial.user_attrs.get(WORKER, "")).rpartition(":")
    if not host:
        started = trial.datetime_start
        return started is not None and (datetime.now() - started).total_seconds() < UNCLAIMED
    if host == socket.gethostname():
        return find_process(int(process.partition("@")[0])) == process
    return time.time() - float(trial.user_attrs.get(ALIVE, 0)) < SILENCE


def find_process(number: int) -> str | None:
    """A process by its number and, where the system tells, when it started: numbers are given again. None if it is gone."""
    try:
        stat = (
            Path(f"/proc/{number}/stat")
            .read_text(encoding="utf-8", errors="replace")
            .rpartition(")")[2]
            .split()
        )
        return None if stat[0] == "Z" else f"{number}@{stat[19]}"
    except FileNotFoundError:
        if Path("/proc/self/stat").exists():
            return None
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return None
    except OSError:
        pass
    return str(number)


def take_trial(study: Any) -> Any | None:
    """The next trial of the queue, for this worker alone; None if nothing waits."""
    from optuna.exceptions import UpdateFinishedTrialError
    from optuna.trial import Trial, TrialState

    storage = study._storage
    for waiting in study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
        try:
            if not storage.set_trial_state_values(waiting._trial_id, TrialState.RUNNING):
                continue
        except UpdateFinishedTrialError:
            continue
        trial = Trial(study, waiting._trial_id)
        trial.set_user_attr(WORKER, f"{socket.gethostname()}:{find_process(os.getpid())}")
        others = [other for other in list_trials(study) if other.number < trial.number]
        if any(
            t.user_attrs.get(POINT) == waiting.user_attrs[POINT] and DEAD not in t.user_attrs for t in others
        ):
            trial.set_user_attr(DUPLICATE, True)
            study.tell(trial, state=TrialState.FAIL)
            continue
        return trial
    return None


def restore_settings(sweep: Sweep, trial: Any) -> Settings:
    """The settings of a trial that is stored."""
    from optuna.trial import FixedTrial

    return sweep.make_settings(sweep.space.suggest(FixedTrial(trial.params)))


def find_best(study: Any) -> Any | None:
    """The finished trial with the lowest development loss."""
    finished = [trial for trial in list_trials(study) if trial.state.name == "COMPLETE"]
    return min(finished, key=lambda trial: (trial.value, trial.number), default=None)
