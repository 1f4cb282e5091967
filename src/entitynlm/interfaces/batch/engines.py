"""Do shards in processes on this machine, or by tasks of Ray on many; the outputs are the same.

Every worker has one thread: the last digits of a matrix product depend on the number of threads, and more workers use the
processors better than more threads do.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from entitynlm.errors import ConfigError, DataError
from entitynlm.extras import require
from entitynlm.files import hash_file, write_text
from entitynlm.interfaces.batch.job import FAILED, SHARDS, ShardRecord
from entitynlm.interfaces.batch.shards import FATAL, Shard, read_shard
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.options import ModelOptions
from entitynlm.model.encoding.suitability import find_doubt
from entitynlm.text.document import Document

if TYPE_CHECKING:
    from entitynlm.model.pretrained import Pretrained

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
ONE_THREAD = dict.fromkeys(THREADS, "1")
RAY = {  # settings that Ray is started with, unless the environment has others
    "RAY_worker_niceness": "0",  # else a local Ray gets no time on a machine that others use too
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}


@dataclass
class Worker:
    """A verb with its options, which goes to the processes; each of them loads the model once, when it needs it.

    :param endings: endings of the files that are made from a shard.
    :param compute: what the verb does to a document, with a function that returns the model.
    :param write: writes results to the files of a shard while they come.
    """

    model: ModelOptions
    out: Path
    format: str | None
    endings: tuple[str, ...]
    compute: Callable[[Callable[[], Pretrained], Document], Any]
    write: Callable[[Iterable[Any], Sequence[Path]], None]
    pretrained: Pretrained | None = field(default=None, init=False)

    def load(self) -> Pretrained:
        """Load the model, the first time; torch is imported here and not before."""
        if self.pretrained is None:
            self.pretrained = self.model.load(Terminal(quiet=True))
        return self.pretrained

    def process(self, shard: Shard) -> ShardRecord:
        """Do a shard, and describe what was done."""
        record = ShardRecord(shard.name, shard.file, shard.digest)
        failures: list[dict[str, Any]] = []

        def fail(name: str, error: Exception, line: int | None = None) -> None:
            reason = f"{type(error).__name__}: {error}"
            if isinstance(error, DataError):
                line, reason = line or error.line, str(replace(error, path=None, line=None))
            failures.append({"id": name, "file": shard.file, "line": line, "reason": reason})

        def work() -> Iterator[Any]:
            for document in read_shard(shard, self.format, fail):
                try:
                    result = self.compute(self.load, document)
                except (*FATAL, OSError):
                    raise
                except Exception as error:
                    fail(document.id, error)
                    continue
                record.documents += 1
                record.tokens += len(document)
                if self.pretrained is not None and find_doubt(document, self.pretrained.encoder) is not None:
                    record.doubtful += 1
                yield result

        paths = [self.out / SHARDS / f"{shard.name}{ending}" for ending in self.endings]
        self.write(work(), paths)
        if failures:
            paths.append(self.out / FAILED / f"{shard.name}.{FAILED}.jsonl")
            write_text(paths[-1], "".join(msgspec.json.encode(one).decode() + "\n" for one in failures))
        record.failed = len(failures)
        record.outputs = {path.relative_to(self.out).as_posix(): hash_file(path) for path in paths}
        return record


_worker: list[Worker] = []  # the worker of this process, with its model


def process_shard(worker: Worker, shard: Shard) -> ShardRecord:
    """Do a shard in a worker's process, which keeps its model for the next one."""
    if not _worker:
        _worker.append(worker)
    return _worker[0].process(shard)


def run_local(worker: Worker, shards: Sequence[Shard], workers: int) -> Iterator[ShardRecord]:
    """Yield the records of shards as they are done, by processes that end with this one, however that ends."""
    context = multiprocessing.get_context("spawn")
    reader, writer = context.Pipe(duplex=False)
    os.environ.update(ONE_THREAD)  # for the processes that are started now
    pool = ProcessPoolExecutor(min(workers, len(shards)), context, end_with_parent, (reader,))
    try:
        for future in as_completed([pool.submit(process_shard, worker, shard) for shard in shards]):
            yield future.result()
    except BrokenProcessPool as error:
        told = "a worker process was killed, most likely for want of memory. What is done is kept"
        raise ConfigError(f"{told}: start the same command again, with fewer --workers") from error
    except BaseException:
        writer.close()  # workers leave at once, whatever they do
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def end_with_parent(parent: Connection) -> None:
    """End this process when the other end of a pipe is closed, by the parent or by its death."""

    def leave() -> None:
        parent.poll(None)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    threading.Thread(target=leave, daemon=True).start()


def run_ray(
    worker: Worker, shards: Sequence[Shard], workers: int, address: str | None
) -> Iterator[ShardRecord]:
    """Yield the records of shards done on a cluster ("auto": that of this machine), or on a local Ray of this job's own.

    A Ray of our own listens on all addresses of the machine and runs whatever it is sent, so it gets a token that only this
    process and its children know. A cluster has its own rules, which are in the environment of those who may use it.
    """
    own = {} if address else {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    os.environ.update({**RAY, **own, **os.environ})  # read when Ray is imported
    ray = require("ray", extra="scale", purpose="--engine ray")
    ours = {} if address else {"num_cpus": workers, "include_dashboard": False}
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    try:
        ray.init(address=address or "local", runtime_env={"env_vars": ONE_THREAD}, **quiet, **ours)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"Ray can't be reached at {address or 'local'} ({reason})") from error
    try:
        shared, task = ray.put(worker), ray.remote(num_cpus=1, max_retries=0)(process_shard)
        running = [task.remote(shared, shard) for shard in shards]
        while running:
            done, running = ray.wait(running)
            yield from ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    finally:
        ray.shutdown()
