"""No verb writes over a file that it reads, nor over an existing one without ``--force``, nor two outputs to one file."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.api import as_document
from entitynlm.errors import ConfigError, DataError, EntityNLMError
from entitynlm.interfaces.cli import VERBS, app
from entitynlm.text.formats.registry import write_documents

TEXT = "Ann saw Bo. She ran.\n"
QUICK = ["--samples", "2", "--repeats", "1"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "story.txt").write_text(TEXT)
    write_documents([as_document(TEXT, id="a").with_clusters([[(0, 1), (4, 5)]])], "story.jsonl", "jsonl")
    write_documents([as_document(TEXT, id="a").with_clusters([[(0, 1), (4, 5)]])], "story.conll", "conll2012")
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(app, words)


OVER_THE_INPUT = [  # {model} is a small one; the last word is the file that must stay as it is
    "surprisal story.txt --samples 2 --repeats 1 --model {model} --out story.txt",
    "surprisal story.txt --samples 2 --repeats 1 --model {model} --force --out ./story.txt",
    "surprisal story.txt --samples 2 --repeats 1 --model {model} --json story.txt",
    "surprisal --items story.txt --samples 2 --repeats 1 --model {model} --force --out story.txt",
    "surprisal --items story.txt --samples 2 --repeats 1 --model {model} --force --json story.txt",
    "report story.txt --samples 2 --repeats 1 --model {model} --out story.txt",
    "generate story.txt --words 3 --model {model} --out story.txt",
    "annotate story.jsonl --model {model} --to jsonl --out story.jsonl",
    "annotate story.jsonl --model {model} --to jsonl --force --out story.jsonl",
    "annotate story.jsonl --model {model} --json story.jsonl",
    "annotate story.jsonl --model {model} --to jsonl --out . -q --force story.jsonl",
    "predict-entity story.jsonl --model {model} --out story.jsonl",
    "score story.conll story.conll --json story.conll",
    "data convert story.jsonl --to jsonl story.jsonl",
    "data stats story.jsonl --json story.jsonl",
]


@pytest.mark.parametrize("line", OVER_THE_INPUT)
def test_no_verb_writes_over_what_it_reads(line: str, folder: Path, model: Path) -> None:
    words = line.format(model=model).split()
    kept = Path(words[-1])
    before = kept.read_bytes()
    result = run(*words)
    assert isinstance(result.exception, DataError), result.output
    assert "reads that file" in str(result.exception) or "such a file already" in str(result.exception)
    assert kept.read_bytes() == before


def test_links_to_the_input_are_recognised(folder: Path, model: Path) -> None:
    (folder / "link.txt").symlink_to("story.txt")
    os.link("story.txt", "hard.txt")
    for name in ("link.txt", "hard.txt"):
        result = run("generate", "story.txt", "--words", "2", "--model", str(model), "--out", name, "--force")
        assert "reads that file" in str(result.exception)
    assert (folder / "story.txt").read_text() == TEXT


def test_an_existing_file_needs_force(folder: Path, model: Path) -> None:
    (folder / "mine.html").write_text("my page")
    command = ["report", "story.txt", *QUICK, "--model", str(model), "--out", "mine.html"]
    result = run(*command)
    assert "--force" in str(result.exception) and (folder / "mine.html").read_text() == "my page"
    assert run(*command, "--force").exit_code == 0


def test_two_outputs_are_two_files(folder: Path, model: Path) -> None:
    result = run("report", "story.txt", "--model", str(model), "--out", "new.html", "--json", "./new.html")
    assert isinstance(result.exception, ConfigError) and not (folder / "new.html").exists()


def test_the_second_table_beside_the_first_is_checked_before_anything_is_measured(
    folder: Path, model: Path
) -> None:
    (folder / "a.mentions.tsv").write_text("mine")
    result = run("surprisal", "story.txt", *QUICK, "--model", str(model), "--out", "a.tsv")
    assert "a.mentions.tsv" in str(result.exception)
    assert not (folder / "a.tsv").exists() and (folder / "a.mentions.tsv").read_text() == "mine"


@pytest.mark.parametrize("to", ["jsonl", "conllu"])
def test_files_in_a_folder_are_checked_one_by_one(to: str, folder: Path, model: Path) -> None:
    out = folder / "out"
    command = ["annotate", "story.txt", "--model", str(model), "--to", to, "--out", f"{out}/"]
    assert run(*command).exit_code == 0
    written = sorted(out.rglob("story*"))[0]
    written.write_text(written.read_text() + " \n")
    result = run(*command)
    assert isinstance(result.exception, DataError) and "--force" in str(result.exception)
    assert written.read_text().endswith(" \n")


def test_a_trained_model_is_not_replaced(folder: Path, model: Path) -> None:
    result = run("train", "story.jsonl", "--out", str(model))
    assert isinstance(result.exception, EntityNLMError) and "--force" in str(result.exception)


def test_a_device_stays_a_device(folder: Path, model: Path) -> None:
    before = Path("/dev/null").stat().st_mode
    assert run("generate", "--words", "2", "--model", str(model), "--out", "/dev/null").exit_code == 0
    assert Path("/dev/null").stat().st_mode == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "line", ["--version", "--help", "models", "data list", "score story.conll story.conll",
             "annotate story.txt", "annotate story.txt --to jsonl", "surprisal story.txt --samples 2 --repeats 1",
             "predict-entity story.jsonl", "generate --words 3", "report story.txt --samples 2 --repeats 1"]
)  # fmt: skip
@pytest.mark.parametrize("where", ["standard output", "--json"])
def test_a_full_disk_is_one_line(line: str, where: str, folder: Path, model: Path) -> None:
    words = line.split()
    if words[0] in ("annotate", "surprisal", "predict-entity", "generate", "report"):
        words += ["--model", str(model)]
    if where == "--json" and not words[0].startswith("--"):
        words += ["--json", "/dev/full"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
        [sys.executable, "-m", "entitynlm.interfaces.cli", *words],
        stdout=full if "--json" not in words else subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "No space left on device" in done.stderr and "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert [
        line for line in done.stderr.splitlines() if line.startswith("error")
    ] == done.stderr.splitlines()[-1:]


def test_every_verb_has_force(folder: Path) -> None:
    for path in VERBS:
        help = run(*path.split(), "--help")
        assert "--force" in help.output, path
