"""The folder of a job: done once, done again where the input changed, refused where the settings did, safe from kill -9."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import hash_file
from entitynlm.interfaces.batch.job import JobFolder, Manifest
from entitynlm.interfaces.batch.tasks import ListingCharacters
from entitynlm.interfaces.options import ModelOptions
from support.batch_jobs import read_folder, run_job, write_corpus
from support.small_model import store_model


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> ListingCharacters:
    model = store_model(tmp_path_factory.mktemp("model"))
    return ListingCharacters(ModelOptions(str(model), "cpu", 1), "tsv", 1, "auto")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "in")


def test_a_finished_job_is_not_done_again(task: ListingCharacters, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run_job(task, corpus, out) == [
        "news-00000", "news-00001", "news-00002", "news-00003", "news-00004", "texts-00000", "texts-00001",
    ]  # fmt: skip
    before = read_folder(out)
    assert run_job(task, corpus, out) == [] and read_folder(out) == before
    manifest = json.loads(before["manifest.json"])
    assert (manifest["documents"], manifest["failed"], len(manifest["shards"])) == (16, 3, 7)
    for shard in manifest["shards"]:
        for output in shard["outputs"]:
            assert hash_file(out / output["file"]) == output["sha256"]
    assert {name for name in before if name.startswith("failed/")} == {
        "failed/news-00000.failed.jsonl", "failed/news-00001.failed.jsonl", "failed/texts-00000.failed.jsonl",
    }  # fmt: skip


def test_changed_input_is_done_again_and_what_is_gone_leaves(
    task: ListingCharacters, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run_job(task, corpus, out)
    text = (corpus / "news.jsonl").read_text(encoding="utf-8")
    (corpus / "news.jsonl").write_text(text.replace("line7", "line-seven"), encoding="utf-8")
    assert len(run_job(task, corpus, out)) == 1
    (corpus / "news.jsonl").write_text("".join(text.splitlines(keepends=True)[:5]), encoding="utf-8")
    run_job(task, corpus, out)
    run_job(task, corpus, tmp_path / "fresh")
    assert read_folder(out) == read_folder(tmp_path / "fresh")


@pytest.mark.parametrize("damage", ["output", "output of the same size", "a line of the journal"])
def test_what_is_damaged_is_made_again(
    task: ListingCharacters, corpus: Path, tmp_path: Path, damage: str
) -> None:
    out = tmp_path / "out"
    run_job(task, corpus, out)
    before = read_folder(out)
    output = out / "shards" / "news-00002.characters.tsv"
    if damage == "output":
        output.write_text("cut")
    elif damage == "output of the same size":
        output.write_bytes(output.read_bytes()[::-1])
    else:
        manifest = json.loads((out / "manifest.json").read_text())
        shards = [shard for shard in manifest.pop("shards") if shard["name"] != "news-00002"]
        lines = [json.dumps(line) + "\n" for line in (manifest, *shards)]
        (out / "journal.jsonl").write_text("".join(lines) + '{"name": "news-0')
        (out / "manifest.json").unlink()
    assert run_job(task, corpus, out) == ["news-00002"]
    assert read_folder(out) == before


def test_leftovers_of_a_killed_process(task: ListingCharacters, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_job(task, corpus, out)
    before = read_folder(out)
    (out / "shards" / ".news-00002.characters.tsv.abc.part").write_text("half")
    (out / "shards" / "notes.md").write_text("somebody's own")
    run_job(task, corpus, out)
    assert read_folder(out) == {**before, "shards/notes.md": b"somebody's own"}


JOB = Manifest("0.1", "annotate", "m", "", "cpu", None, {})


def test_a_job_that_was_killed_before_it_said_what_it_is(tmp_path: Path) -> None:
    (tmp_path / ".journal.jsonl.a1b2.part").write_text("{")
    with JobFolder(tmp_path).open(JOB, []):
        assert not list(tmp_path.glob("*.part"))


def test_other_settings_are_refused(task: ListingCharacters, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_job(task, corpus, out)
    other = ListingCharacters(task.model, "csv", 1, "auto")
    with pytest.raises(ConfigError, match=r"other settings \(settings .*'tsv'.* → .*'csv'.*--restart"):
        run_job(other, corpus, out)
    (out / "notes.md").write_text("somebody's own")
    with JobFolder(out).open(JOB, [], restart=True):
        assert set(read_folder(out)) == {"journal.jsonl", "notes.md"}


def test_folders_of_others(task: ListingCharacters, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    for restart in (False, True):
        folder = JobFolder(tmp_path / "mine")
        with pytest.raises(DataError, match="no batch job"), folder.open(JOB, [], restart=restart):
            pass
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"
    first, second = JobFolder(tmp_path / "out"), JobFolder(tmp_path / "out")
    message = "another batch job is working"
    with first.open(JOB, []), pytest.raises(DataError, match=message), second.open(JOB, []):
        pass
    (tmp_path / "out" / "manifest.json").write_text("nonsense")
    with pytest.raises(DataError, match="this job can't be read"):
        first.check(JOB)


KILLS = """
import json, os, random, signal, sys, time
from pathlib import Path
from entitynlm.files import hash_file
from entitynlm.interfaces.batch.job import JobFolder
from entitynlm.interfaces.batch.tasks import ListingCharacters
from entitynlm.interfaces.options import ModelOptions
from support.batch_jobs import read_folder, run_job, write_corpus
from support.small_model import store_model

base, kills = Path(sys.argv[1]), int(sys.argv[2])
corpus = write_corpus(base / "in", 30)
task = ListingCharacters(ModelOptions(str(store_model(base / "model")), "cpu", 1), "tsv", 1, "auto")
run_job(task, corpus, base / "warm")
started = time.perf_counter()
run_job(task, corpus, base / "whole")
seconds = time.perf_counter() - started
drawn, moments = random.Random(7), []
while len(moments) < kills:
    out = base / f"out{len(moments)}"
    for _ in range(3):  # and again, after it was killed
        child = os.fork()
        if child == 0:
            run_job(task, corpus, out)
            os._exit(0)
        time.sleep(drawn.random() * seconds)
        os.kill(child, signal.SIGKILL)
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        found = JobFolder(out).read()
        records = found.shards if found else []
        for record in records:
            assert all(hash_file(out / each.file) == each.sha256 for each in record.outputs)
        if killed:
            moments.append(len(records))
    run_job(task, corpus, out)
    assert read_folder(out) == read_folder(base / "whole")
print(json.dumps(moments))
"""


def kill_often(folder: Path, kills: int) -> list[int]:
    tests = Path(__file__).parents[2]
    path = f"import sys; sys.path[:0] = [{str(tests)!r}]\n"
    done = subprocess.run(
        [sys.executable, "-c", path + KILLS, str(folder), str(kills)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    moments: list[int] = json.loads(done.stdout)
    return moments


def test_kill_at_random_moments(tmp_path: Path) -> None:
    """After each kill, what has a record is whole; in the end, all bytes are those of a job that nobody disturbed."""
    assert len(kill_often(tmp_path, 5)) >= 5


@pytest.mark.slow
def test_kill_at_many_random_moments(tmp_path: Path) -> None:
    moments = kill_often(tmp_path, 50)
    assert len(moments) >= 50 and any(moments), "some were killed when shards were done"
