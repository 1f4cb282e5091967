"""A batch job: its folder, which is consistent whenever the job is stopped, and the processes that work on its shards.

    DIR/shards/NAME.…             the outputs of a shard
    DIR/failed/NAME.failed.jsonl  its documents that failed, with the reason (if there are any)
    DIR/manifest.jsonl            the job's settings, then a record of each finished shard, finally in their order

A shard without a record is done again with the same bytes: every worker has one thread, because the last digits depend on the
number of threads.
"""

import contextlib
import functools
import hashlib
import itertools
import logging
import multiprocessing
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import structs

from entitynlm.errors import ConfigError, DataError, EntityNLMError, MissingExtraError, ModelError, require
from entitynlm.files import hash_file, lock_folder, open_binary, write_text
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.inputs import check_mentions, distinguish, list_texts
from entitynlm.interfaces.options import ModelOptions
from entitynlm.text.document import Document
from entitynlm.text.formats import jsonlines
from entitynlm.text.formats.base import Source, strip_endings
from entitynlm.text.formats.registry import get_format, read_documents, read_sample, recognise_format

FATAL = (ConfigError, ModelError, MissingExtraError)  # every other document would fail as well


class Shard(msgspec.Struct, frozen=True):
    """The documents that one worker handles at a time: a file, or consecutive lines of a file."""

    name: str  # of its outputs, without an ending
    path: bytes  # absolute, because workers may have another working folder; a name need not be UTF-8
    file: str  # the file's name below the folder that was named on the command line
    digest: str = ""  # SHA-256 of the input, by which a changed input is found
    start: int = 0  # the byte at which lines begin …
    line: int = 0  # … after so many other lines …
    number: int = 0  # … with so many documents
    lines: int | None = None  # None: the whole file


def plan_shards(
    named: Sequence[str], documents: int = 1000, *, format: str | None = None, out: Path | None = None
) -> list[Shard]:
    """Cut files and folders into shards of at most this many JSON lines, in their order; skip the folder ``out``."""
    shards: list[Shard] = []
    texts = [(path, file.encode("utf-8", "replace").decode()) for path, file in list_texts(named, out)]
    for (path, file), name in zip(texts, distinguish(strip_endings(file) for _, file in texts), strict=True):
        whole = Shard(name, os.fsencode(path.resolve()), file)
        try:
            packed = path.suffix == ".gz" or find_format(path, format) != "jsonl"
            cut = [] if packed else list(cut_lines(whole, documents))
        except (DataError, OSError):  # a damaged file fails when its documents are read
            cut = []
        shards += cut if len(cut) > 1 else [structs.replace(whole, digest=hash_input(path, file))]
    return shards


def find_format(path: str | Path, format: str | None) -> str:
    """Return the given format, or recognise the file's format from its content."""
    return (get_format(format) if format else recognise_format(str(path), read_sample(path))).name


def hash_input(path: Path, file: str) -> str:
    """Hash a file with its name, which document ids contain, and with the text beside a brat annotation."""
    files = (path, path.with_suffix(".txt")) if path.suffix == ".ann" else (path,)
    hashes = [hash_file(one) if os.access(one, os.R_OK) else "" for one in files]
    return hashlib.sha256("\0".join([file, *hashes]).encode()).hexdigest()


def cut_lines(whole: Shard, documents: int) -> Iterator[Shard]:
    """Cut a file of JSON lines after this number of documents; an empty line is no document."""
    line = number = 0
    with Path(os.fsdecode(whole.path)).open("rb") as stream:
        for count in itertools.count():
            start, lines, found = stream.tell(), 0, 0
            digest = hashlib.sha256(f"{whole.file}\0{line}\0{number}\0".encode())
            while found < documents and (content := stream.readline()):
                digest.update(content)
                lines, found = lines + 1, found + bool(content.strip())
            if not lines:
                return
            name = f"{whole.name}-{count:05d}"
            yield Shard(name, whole.path, whole.file, digest.hexdigest(), start, line, number, lines)
            line, number = line + lines, number + found


