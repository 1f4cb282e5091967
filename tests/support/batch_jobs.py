"""Small batch jobs that run in this process: shard after shard, by the functions that workers use."""

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

from entitynlm.interfaces.batch.job import (
    MANIFEST,
    Worker,
    add_record,
    keep_whole,
    open_job,
    plan_shards,
    write_lines,
)
from entitynlm.interfaces.commands.characters import CharacterOptions, list_tables
from entitynlm.interfaces.options import ModelOptions
from entitynlm.interfaces.outputs import write_tables

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
    (folder / "latin.txt").write_bytes("Ann’s naïve café".encode() + b"\xe9")
    return folder


def make_worker(model: Path, out: Path) -> Worker:
    """A worker that lists characters."""
    endings = (".characters.tsv", ".quotations.tsv")
    write = partial(write_tables, list_tables=list_tables, kind="tsv")
    return Worker(
        ModelOptions(str(model), "cpu", 1), out, None, endings, CharacterOptions(least=1).list, write
    )


def run_job(model: Path, corpus: Path, out: Path, settings: dict[str, Any] | None = None) -> list[str]:
    """Do what is left of a job with three documents a shard; the names of the shards that were done now."""
    settings, worker = settings or {"verb": "characters"}, make_worker(model, out)
    with open_job(out, settings) as before:
        shards = plan_shards([str(corpus)], 3, out=out)
        records = keep_whole(out, before, shards)
        write_lines(out / MANIFEST, [settings, *records.values()])
        pending = [shard for shard in shards if shard.name not in records]
        for shard in pending:
            records[shard.name] = worker.process(shard)
            add_record(out, records[shard.name])
        write_lines(out / MANIFEST, [settings, *(records[shard.name] for shard in shards)])
    return [shard.name for shard in pending]


def read_folder(out: Path) -> dict[str, bytes]:
    """All files of a job, but for the lock."""
    files = (path for path in out.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}
