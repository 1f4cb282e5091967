"""Small batch jobs that run in this process: shard after shard, by the functions that workers use."""

from __future__ import annotations

import json
import random
from pathlib import Path

from entitynlm.interfaces.batch.job import JobFolder, Worker
from entitynlm.interfaces.batch.shards import Limits, plan_shards
from entitynlm.interfaces.batch.tasks import Task
from entitynlm.interfaces.commands.batch import describe_job

NAMES = ("Ann", "Bo", "Zoe")


def write_corpus(folder: Path, documents: int = 12) -> Path:
    """A folder with texts, JSON lines (some of them broken), an empty file and one that is not UTF-8."""
    drawn = random.Random(1)

    def tell() -> str:
        return " ".join(f"{drawn.choice(NAMES)} saw {drawn.choice(NAMES)}. She ran." for _ in range(3))

    (folder / "below").mkdir(parents=True)
    for number in range(documents // 3):
        (folder / "below" / f"text{number}.txt").write_text(tell(), encoding="utf-8")
    lines = [json.dumps({"id": f"line{number}", "text": tell()}) for number in range(documents)]
    lines[2:2] = ["", '{"id": "wordless"}', '{"broken']
    (folder / "news.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "latin.txt").write_bytes("Ann caf\xe9".encode("latin-1"))
    return folder


def run_job(task: Task, corpus: Path, out: Path, limits: Limits = Limits(3)) -> list[str]:
    """Do what is left of a job; the names of the shards that were done now."""
    folder, job = JobFolder(out), describe_job(task, None)
    shards = plan_shards([str(corpus)], limits, apart_from=out)
    with folder.open(job, shards) as (records, _):
        pending = [shard for shard in shards if shard.name not in records]
        worker = Worker(task, folder.path)
        for shard in pending:
            records[shard.name] = worker.process(shard)
            folder.add(records[shard.name])
        folder.finish(job, [records[shard.name] for shard in shards])
    return [shard.name for shard in pending]


def read_folder(out: Path) -> dict[str, bytes]:
    """All files of a job, but for the lock."""
    files = (path for path in out.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}
