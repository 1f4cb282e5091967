"""Run the shards of a job in processes on this machine, or by tasks of Ray on many; the outputs are the same.

Every worker has one thread: the last digits of a matrix product depend on the number of threads, and more workers use the
processors better than more threads do.
"""

from __future__ import annotations

import itertools
import logging
import multiprocessing
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from entitynlm.errors import ConfigError
from entitynlm.extras import require
from entitynlm.interfaces.batch.job import Record, Worker
from entitynlm.interfaces.batch.shards import Shard

THREADS = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
RAY = {  # settings that Ray is started with, unless the environment has others
    "RAY_worker_niceness": "0",  # else a local Ray gets no time on a machine that others use too
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}
_worker: list[Worker] = []  # the worker of this process


def run_local(worker: Worker, shards: Sequence[Shard], workers: int) -> Iterator[Record]:
    """Yield the records of shards as they are done, by processes that each load the model once; the largest shards go first."""
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    os.environ.update(THREADS)  # for the processes that are started now
    pool = ProcessPoolExecutor(
        min(workers, len(shards)), context, initializer=_start, initargs=(worker, stop)
    )
    try:
        for future in as_completed([pool.submit(_process, shard) for shard in order_shards(shards)]):
            yield future.result()
    except BrokenProcessPool as error:
        raise ConfigError(
            "a worker process was killed, most likely for want of memory. What is done is kept: start the same command again, "
            "with fewer --workers"
        ) from error
    except BaseException:
        stop.set()  # workers leave at once, whatever they do
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def order_shards(shards: Sequence[Shard]) -> list[Shard]:
    """Sort the largest first, so that no worker is left with a large one at the end."""
    return sorted(shards, key=lambda shard: -shard.size)


def _start(worker: Worker, stop: Any) -> None:
    """Prepare a process, which ends with its parent (however that ends) or when it is told to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    parent = multiprocessing.parent_process()
    assert parent is not None

    def leave_after(event: Callable[[], Any]) -> None:
        event()
        os._exit(1)

    for event in (parent.join, stop.wait):
        threading.Thread(target=leave_after, args=(event,), daemon=True).start()
    _worker.append(worker)


def _process(shard: Shard) -> Record:
    return _worker[0].process(shard)


def import_ray(address: str | None) -> Any:
    """Import Ray, with the settings that it reads when it is imported.

    A Ray of our own listens on all addresses of the machine and runs whatever it is sent, so it gets a token that only this
    process and its children know. A cluster has its own rules, which are in the environment of those who may use it.
    """
    own = {} if address else {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    for name, value in (RAY | own).items():
        os.environ.setdefault(name, value)
    logging.getLogger("ray").setLevel(logging.ERROR)
    return require("ray", extra="scale", purpose="--engine ray")


def run_ray(worker: Worker, shards: Sequence[Shard], workers: int, address: str | None) -> Iterator[Record]:
    """Yield the records of shards done on a cluster ("auto": that of this machine), or on a local Ray of this job's own."""
    ray = import_ray(address)
    ours = {} if address else {"num_cpus": workers, "include_dashboard": False}
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    try:
        ray.init(address=address or "local", runtime_env={"env_vars": THREADS}, **quiet, **ours)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"Ray can't be reached at {address or 'local'} ({reason})") from error
    try:
        shared, remote = ray.put(worker), ray.remote(num_cpus=1, max_retries=0)(_process_remotely)
        waiting = iter(order_shards(shards))
        running = [remote.remote(shared, shard) for shard in itertools.islice(waiting, workers)]
        while running:
            done, running = ray.wait(running)
            running += [remote.remote(shared, shard) for shard in itertools.islice(waiting, len(done))]
            yield from ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    finally:
        ray.shutdown()


def _process_remotely(worker: Worker, shard: Shard) -> Record:
    """Do a shard in a process of Ray's, which keeps its worker with the model for the next shard."""
    os.environ.update(THREADS)
    if not _worker:
        _worker.append(worker)
    return _process(shard)
