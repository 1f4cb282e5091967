"""Where shards are done: in processes on this machine, or by actors of Ray on many. What comes out is the same.

Every worker has one thread: the sums of a matrix product depend on the number of threads, and more workers use the processors
better than more threads do.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import secrets
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from typing import Any

from entitynlm.errors import ConfigError, EntityNLMError
from entitynlm.extras import require
from entitynlm.interfaces.batch.folder import Record
from entitynlm.interfaces.batch.shards import Shard, Stretch
from entitynlm.interfaces.batch.worker import Worker
from entitynlm.progress import Progress

DOCUMENTS = "documents"
POLL = 0.5  # seconds between two looks at how far the workers are
THREADS = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)


def run_local(worker: Worker, shards: Sequence[Shard], workers: int, progress: Progress) -> Iterator[Record]:
    """The records of shards as they are done, by processes that each load the model once; the largest shards come first."""
    context = multiprocessing.get_context("spawn")
    done, stop = context.Value("q", 0), context.Event()
    os.environ.update(THREADS)  # for the processes that are started now
    pool = ProcessPoolExecutor(
        min(workers, len(shards)), context, initializer=_start, initargs=(worker, done, stop)
    )
    waiting: set[Future[Record]] = set()
    told = 0
    try:
        waiting = {pool.submit(_process, shard) for shard in order_shards(shards)}
        while waiting:
            finished, waiting = wait(waiting, POLL, FIRST_COMPLETED)
            progress.advance(DOCUMENTS, done.value - told)
            told = done.value
            for future in finished:
                yield future.result()
    except BrokenProcessPool as error:
        raise ConfigError(
            "a worker process was killed, most likely for want of memory. What is done is kept: start the same command again, "
            "with fewer --workers"
        ) from error
    finally:
        if waiting:
            stop.set()  # workers leave at once, whatever they do
        pool.shutdown(cancel_futures=True)


def order_shards(shards: Sequence[Shard]) -> list[Shard]:
    """The largest first, so that no worker is left with a large one at the end."""
    return sorted(shards, key=lambda shard: -shard.size)


_worker: list[Worker] = []  # of this process


def _start(worker: Worker, done: Any, stop: Any) -> None:
    """Prepare a process: it leaves with its parent (whatever kills that), or when it is told to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    parent = multiprocessing.parent_process()
    assert parent is not None

    def leave_with(event: Callable[[], Any]) -> None:
        event()
        os._exit(1)

    for event in (parent.join, stop.wait):
        threading.Thread(target=leave_with, args=(event,), daemon=True).start()

    def advance(count: int) -> None:
        with done.get_lock():
            done.value += count

    worker.advance = advance
    _worker.append(worker)


def _process(shard: Shard) -> Record:
    return _worker[0].process(shard)


RAY = {
    "RAY_worker_niceness": "0",  # else a local Ray gets no time on a machine that others use too
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}
"""What Ray is started with, unless somebody has chosen otherwise."""


def import_ray(address: str | None) -> tuple[Any, Any]:
    """Ray and Ray Data, with the settings that they read when they are imported.

    A Ray of our own listens on all addresses of the machine and runs whatever it is sent, so it gets a password that only this
    process and its children know. A cluster has its own rules, which are in the environment of whoever may use it.
    """
    own = {} if address else {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    for name, value in (RAY | own).items():
        os.environ.setdefault(name, value)
    ray, data = (require(name, extra="scale", purpose="--engine ray") for name in ("ray", "ray.data"))
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return ray, data


class RayWorker:
    """An actor of Ray Data: loads the model once, and does the shards that it is given.

    Rows are JSON: Ray would guess types for tables. An error is a row too: it comes through as it is, and no task is tried again.
    """

    def __init__(self, worker: Worker) -> None:
        os.environ.update(THREADS)
        self.worker = worker

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"done": [json.dumps(self._process(shard)) for shard in batch["shard"]]}

    def _process(self, shard: str) -> dict[str, Any]:
        try:
            return asdict(self.worker.process(read_shard_row(str(shard))))
        except EntityNLMError as error:
            return {"error": str(error)}
        except Exception as error:
            return {"bug": "".join(traceback.format_exception(error))}


def read_shard_row(row: str) -> Shard:
    """A shard that was sent as JSON."""
    fields = json.loads(row)
    return Shard(**{**fields, "stretches": tuple(Stretch(**stretch) for stretch in fields["stretches"])})


def read_done_row(row: str) -> Record:
    """The record of a shard, or what went wrong with it."""
    fields = json.loads(row)
    if "error" in fields:
        raise EntityNLMError(fields["error"])
    if "bug" in fields:
        raise RuntimeError(fields["bug"])
    return Record(**fields)


def run_ray(
    worker: Worker, shards: Sequence[Shard], workers: int, progress: Progress, address: str | None
) -> Iterator[Record]:
    """The same on Ray: a cluster with an address ("auto": the one of this machine), else a local one for this job."""
    ray, data = import_ray(address)
    ours = {} if address else {"num_cpus": workers, "include_dashboard": False}
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    try:
        ray.init(address=address or "local", runtime_env={"env_vars": THREADS}, **quiet, **ours)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ConfigError(
            f"Ray can't be reached at {address or 'local'} ({str(error).splitlines()[0]})"
        ) from error
    try:
        data.DataContext.get_current().enable_progress_bars = False
        items = [{"shard": json.dumps(asdict(shard))} for shard in order_shards(shards)]
        found = data.from_items(items, override_num_blocks=len(items)).map_batches(
            RayWorker,
            fn_constructor_args=(worker,),
            batch_size=1,
            num_cpus=1,
            compute=data.ActorPoolStrategy(size=min(workers, len(items))),
        )
        for row in found.iter_rows():
            record = read_done_row(row["done"])
            progress.advance(DOCUMENTS, record.documents + record.failed)
            yield record
    finally:
        ray.shutdown()
