"""The workers of a sweep: each takes trials from the queue and trains them; and the winner, stored as a model."""

import contextlib
import json
import multiprocessing
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from entitynlm.errors import DataError, EntityNLMError
from entitynlm.experiments.sweep import (
    ALIVE,
    DEAD,
    HEARTBEAT,
    REASON,
    WORKER,
    Sweep,
    fill_queue,
    find_best,
    list_trials,
    make_sampler,
    restore_settings,
    take_trial,
)
from entitynlm.files import write_text
from entitynlm.progress import Progress
from entitynlm.text.corpora import open_corpus
from entitynlm.training.settings import Settings

MODEL, SETTINGS_FILE = "model", "best.toml"
LOOK = 0.5  # seconds between two looks at the workers


def run_workers(sweep: Sweep, study: Any, workers: int, progress: Progress) -> bool:
    """Do all trials that wait, in so many processes; one that dies is replaced. False if it was interrupted."""
    if workers == 1:
        while finished := work(sweep, progress):
            while has_unclaimed(study):
                time.sleep(LOOK)
                fill_queue(study, sweep)
            if not count_waiting(study):
                break
        return finished
    context = multiprocessing.get_context("spawn")
    stop, errors, begun = context.Event(), context.SimpleQueue(), datetime.now()
    running: list[Any] = []
    task, told = "trials", {trial.number for trial in list_trials(study) if trial.state.is_finished()}
    progress.start(task, len(list_trials(study)) - len(told))
    try:
        while True:
            if not errors.empty():
                raise EntityNLMError(errors.get())
            alive = [process for process in running if process.is_alive()]
            if len(alive) < len(running) or not alive:
                fill_queue(study, sweep, begun=begun)  # with what a worker that died has left
            running, trials = alive, list_trials(study)
            waiting = count_waiting(study)
            if not running and not waiting and not has_unclaimed(study):
                return True
            for _ in range(min(workers - len(running), waiting)):
                running.append(context.Process(target=start_worker, args=(sweep, stop, errors), daemon=True))
                running[-1].start()
            for trial in trials:
                if trial.state.is_finished() and trial.number not in told:
                    told.add(trial.number)
                    progress.message(tell_trial(trial))
                    progress.advance(task)
            progress.advance(task, 0)
            time.sleep(LOOK)
    except KeyboardInterrupt:
        return False
    finally:
        stop.set()
        for process in running:
            process.join()
        progress.finish(task)


def count_waiting(study: Any) -> int:
    return sum(trial.state.name == "WAITING" for trial in list_trials(study))


def has_unclaimed(study: Any) -> bool:
    """Whether a trial is under way of which nobody has said yet that it is his: perhaps he was killed before he could."""
    return any(t.state.name == "RUNNING" and WORKER not in t.user_attrs for t in list_trials(study))


