"""``entitynlm batch`` as people call it: the outputs are those of the plain verbs, and failures are told of."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces.batch import job
from entitynlm.interfaces.cli import app
from entitynlm.interfaces.commands.annotate import AnnotationOptions
from support.batch_jobs import read_folder, write_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "in")


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in this process, which has loaded what new ones would load first; test_workers.py has those."""

    def run_here(worker: Any, shards: Any, workers: int) -> Iterator[Any]:
        return (worker.process(shard) for shard in shards)

    monkeypatch.setattr(job, "run_local", run_here)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.parametrize(
    ("verb", "options", "endings"),
    [
        ("annotate", [], [".jsonl"]),
        ("annotate", ["--to", "conllu", "--with-scores"], [".conllu"]),
        ("surprisal", ["--samples", 4, "--as", "csv"], [".tokens.csv", ".mentions.csv"]),
        ("characters", ["--least", 1, "--as", "csv"], [".characters.csv", ".quotations.csv"]),
    ],
)
def test_outputs_are_those_of_the_plain_verb(
    model: Path, corpus: Path, tmp_path: Path, verb: str, options: list[Any], endings: list[str]
) -> None:
    """Shard by shard, on the documents that can be read."""
    result = run("batch", verb, corpus, "--model", model, "--out", tmp_path / "out", *options)
    assert result.exit_code == 1, result.output
    assert "16 documents" in result.stdout and "3 documents failed" in result.stdout
    lines = (corpus / "news.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "news.jsonl").write_text("".join(lines[:2] + lines[5:]), encoding="utf-8")
    result = run(
        verb,
        tmp_path / "news.jsonl",
        "--model",
        model,
        "--out",
        f"{tmp_path}/plain/",
        "--threads",
        1,
        *options,
    )
    assert result.exit_code == 0, result.output
    for ending in endings:
        plain = (tmp_path / "plain" / f"news{ending}").read_bytes()
        assert (tmp_path / "out" / "shards" / f"news{ending}").read_bytes() == plain


def test_a_restart_says_what_was_done(model: Path, corpus: Path, tmp_path: Path) -> None:
    def go(*more: object) -> Result:
        return run("batch", "characters", corpus, "--model", model, "--out", tmp_path / "out", "-q", *more)

    figures = tmp_path / "figures.json"
    assert go("--json", figures).exit_code == 1
    assert json.loads(figures.read_text())["new_shards"] == 7
    before = read_folder(tmp_path / "out")
    assert go("--json", figures, "--force").exit_code == 1
    found = json.loads(figures.read_text())
    assert (found["shards"], found["new_shards"], found["failed"]) == (7, 0, 3)
    assert read_folder(tmp_path / "out") == before
    refused = go("--least", 3)
    assert isinstance(refused.exception, ConfigError) and "least 2 → 3" in str(refused.exception)
    assert read_folder(tmp_path / "out") == before


def test_the_same_command_makes_a_changed_output_anew(model: Path, corpus: Path, tmp_path: Path) -> None:
    call = ("batch", "characters", corpus, "--model", model, "--out", tmp_path / "out")
    run(*call)
    before = read_folder(tmp_path / "out")
    (tmp_path / "out" / "shards" / "news.characters.tsv").write_text("changed")
    figures = tmp_path / "figures.json"
    run(*call, "--json", figures)
    assert read_folder(tmp_path / "out") == before
    assert json.loads(figures.read_text())["new_shards"] == 1


def test_names_that_are_not_utf8(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    Path(os.fsdecode(os.fsencode(folder) + b"/na\xefve.txt")).write_text("Ann saw Bo. She ran.")
    result = run("batch", "annotate", folder, "--model", model, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "shards" / "na?ve.jsonl").is_file()


def test_a_job_without_failures_ends_well(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ann saw Bo. She ran.")
    result = run("batch", "annotate", tmp_path / "a.txt", "--model", model, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("1 document, 7 tokens in 1 shard: ") and "failed" not in result.stdout
    assert not (tmp_path / "out" / "failed").exists()


def test_documents_that_break_the_model_fail_alone(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f'{{"id": "{name}", "text": "Ann ran."}}\n' for name in "abcd"), encoding="utf-8")
    compute = AnnotationOptions.annotate

    def stumble(annotating: Any, load: Any, document: Any, *, model: str) -> Any:
        errors = {
            "b": IndexError("out of range"),
            "c": MemoryError(),
            "d": OSError(28, "No space left on device"),
        }
        if document.id in errors:
            raise errors[document.id]
        return compute(annotating, load, document, model=model)

    monkeypatch.setattr(AnnotationOptions, "annotate", stumble)
    call = ("batch", "annotate", path, "--model", model, "--out", tmp_path / "out")
    result = run(*call)
    assert isinstance(result.exception, DataError) and "No space" in str(
        result.exception
    )  # the job can't go on
    assert not list((tmp_path / "out").rglob("*.part")) and not list((tmp_path / "out").rglob("a*.jsonl"))
    path.write_text(path.read_text().replace('"d"', '"e"'))
    assert run(*call).exit_code == 1
    (side,) = (tmp_path / "out" / "failed").iterdir()
    reasons = {each["id"]: each["reason"] for each in map(json.loads, side.read_text().splitlines())}
    assert reasons == {"b": "IndexError: out of range", "c": "MemoryError: "}
    assert len((tmp_path / "out" / "shards" / "a.jsonl").read_text().splitlines()) == 2


def test_mentions_that_are_not_given(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ann saw Bo. She ran.")
    for verb, option in (
        ("annotate", ["--keep-mentions"]),
        ("surprisal", ["--mentions", "given"]),
        ("characters", ["--mentions", "given"]),
    ):
        out = tmp_path / verb
        result = run("batch", verb, tmp_path / "a.txt", "--model", model, "--out", out, *option)
        assert result.exit_code == 1, result.output
        assert f"{' '.join(option)} needs mentions" in (out / "failed" / "a.failed.jsonl").read_text()


def test_wrong_calls(model: Path, corpus: Path, tmp_path: Path) -> None:
    result = run("batch", "annotate", corpus, "--model", model, "--out", corpus)
    assert isinstance(result.exception, DataError) and "no batch job" in str(result.exception)
