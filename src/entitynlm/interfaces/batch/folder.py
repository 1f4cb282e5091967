"""The folder of a batch job, in which nothing is lost or doubled, whenever the job is stopped.

    DIR/job.json                  verb, model, settings and version: what all outputs depend on besides the input
    DIR/shards/NAME.…             the outputs of a shard
    DIR/failed/NAME.failed.jsonl  documents of it that failed, with the reason (if there are any)
    DIR/records/NAME.json         that the shard is done: hashes of its input and outputs, and counts; written after them
    DIR/manifest.json             all of this together, when every shard is done

Every file is written beside its place and renamed. A shard without a record is done again, and gives the same bytes.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import hash_file, write_text
from entitynlm.interfaces.batch.shards import Shard

try:
    import fcntl
except ImportError:  # Windows: two jobs in one folder do not see each other
    fcntl = None  # type: ignore[assignment]

JOB, MANIFEST, LOCK = "job.json", "manifest.json", ".lock"
SHARDS, FAILED, RECORDS = "shards", "failed", "records"


@dataclass(frozen=True)
class Record:
    """A shard that is done. It has no times in it: a job gives the same bytes wherever and however often it runs.

    :param inputs: file names, and what of a file it is.  :param outputs: names below the job's folder with hash and size.
    :param doubtful: documents that are not of the kind that the model knows.
    :param remarks: the first few of what readers had to say.
    """

    name: str
    inputs: list[str]
    input_sha256: str
    documents: int
    failed: int
    tokens: int
    doubtful: int = 0
    outputs: list[dict[str, Any]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def describe_inputs(shard: Shard) -> list[str]:
    """What a shard is made of, for people."""
    of = {"lines": "bytes", "rows": "rows"}
    return [
        f"{one.name}[{of[one.kind]} {one.start}-{one.stop}]" if one.kind in of else one.name
        for one in shard.stretches
    ]


class JobFolder:
    """The folder of one job; within :meth:`open` nobody else works in it.

    :param endings: of the files that are made from a shard.
    """

    def __init__(self, path: Path, endings: tuple[str, ...]) -> None:
        self.path, self.endings = path.absolute(), (*endings, f".{FAILED}.jsonl")

    @contextlib.contextmanager
    def open(self, job: dict[str, Any], *, restart: bool = False) -> Iterator[None]:
        """Take the folder for a job (see :meth:`check`); another one that runs in it is an error."""
        self.path.mkdir(parents=True, exist_ok=True)
        with (self.path / LOCK).open("a") as lock:
            self._take(lock)
            if restart:
                self._clear()
            self.check(job)
            self._sweep()
            write_text(self.path / JOB, _dump(job))
            try:
                yield
            finally:
                self._sweep()

    def check(self, job: dict[str, Any]) -> None:
        """Refuse a folder that holds something else, or the same with other settings."""
        if not self.path.is_dir():
            return
        try:
            before = json.loads((self.path / JOB).read_text(encoding="utf-8"))
            assert isinstance(before, dict)
        except FileNotFoundError:
            # a killed process may have left the lock, and the beginning of the file that says what job this is
            if any(entry.name != LOCK and not entry.match(f".{JOB}.*.part") for entry in self.path.iterdir()):
                message = "there are files in this folder, and they are no batch job"
                raise DataError(message, path=self.path, hint="Name a new folder with --out") from None
            return
        except (OSError, ValueError, AssertionError) as error:
            raise DataError(f"this job can't be read ({error})", path=self.path / JOB) from error
        changed = [
            f"{name} {_show(before.get(name))} → {_show(job.get(name))}"
            for name in dict.fromkeys([*before, *job])
            if before.get(name) != job.get(name)
        ]
        if changed:
            raise ConfigError(
                f"{self.path}: the job in this folder has other settings ({'; '.join(changed)}). Name another folder, or do "
                "everything again with --restart"
            )

    def find_done(self, shards: Sequence[Shard]) -> tuple[dict[str, Record], list[str]]:
        """Records of shards that are done and as they should be; and the names of those that were, before their input changed.

        Files of shards that were stopped, or are not in the input any more, are removed.
        """
        done, changed = {}, []
        planned = {shard.name: shard for shard in shards}
        for path in sorted((self.path / RECORDS).rglob("*.json")):
            record = self.read_record(path)
            shard = planned.get(path.relative_to(self.path / RECORDS).as_posix().removesuffix(".json"))
            if record is not None and shard is not None and record.input_sha256 == shard.digest:
                if all(self._is_there(output) for output in record.outputs):
                    done[shard.name] = record
                continue
            if record is not None:
                changed.append(record.name)
            path.unlink()
        self._remove_others({output["file"] for record in done.values() for output in record.outputs})
        if len(done) < len(shards) or changed:
            (self.path / MANIFEST).unlink(missing_ok=True)
        return done, changed

    def read_record(self, path: Path) -> Record | None:
        """A record, or None where it can't be used: its shard is done again."""
        try:
            return Record(**json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write_record(self, record: Record, written: Sequence[Path]) -> Record:
        """Note that a shard is done, when all its files are in their places."""
        outputs = [
            {
                "file": path.relative_to(self.path).as_posix(),
                "sha256": hash_file(path),
                "bytes": path.stat().st_size,
            }
            for path in written
        ]
        record = dataclasses.replace(record, outputs=outputs)
        write_text(self.path / RECORDS / f"{record.name}.json", _dump(dataclasses.asdict(record)))
        return record

    def place(self, kind: str, name: str) -> Path:
        """Where the files of a shard begin, without their endings."""
        return self.path / kind / name

    def finish(self, job: dict[str, Any], records: Sequence[Record]) -> None:
        """Write the manifest, in the order of the input."""
        totals = {
            name: sum(getattr(record, name) for record in records)
            for name in ("documents", "failed", "tokens", "doubtful")
        }
        shards = [dataclasses.asdict(record) for record in records]
        write_text(self.path / MANIFEST, _dump({**job, **totals, "shards": shards}))

    def _take(self, lock: IO[Any]) -> None:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise DataError("another batch job is working in this folder", path=self.path) from error

    def _is_there(self, output: dict[str, Any]) -> bool:
        path = self.path / str(output.get("file"))
        return path.is_file() and path.stat().st_size == output.get("bytes")

    def _remove_others(self, known: set[str]) -> None:
        """Remove outputs that no record has."""
        for kind in (SHARDS, FAILED):
            for path in (self.path / kind).rglob("*"):
                ours = path.is_file() and path.name.endswith(self.endings)
                if ours and path.relative_to(self.path).as_posix() not in known:
                    path.unlink()

    def _clear(self) -> None:
        """Remove the job that is here, if there is one."""
        if (self.path / JOB).is_file():
            for name in (SHARDS, FAILED, RECORDS):
                shutil.rmtree(self.path / name, ignore_errors=True)
            for name in (MANIFEST, JOB):
                (self.path / name).unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Remove what a killed process has left half-written."""
        for part in self.path.rglob(".*.part"):
            part.unlink(missing_ok=True)


def _dump(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
