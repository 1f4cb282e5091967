"""The folder of a batch job, in which nothing is lost or doubled whenever the job is stopped, and the work on one shard.

    DIR/shards/NAME.…             the outputs of a shard
    DIR/failed/NAME.failed.jsonl  its documents that failed, with the reason (if there are any)
    DIR/journal.jsonl             while the job runs: what it is, and a record of each shard that is done
    DIR/manifest.json             the same in the order of the input, with totals, when every shard is done

Outputs are written beside their place and renamed. A shard without a record is done again, and gives the same bytes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
from filelock import FileLock, Timeout

from entitynlm.errors import ConfigError, DataError, MissingExtraError, ModelError
from entitynlm.files import hash_file, remove_unfinished, write_text
from entitynlm.interfaces.batch.shards import LONGEST_LINE, FileRange, Shard, read_records
from entitynlm.interfaces.batch.tasks import Task
from entitynlm.model.encoding.suitability import find_doubt
from entitynlm.text.document import Document
from entitynlm.text.formats import jsonlines
from entitynlm.text.formats.registry import read_documents

JOURNAL, MANIFEST, LOCK = "journal.jsonl", "manifest.json", ".lock"
SHARDS, FAILED = "shards", "failed"
FATAL = (
    ConfigError,
    ModelError,
    MissingExtraError,
)  # errors of the job: every other document would fail as well
MOST_REMARKS, MOST_TOGETHER, MOST_TOKENS = 5, 64, 16_384


class Output(msgspec.Struct, frozen=True):
    """A file that was made from a shard; its name is below the job's folder."""

    file: str
    sha256: str
    bytes: int


class Failure(msgspec.Struct, frozen=True):
    """A document that could not be read or processed, and why; where its id is not known, the id is the file's name."""

    id: str
    file: str
    line: int | None
    reason: str


class Record(msgspec.Struct):
    """A shard that is done. It has no times in it: a job gives the same bytes wherever and however often it runs.

    :param inputs: names of files, and ranges in them.
    :param doubtful: number of documents that do not look like the texts that the model has learned from.
    :param remarks: the first oddities of the input.
    """

    name: str
    inputs: list[str]
    input_sha256: str
    documents: int = 0
    failed: int = 0
    tokens: int = 0
    doubtful: int = 0
    outputs: list[Output] = []
    remarks: list[str] = []


class Manifest(msgspec.Struct):
    """A job, all that its outputs depend on besides the input, and its shards."""

    entitynlm: str
    verb: str
    model: str
    model_sha256: str
    device: str
    format: str | None
    settings: dict[str, Any]
    documents: int = 0
    failed: int = 0
    tokens: int = 0
    doubtful: int = 0
    shards: list[Record] = []

    def list_changes(self, other: Manifest) -> list[str]:
        """Describe in which settings another job differs from this one."""
        names = self.__struct_fields__[: self.__struct_fields__.index("documents")]
        pairs = [(name, getattr(self, name), getattr(other, name)) for name in names]
        return [f"{name} {before} → {after}" for name, before, after in pairs if before != after]