def read_shard(shard: Shard, format: str | None, fail: Callable[..., None]) -> Iterator[Document]:
    """Read the documents of a shard; report a file or record that can't be read to ``fail``, and go on."""
    path = os.fsdecode(shard.path)
    try:
        if find_format(path, format) != "jsonl":
            yield from read_documents(path, format)
            return
        with open_binary(path) as stream:
            stream.seek(shard.start)
            source = Source(shard.file, stream)
            lines = enumerate(itertools.islice(stream, shard.lines), shard.line + 1)
            documents = (pair for pair in lines if pair[1].strip())
            for count, (number, line) in enumerate(documents, shard.number + 1):
                record: dict[str, Any] = {}
                try:
                    record = jsonlines.parse_line(line.decode("utf-8-sig"))
                    yield jsonlines.read_record(record, source, number, count)
                except Exception as error:
                    fail(jsonlines.find_name(record) or f"{source.stem}#{count}", error, number)
    except FATAL:
        raise
    except Exception as error:  # a damaged file may fail in any way
        fail(shard.file, error)


if TYPE_CHECKING:
    from entitynlm.model.pretrained import Pretrained

MANIFEST, SHARDS, FAILED = "manifest.jsonl", "shards", "failed"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
ONE_THREAD = dict.fromkeys(THREADS, "1")
# settings that Ray is started with, unless the environment has others; a nice Ray gets no time on a machine that is shared
RAY = {"RAY_worker_niceness": "0", "RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}


class ShardRecord(msgspec.Struct):
    """The record of a finished shard; it has no times, so that a job gives the same bytes wherever and however often it runs."""

    name: str
    input: str
    input_sha256: str
    documents: int = 0
    failed: int = 0
    tokens: int = 0
    outputs: dict[str, str] = {}  # SHA-256 of the files that were made, by their names below the job's folder


def read_job(folder: Path) -> tuple[dict[str, Any], list[ShardRecord]] | None:
    """Read settings and records of an earlier run; skip an unfinished last line, which a killed process left."""
    try:
        first, *lines = (folder / MANIFEST).read_bytes().splitlines(keepends=True)
        whole = [msgspec.json.decode(line, type=ShardRecord) for line in lines if line.endswith(b"\n")]
        return msgspec.json.decode(first, type=dict[str, Any]), whole
    except FileNotFoundError:
        return None
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise DataError(f"this job can't be read ({error})", path=folder) from error


@contextlib.contextmanager
def open_job(folder: Path, settings: dict[str, Any]) -> Iterator[list[ShardRecord]]:
    """Lock a job's folder, and give the records of its shards; other files, or a job with other settings, are refused."""
    with lock_folder(folder, "another batch job is working in this folder"):
        before = read_job(folder)
        if before is None and any(path.name[0] != "." for path in folder.glob("*")):
            message = "there are files in this folder, and they are no batch job"
            raise DataError(message, path=folder, hint="Name a new folder with --out")
        old, records = before or (settings, [])
        changed = [name for name in {**old, **settings} if old.get(name) != settings.get(name)]
        if changed:
            told = "; ".join(f"{name} {old.get(name)} → {settings.get(name)}" for name in changed)
            hint = "Name another folder, or remove this one"
            raise ConfigError(f"{folder}: the job in this folder has other settings ({told}). {hint}")
        yield records


def keep_whole(
    folder: Path, records: Iterable[ShardRecord], shards: Iterable[Shard]
) -> dict[str, ShardRecord]:
    """Keep the records of shards whose input and outputs have the recorded hashes; remove the outputs of the other records."""
    planned = {shard.name: shard.digest for shard in shards}
    kept = {}
    for record in records:
        files = {folder / name: digest for name, digest in record.outputs.items()}
        whole = all(file.is_file() and hash_file(file) == digest for file, digest in files.items())
        if whole and planned.get(record.name) == record.input_sha256:
            kept[record.name] = record
            continue
        for file in files:
            if file.resolve().is_relative_to(folder.resolve()):  # a manifest might have been changed
                file.unlink(missing_ok=True)
    return kept


def add_record(folder: Path, record: ShardRecord) -> None:
    """Append the record of a finished shard."""
    with (folder / MANIFEST).open("ab") as stream:
        stream.write(msgspec.json.encode(record) + b"\n")


def write_lines(path: Path, items: Iterable[Any]) -> None:
    """Write JSON lines atomically."""
    write_text(path, "".join(msgspec.json.encode(item).decode() + "\n" for item in items))


@functools.lru_cache(maxsize=1)
def load_once(model: ModelOptions) -> "Pretrained":
    """Load a worker's model for its first shard, and keep it for later shards."""
    return model.load(Terminal(quiet=True))


@dataclass(frozen=True)
class Worker:
    """Works on the shards of a job; a copy is sent to every process."""

    model: ModelOptions
    out: Path
    format: str | None
    endings: Sequence[str]  # of the files that are made from a shard
    compute: Callable[..., Any]  # makes a result from a function that returns the model, and a document
    write: Callable[..., object]  # writes results to the files while they come
    given: str = ""  # the option for which documents must have mentions

    def process(self, shard: Shard) -> ShardRecord:
        """Write the outputs of a shard, and describe what was done."""
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
                    if self.given:
                        check_mentions(document, self.given)
                    result = self.compute(functools.partial(load_once, self.model), document)
                except (*FATAL, OSError):
                    raise
                except Exception as error:
                    fail(document.id, error)
                    continue
                record.documents += 1
                record.tokens += len(document)
                yield result

        paths = [self.out / SHARDS / f"{shard.name}{ending}" for ending in self.endings]
        self.write(work(), *paths)
        if failures:
            paths.append(self.out / FAILED / f"{shard.name}.{FAILED}.jsonl")
            write_lines(paths[-1], failures)
        record.failed = len(failures)
        record.outputs = {path.relative_to(self.out).as_posix(): hash_file(path) for path in paths}
        return record

    def process_row(self, row: dict[str, Any]) -> dict[str, Any]:
        """Process a shard as a row of Ray Data; an error is part of the result, because Ray would wrap a raised one."""
        try:
            return {"record": msgspec.json.encode(self.process(row["item"])), "error": ""}
        except EntityNLMError as error:
            return {"record": b"", "error": str(error)}


def run_local(worker: Worker, shards: Sequence[Shard], workers: int) -> Iterator[ShardRecord]:
    """Yield the records of finished shards from local processes, which end when this process ends."""
    os.environ.update(ONE_THREAD)  # for the processes that are started now
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(shards)), context, end_with_parent) as pool:
        try:
            for future in as_completed([pool.submit(worker.process, shard) for shard in shards]):
                yield future.result()
        except BrokenProcessPool as error:
            told = "a worker process was killed, most likely for want of memory. What is done is kept"
            raise ConfigError(f"{told}: start the same command again, with fewer --workers") from error
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def end_with_parent() -> None:
    """End this process when its parent has ended, also by a kill; Ctrl-C is left to the parent."""

    def leave() -> None:
        multiprocessing.parent_process().join()  # type: ignore[union-attr]
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave, daemon=True).start()


