"""A worker: one shard after the other, from its documents to its outputs and its record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from entitynlm.errors import DataError
from entitynlm.files import write_text
from entitynlm.interfaces.batch.folder import FAILED, SHARDS, JobFolder, Record, describe_inputs
from entitynlm.interfaces.batch.reading import FATAL, Failure, describe, group_documents, read_shard
from entitynlm.interfaces.batch.shards import Shard, Stretch
from entitynlm.interfaces.batch.tasks import Task
from entitynlm.interfaces.suitability import find_doubt
from entitynlm.text.document import Document

MOST_REMARKS = 5


@dataclass
class Worker:
    """Does shards of a job.

    :param advance: is called after each document.
    """

    task: Task
    out: Path
    format: str | None = None
    advance: Callable[[int], None] | None = None

    def process(self, shard: Shard) -> Record:
        """Do a shard, and note that it is done."""
        folder = JobFolder(self.out, self.task.endings)
        found = Record(shard.name, describe_inputs(shard), shard.digest, 0, 0, 0)
        tally = _Tally(found)
        paths = [Path(f"{folder.place(SHARDS, shard.name)}{ending}") for ending in self.task.endings]
        self.task.write(self._compute(shard, tally), paths)
        if tally.failures:
            side = Path(f"{folder.place(FAILED, shard.name)}.{FAILED}.jsonl")
            lines = (json.dumps(asdict(each), ensure_ascii=False) for each in tally.failures)
            write_text(side, "".join(f"{line}\n" for line in lines))
            paths.append(side)
        return folder.write_record(tally.record(), paths)

    def _compute(self, shard: Shard, tally: _Tally) -> Iterator[Any]:
        documents = read_shard(shard, tally.fail, format=self.format, on_oddity=tally.remark)
        for group in group_documents(documents):
            with suppress(Exception):  # if it fails for them together, the one that fails is found below
                self.task.prepare([document for _, document in group])
            for stretch, document in group:
                result = self._try(stretch, document, tally)
                if self.advance is not None:
                    self.advance(1)
                if result is not None:
                    yield result

    def _try(self, stretch: Stretch, document: Document, tally: _Tally) -> Any:
        try:
            result = self.task.compute(document)
        except (*FATAL, OSError):
            raise
        except Exception as error:
            line = error.line if isinstance(error, DataError) else None
            tally.fail(Failure(document.id, stretch.name, line, describe(error)))
            return None
        doubtful = self.task.pretrained is not None and find_doubt(document, self.task.pretrained.encoder)
        tally.count(document, bool(doubtful))
        return result


@dataclass
class _Tally:
    """Counts of a shard while it is done."""

    start: Record
    documents: int = 0
    tokens: int = 0
    doubtful: int = 0
    failures: list[Failure] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def count(self, document: Document, doubtful: bool) -> None:
        self.documents += 1
        self.tokens += len(document)
        self.doubtful += doubtful

    def fail(self, failure: Failure) -> None:
        self.failures.append(failure)

    def remark(self, oddity: object) -> None:
        if len(self.remarks) < MOST_REMARKS:
            self.remarks.append(str(oddity))

    def record(self) -> Record:
        return replace(
            self.start,
            documents=self.documents,
            failed=len(self.failures),
            tokens=self.tokens,
            doubtful=self.doubtful,
            remarks=self.remarks,
        )
