"""The folder of a job: done once, done again where the input changed, refused where the settings did, safe from kill -9."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.files import hash_file
from entitynlm.interfaces.batch.job import ShardRecord, keep_whole, open_job, read_job
from support.batch_jobs import read_folder, run_job, write_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "in")


def test_a_finished_job_is_not_done_again(model: Path, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert len(run_job(model, corpus, out)) == 11
    before = read_folder(out)
    assert run_job(model, corpus, out) == [] and read_folder(out) == before
    found = read_job(out)
    assert found is not None
    settings, records = found
    assert settings == {"verb": "characters"} and len(records) == 11
    assert [sum(getattr(one, name) for one in records) for name in ("documents", "failed")] == [16, 3]
    for record in records:
        assert all(hash_file(out / file) == digest for file, digest in record.outputs.items())
    failed = {name for name in before if name.startswith("failed/")}
    assert failed == {f"failed/{name}.failed.jsonl" for name in ("latin", "news-00000", "news-00001")}


def test_changed_input_is_done_again_and_what_is_gone_leaves(
    model: Path, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    run_job(model, corpus, out)
    text = (corpus / "news.jsonl").read_text(encoding="utf-8")
    (corpus / "news.jsonl").write_text(text.replace("line7", "line-seven"), encoding="utf-8")
    assert len(run_job(model, corpus, out)) == 1
    (corpus / "news.jsonl").write_text("".join(text.splitlines(keepends=True)[:5]), encoding="utf-8")
    run_job(model, corpus, out)
    run_job(model, corpus, tmp_path / "fresh")
    assert read_folder(out) == read_folder(tmp_path / "fresh")


@pytest.mark.parametrize("damage", ["output", "a line of the manifest"])
def test_what_is_damaged_is_made_again(model: Path, corpus: Path, tmp_path: Path, damage: str) -> None:
    out = tmp_path / "out"
    run_job(model, corpus, out)
    before = read_folder(out)
    if damage == "output":
        output = out / "shards" / "news-00002.characters.tsv"
        output.write_bytes(output.read_bytes()[::-1])
    else:
        lines = before["manifest.jsonl"].decode().splitlines(keepends=True)
        kept = [line for line in lines if '"news-00002"' not in line]
        (out / "manifest.jsonl").write_text("".join(kept) + '{"name": "news-0')
    (out / "shards" / ".news-00002.characters.tsv.abc.part").write_text("half")
    (out / "shards" / "notes.md").write_text("a file of the user's own")
    assert run_job(model, corpus, out) == ["news-00002"]
    assert read_folder(out) == {**before, "shards/notes.md": b"a file of the user's own"}


def test_a_job_that_was_killed_before_it_said_what_it_is(tmp_path: Path) -> None:
    (tmp_path / ".manifest.jsonl.a1b2.part").write_text("{")
    with open_job(tmp_path, {}):
        assert not list(tmp_path.glob("*.part"))


def test_other_settings_are_refused(model: Path, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run_job(model, corpus, out, {"kind": "tsv", "least": 1})
    with pytest.raises(ConfigError, match=r"other settings \(kind tsv → csv\).*remove this one"):
        run_job(model, corpus, out, {"kind": "csv", "least": 1})
    (out / "notes.md").write_text("a file of the user's own")
    with open_job(out, {"kind": "tsv", "least": 1}) as before:
        keep_whole(out, before, [])
        assert set(read_folder(out)) == {"manifest.jsonl", "notes.md"}


def test_folders_of_others(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(DataError, match="no batch job"), open_job(tmp_path / "mine", {}):
        pass
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"
    out, message = tmp_path / "out", "another batch job is working"
    with open_job(out, {}), pytest.raises(DataError, match=message), open_job(out, {}):
        pass
    (out / "manifest.jsonl").write_text("nonsense")
    with pytest.raises(DataError, match="this job can't be read"):
        read_job(out)


KILLS = """
import json, os, random, signal, sys, time
from pathlib import Path
from entitynlm.files import hash_file
from entitynlm.interfaces.batch.job import read_job
from support.batch_jobs import read_folder, run_job, write_corpus
from support.small_model import store_model

base, kills = Path(sys.argv[1]), int(sys.argv[2])
corpus = write_corpus(base / "in", 30)
model = store_model(base / "model")
run_job(model, corpus, base / "warm")
started = time.perf_counter()
run_job(model, corpus, base / "whole")
seconds = time.perf_counter() - started
drawn, moments = random.Random(7), []
while len(moments) < kills:
    out = base / f"out{len(moments)}"
    for _ in range(3):  # and again, after it was killed
        child = os.fork()
        if child == 0:
            run_job(model, corpus, out)
            os._exit(0)
        time.sleep(drawn.random() * seconds)
        os.kill(child, signal.SIGKILL)
        killed = os.WIFSIGNALED(os.waitpid(child, 0)[1])
        found = read_job(out)
        records = found[1] if found else []
        for record in records:
            assert all(hash_file(out / file) == digest for file, digest in record.outputs.items())
        if killed:
            moments.append(len(records))
    run_job(model, corpus, out)
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


def test_a_changed_manifest_removes_nothing_outside(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    (tmp_path / "mine").write_text("mine")
    record = ShardRecord("a", "a.txt", "0", outputs={"../mine": "0"})
    assert keep_whole(tmp_path / "job", [record], []) == {} and (tmp_path / "mine").exists()