class JobFolder:
    """The folder of one job; within :meth:`open` no other process works in it."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    def read(self) -> Manifest | None:
        """Read what was done before; a line that a killed process left unfinished is no record."""
        try:
            if (self.path / MANIFEST).exists():
                return msgspec.json.decode((self.path / MANIFEST).read_bytes(), type=Manifest)
            first, *lines = (self.path / JOURNAL).read_bytes().splitlines(keepends=True)
            found = msgspec.json.decode(first, type=Manifest)
            found.shards = [msgspec.json.decode(line, type=Record) for line in lines if line.endswith(b"\n")]
            return found
        except FileNotFoundError:
            return None
        except (OSError, ValueError, msgspec.MsgspecError) as error:
            raise DataError(f"this job can't be read ({error})", path=self.path) from error

    def check(self, job: Manifest, *, restart: bool = False) -> list[Record]:
        """Return the records of the job that is here; a folder with other files, or a job with other settings, is refused."""
        before = self.read()
        if before is None:
            others = [path for path in self.path.glob("*") if path.name[0] != "."]
            if others:
                message = "there are files in this folder, and they are no batch job"
                raise DataError(message, path=self.path, hint="Name a new folder with --out")
            return []
        if (changes := before.list_changes(job)) and not restart:
            told = f"the job in this folder has other settings ({'; '.join(changes)})"
            hint = "Name another folder, or do everything again with --restart"
            raise ConfigError(f"{self.path}: {told}. {hint}")
        return before.shards

    @contextlib.contextmanager
    def open(
        self, job: Manifest, shards: Sequence[Shard], *, restart: bool = False
    ) -> Iterator[tuple[dict[str, Record], list[str]]]:
        """Lock the folder; give the records of shards whose input and outputs are unchanged, and the names of the others.

        Outputs of shards that have changed, or that are not in the input any more, are removed.
        """
        planned = {} if restart else {shard.name: shard.digest for shard in shards}
        self.check(job, restart=restart)
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self.path / LOCK, timeout=0):
                remove_unfinished(self.path.rglob(".*.part"))
                done: dict[str, Record] = {}
                changed = []
                for record in self.check(job, restart=restart):
                    if record.input_sha256 == planned.get(record.name) and all(
                        map(self.is_whole, record.outputs)
                    ):
                        done[record.name] = record
                    else:
                        changed.append(record.name)
                        self.remove(record)
                if changed or len(done) < len(shards):
                    kept = [job, *done.values()]
                    write_text(
                        self.path / JOURNAL, "".join(msgspec.json.encode(one).decode() + "\n" for one in kept)
                    )
                    (self.path / MANIFEST).unlink(missing_ok=True)
                yield done, changed
        except Timeout as error:
            raise DataError("another batch job is working in this folder", path=self.path) from error

    def add(self, record: Record) -> None:
        """Note that a shard is done."""
        with (self.path / JOURNAL).open("ab") as stream:
            stream.write(msgspec.json.encode(record) + b"\n")

    def finish(self, job: Manifest, records: Sequence[Record]) -> Manifest:
        """Write the manifest, in the order of the input."""
        names = ("documents", "failed", "tokens", "doubtful")
        totals = {name: sum(getattr(record, name) for record in records) for name in names}
        job = msgspec.structs.replace(job, **totals, shards=list(records))
        write_text(
            self.path / MANIFEST, msgspec.json.format(msgspec.json.encode(job), indent=1).decode() + "\n"
        )
        (self.path / JOURNAL).unlink(missing_ok=True)
        return job

    def remove(self, record: Record) -> None:
        """Remove the outputs that a record lists."""
        for output in record.outputs:
            file = (self.path / output.file).resolve()
            if file.is_relative_to(self.path.resolve()):
                file.unlink(missing_ok=True)

    def is_whole(self, output: Output) -> bool:
        """Tell whether an output is there as it was written."""
        file = self.path / output.file
        return file.is_file() and file.stat().st_size == output.bytes and hash_file(file) == output.sha256


@dataclass
class Worker:
    """Does one shard after the other: reads its documents, computes, and writes outputs and failures."""

    task: Task
    out: Path
    format: str | None = None
    failures: list[Failure] = field(default_factory=list, init=False)

    def process(self, shard: Shard) -> Record:
        """Do a shard, and describe what was done."""
        self.failures = []
        record = Record(shard.name, list(map(str, shard.ranges)), shard.digest)
        paths = [self.out / SHARDS / f"{shard.name}{ending}" for ending in self.task.endings]
        self.task.write(self._compute(shard, record), paths)
        if self.failures:
            paths.append(self.out / FAILED / f"{shard.name}.{FAILED}.jsonl")
            write_text(
                paths[-1], b"".join(msgspec.json.encode(one) + b"\n" for one in self.failures).decode()
            )
        record.failed = len(self.failures)
        record.outputs = [
            Output(path.relative_to(self.out).as_posix(), hash_file(path), path.stat().st_size)
            for path in paths
        ]
        return record

    def _compute(self, shard: Shard, record: Record) -> Iterator[Any]:
        for group in group_documents(self._read(shard, record)):
            with contextlib.suppress(Exception):  # the document that fails is found below
                self.task.prepare([document for _, document in group])
            for source, document in group:
                try:
                    result = self.task.compute(document)
                except (*FATAL, OSError):
                    raise
                except Exception as error:
                    self._fail(document.id, source, error)
                    continue
                record.documents += 1
                record.tokens += len(document)
                pretrained = self.task.pretrained
                record.doubtful += (
                    pretrained is not None and find_doubt(document, pretrained.encoder) is not None
                )
                yield result

    def _read(self, shard: Shard, record: Record) -> Iterator[tuple[FileRange, Document]]:
        """Read the documents of a shard; a file or line that can't be read is a failure, and reading goes on."""

        def remark(oddity: Any) -> None:
            if len(record.remarks) < MOST_REMARKS:
                record.remarks.append(str(replace(oddity, path=one.name)))

        for one in shard.ranges:
            try:
                if one.stop is not None:
                    documents = self._read_records(one, remark)
                else:
                    documents = read_documents(one.path, self.format, on_oddity=remark)
                for document in documents:
                    yield one, document
            except FATAL:
                raise
            except Exception as error:  # a damaged file may fail in any way
                self._fail(one.name, one, error)

    def _read_records(self, one: FileRange, remark: Any) -> Iterator[Document]:
        """Read JSON lines or rows of a table, of which each may be broken by itself."""
        for count, (source, number, line) in enumerate(read_records(one, self.format, remark), one.start + 1):
            record: dict[str, Any] = {}
            try:
                record = parse_line(line)
                document = jsonlines.read_record(record, source, number, count)
            except FATAL:
                raise
            except Exception as error:
                self._fail(jsonlines.find_name(record) or f"{source.stem}#{count}", one, error, number)
            else:
                yield document

    def _fail(self, name: str, one: FileRange, error: Exception, line: int | None = None) -> None:
        if isinstance(error, DataError):
            line, reason = line or error.line, str(replace(error, path=None, line=None))
        elif isinstance(error, MemoryError):
            reason = "there is not enough memory for it"
        else:
            reason = f"{type(error).__name__}: {error}"
        self.failures.append(Failure(name, one.name, line, reason))


def parse_line(line: bytes) -> dict[str, Any]:
    """Parse a JSON line."""
    if len(line) >= LONGEST_LINE:
        raise DataError(f"this line has more than {LONGEST_LINE >> 20} MB")
    try:
        text = line.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError("this is not UTF-8 text", hint="Convert the file to UTF-8 first") from error
    return jsonlines.parse_line(text)


def group_documents(
    documents: Iterator[tuple[FileRange, Document]], most: int = MOST_TOGETHER, tokens: int = MOST_TOKENS
) -> Iterator[list[tuple[FileRange, Document]]]:
    """Group consecutive documents that may be in memory together; a long one is a group of its own."""
    group: list[tuple[FileRange, Document]] = []
    for pair in documents:
        if group and (len(group) == most or sum(len(one) for _, one in [*group, pair]) > tokens):
            yield group
            group = []
        group.append(pair)
    if group:
        yield group