def start_worker(sweep: Sweep, stop: Any, errors: Any) -> None:
    """What a process of its own runs; Ctrl-C in the terminal reaches it by ``stop``, and what ends it goes to ``errors``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        work(sweep, WatchSweep(stop))
    except EntityNLMError as error:
        errors.put(str(error))


def tell_trial(trial: Any) -> str:
    """A finished trial in one line."""
    settings = ", ".join(f"{name} {value}" for name, value in trial.params.items())
    loss = min(trial.intermediate_values.values(), default=None)
    reason = trial.user_attrs.get(REASON) or f"{trial.state.name.lower()}, dev {loss}"
    return f"trial {trial.number} ({settings}): {reason}"


class WatchSweep(Progress):
    """Stops the training of a worker whose sweep was asked to end, or is gone."""

    def __init__(self, stop: Any) -> None:
        self.stop, self.parent = stop, os.getppid()

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        if os.getppid() != self.parent or self.stop.is_set():
            raise KeyboardInterrupt


@contextlib.contextmanager
def show_life(trial: Any) -> Iterator[None]:
    """Within the block, the trial says now and then that its worker is there."""
    ended = threading.Event()

    def tell() -> None:
        while not ended.is_set():
            with contextlib.suppress(Exception):  # a database that is away for a moment is no reason to stop
                trial.set_user_attr(ALIVE, time.time())
            ended.wait(HEARTBEAT)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def work(sweep: Sweep, progress: Progress) -> bool:
    """Do trials until none waits; False if it was interrupted."""
    from entitynlm.model.devices import prepare_torch

    prepare_torch(sweep.device, sweep.threads)
    study = sweep.open()
    corpus = open_corpus(sweep.corpus, format=sweep.format)
    train, development = (list(corpus.documents(split)) for split in ("train", "dev"))
    try:
        while (trial := take_trial(study)) is not None:
            if not run_trial(sweep, study, trial, (train, development), progress):
                return False
    except OSError as error:  # of the journal, which does not say its name
        raise DataError(f"can't be written ({error.strerror or error})", path=sweep.folder) from error
    return True


def run_trial(sweep: Sweep, study: Any, trial: Any, documents: Sequence[Any], progress: Progress) -> bool:
    """Train P with a trial's settings; False if it was interrupted (then the point waits again)."""
    from optuna.exceptions import TrialPruned
    from optuna.trial import TrialState

    from entitynlm.training.recipe import train_pretrained

    study.sampler = make_sampler(sweep.space.sampler, sweep.seed + 7919 * trial.number)

    def report(mode: str, record: dict[str, Any]) -> None:
        trial.report(record["dev_loss"], record["epoch"])
        if trial.should_prune():
            raise TrialPruned

    folder, started = None, time.perf_counter()
    with show_life(trial):
        try:
            settings = sweep.make_settings(sweep.space.suggest(trial))
            folder = sweep.locate(settings)
            trained = train_pretrained(
                documents[0],
                documents[1],
                settings,
                parts=("generative",),
                seed=sweep.seed,
                device=sweep.device,
                folder=folder,
                resume=True,
                progress=progress,
                on_epoch=report,
            )
            if trained is None:
                give_back(study, trial)
                return False
            notes = trained.notes["training"]["generative"]
            trial.set_user_attr("epoch", notes["best_epoch"])
            trial.set_user_attr("seconds", round(time.perf_counter() - started, 1))
            study.tell(trial, notes["best_dev_loss"])
        except TrialPruned:
            study.tell(trial, state=TrialState.PRUNED)
        except EntityNLMError as error:
            if isinstance(error.__cause__, OSError):  # a full disk, say: no fault of the settings
                with contextlib.suppress(OSError):
                    give_back(study, trial)
                raise
            trial.set_user_attr(REASON, str(error))
            study.tell(trial, state=TrialState.FAIL)
    progress.message(tell_trial(study.trials[trial.number]))
    forget_worse(sweep, study, folder)
    return True


def give_back(study: Any, trial: Any) -> None:
    """Let the point of a trial wait again, when the sweep is started again."""
    from optuna.trial import TrialState

    trial.set_user_attr(DEAD, True)
    study.tell(trial, state=TrialState.FAIL)


def forget_worse(sweep: Sweep, study: Any, folder: Path | None) -> None:
    """Remove a trial's files unless it is the best so far: there may be hundreds of them."""
    best = find_best(study)
    if folder is not None and (best is None or sweep.locate(restore_settings(sweep, best)) != folder):
        shutil.rmtree(folder, ignore_errors=True)


def store_winner(sweep: Sweep, best: Any, progress: Progress) -> dict[str, Any] | None:
    """Make the best trial a model in the sweep's folder, with its proposal Q; None if it was interrupted.

    P goes on from the trial's checkpoint, which is its end; where that is on another machine, P is trained again, to the same
    weights.
    """
    from entitynlm.training.recipe import train_pretrained

    settings = restore_settings(sweep, best)
    folder, model = sweep.locate(settings), sweep.folder / MODEL
    corpus = open_corpus(sweep.corpus, format=sweep.format)
    train, development = (list(corpus.documents(split)) for split in ("train", "dev"))
    trained = train_pretrained(
        train,
        development,
        settings,
        seed=sweep.seed,
        device=sweep.device,
        folder=folder,
        resume=True,
        progress=progress,
    )
    if trained is None:
        return None
    whole = model.with_name(f".{MODEL}.part")
    shutil.rmtree(whole, ignore_errors=True)
    shutil.copytree(folder, whole, ignore=shutil.ignore_patterns("checkpoints", "*.part"))
    shutil.rmtree(model, ignore_errors=True)
    whole.rename(model)
    for other in folder.parent.iterdir():
        if other != folder:  # of points that were the best for a while
            shutil.rmtree(other, ignore_errors=True)
    write_text(sweep.folder / SETTINGS_FILE, write_settings(settings))
    return {part: notes["best_dev_loss"] for part, notes in trained.notes["training"].items()}


def write_settings(settings: Settings) -> str:
    """Settings as a TOML file, for ``train --config``."""
    sections = settings.to_dict().items()
    lines = [
        [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in s.items())] for name, s in sections
    ]
    return "\n\n".join("\n".join(section) for section in lines) + "\n"