def run_ray(worker: Worker, shards: Sequence[Shard], workers: int) -> Iterator[ShardRecord]:
    """Yield the records of shards that Ray Data maps, on the cluster RAY_ADDRESS or on a local Ray of this job's own.

    A local Ray listens on all addresses of the machine, so it gets a token that only this process and its children know.
    """
    address = os.environ.get("RAY_ADDRESS")
    own = {} if address else {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    os.environ.update({**RAY, **own, **os.environ})  # read when Ray is imported
    data = require("ray.data", extra="scale", purpose="--engine ray")
    ray = require("ray", extra="scale", purpose="--engine ray")
    ours = {} if address else {"num_cpus": workers, "include_dashboard": False}
    quiet = {"logging_level": logging.ERROR, "log_to_driver": False}
    try:
        ray.init(address=address or "local", runtime_env={"env_vars": ONE_THREAD}, **quiet, **ours)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(f"Ray can't be reached at {address or 'local'} ({reason})") from error
    data.DataContext.get_current().enable_progress_bars = False
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        rows = data.from_items(list(shards), override_num_blocks=len(shards))
        for row in rows.map(worker.process_row, num_cpus=1, max_retries=0).iter_rows():
            if row["error"]:
                raise ConfigError(row["error"])
            yield msgspec.json.decode(row["record"], type=ShardRecord)
    finally:
        ray.shutdown()
