"""The folder of a batch job, in which nothing is lost or doubled whenever the job is stopped.

    DIR/shards/NAME.…             the outputs of a shard
    DIR/failed/NAME.failed.jsonl  its documents that failed, with the reason (if there are any)
    DIR/manifest.jsonl            what the job is, then a record of each shard that is done

Outputs are written beside their place and renamed. A shard without a record is done again, and gives the same bytes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock, Timeout

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import hash_file, remove_unfinished, write_text
from entitynlm.interfaces.batch.shards import Shard

MANIFEST = "manifest.jsonl"
SHARDS, FAILED = "shards", "failed"


class Counts(msgspec.Struct, kw_only=True):
    """What was done; ``doubtful`` documents do not look like the texts that the model has learned from."""

    documents: int = 0
    failed: int = 0
    tokens: int = 0
    doubtful: int = 0


class JobHeader(Counts):
    """The first line of a manifest: all that outputs depend on besides the input; totals when all shards are done."""

    settings: dict[str, Any]
    complete: bool = False


class ShardRecord(Counts):
    """A shard that is done. It has no times in it: a job gives the same bytes wherever and however often it runs.

    :param outputs: SHA-256 of the files that were made from the shard, by their names below the job's folder.
    """

    name: str
    input: str
    input_sha256: str
    outputs: dict[str, str] = {}


def read_job(folder: Path) -> tuple[JobHeader, list[ShardRecord]] | None:
    """Read what was done before; a line that a killed process left unfinished is no record."""
    try:
        first, *lines = (folder / MANIFEST).read_bytes().splitlines(keepends=True)
        whole = [msgspec.json.decode(line, type=ShardRecord) for line in lines if line.endswith(b"\n")]
        return msgspec.json.decode(first, type=JobHeader), whole
    except FileNotFoundError:
        return None
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise DataError(f"this job can't be read ({error})", path=folder) from error


def check_job(folder: Path, settings: dict[str, Any], *, restart: bool = False) -> list[ShardRecord]:
    """Return the records of the job that is here; a folder with other files, or a job with other settings, is refused."""
    before = read_job(folder)
    if before is None:
        if any(path.name[0] != "." for path in folder.glob("*")):
            message = "there are files in this folder, and they are no batch job"
            raise DataError(message, path=folder, hint="Name a new folder with --out")
        return []
    old = before[0].settings
    changed = [name for name in {**old, **settings} if old.get(name) != settings.get(name)]
    if changed and not restart:
        told = "; ".join(f"{name} {old.get(name)} → {settings.get(name)}" for name in changed)
        hint = "Name another folder, or do everything again with --restart"
        raise ConfigError(f"{folder}: the job in this folder has other settings ({told}). {hint}")
    return before[1]


@contextlib.contextmanager
def open_job(
    folder: Path, settings: dict[str, Any], shards: Sequence[Shard], *, restart: bool = False
) -> Iterator[tuple[dict[str, ShardRecord], list[str]]]:
    """Lock the folder; give the records of shards whose input and outputs are unchanged, and the names of the others.

    Outputs of shards that have changed, or that are not in the input any more, are removed.
    """
    planned = {} if restart else {shard.name: shard.digest for shard in shards}
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=0):
            remove_unfinished(folder.rglob(".*.part"))
            before = check_job(folder, settings, restart=restart)
            done = {one.name: one for one in before if planned.get(one.name) == one.input_sha256}
            done = {name: one for name, one in done.items() if is_whole(folder, one)}
            changed = [one for one in before if one.name not in done]
            for file in (folder / name for one in changed for name in one.outputs):
                if file.resolve().is_relative_to(folder.resolve()):
                    file.unlink(missing_ok=True)
            if changed or len(done) < len(shards):
                write_job(folder, JobHeader(settings), done.values())
            try:
                yield done, [one.name for one in changed]
            finally:
                remove_unfinished(folder.rglob(".*.part"))  # of workers that were told to leave
    except Timeout as error:
        raise DataError("another batch job is working in this folder", path=folder) from error


def is_whole(folder: Path, record: ShardRecord) -> bool:
    """Tell whether all outputs of a shard are there as they were written."""
    files = {folder / name: digest for name, digest in record.outputs.items()}
    return all(file.is_file() and hash_file(file) == digest for file, digest in files.items())


def add_record(folder: Path, record: ShardRecord) -> None:
    """Note that a shard is done."""
    with (folder / MANIFEST).open("ab") as stream:
        stream.write(msgspec.json.encode(record) + b"\n")


def finish_job(folder: Path, settings: dict[str, Any], records: Sequence[ShardRecord]) -> JobHeader:
    """Write the manifest in the order of the input, with totals."""
    totals = {name: sum(getattr(one, name) for one in records) for name in Counts.__struct_fields__}
    header = JobHeader(settings, complete=True, **totals)
    write_job(folder, header, records)
    return header


def write_job(folder: Path, header: JobHeader, records: Iterable[ShardRecord]) -> None:
    """Write a manifest, all of it or nothing."""
    write_text(
        folder / MANIFEST, "".join(msgspec.json.encode(one).decode() + "\n" for one in (header, *records))
    )
