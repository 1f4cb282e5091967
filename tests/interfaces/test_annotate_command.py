"""``entitynlm annotate`` as people call it: a view, formats, folders, standard input, odd and wrong input."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.errors import ConfigError, DataError, ModelError
from entitynlm.interfaces.cli import app
from entitynlm.text.formats.registry import read_documents
from support.small_model import STORY


def run(model: Path, *arguments: object, text: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, ["annotate", "--model", str(model), *map(str, arguments)], input=text)


def test_the_view_shows_the_text_and_the_cast(model: Path) -> None:
    result = run(model, text=STORY)
    assert result.exit_code == 0, result.output
    assert "]₁" in result.stdout and "first called" in result.stdout
    assert "tokens/s" in result.stderr


@pytest.mark.parametrize("form", ["jsonl", "conllu", "conll2012"])
def test_formats_on_standard_output_can_be_read_again(model: Path, tmp_path: Path, form: str) -> None:
    result = run(model, "--to", form, "--quiet", text=STORY)
    assert result.exit_code == 0, result.output
    file = tmp_path / "again"
    file.write_text(result.stdout, encoding="utf-8")
    (document,) = read_documents(file, form)
    assert document.tokens[:3] == ("Ann", "saw", "Bo") and document.mentions


def test_many_files_into_a_folder(model: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(STORY, encoding="utf-8")
    figures = tmp_path / "figures.json"
    result = run(model, tmp_path / "*.txt", "--out", tmp_path / "out", "--json", figures)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["a.jsonl", "b.jsonl"]
    summary = json.loads(figures.read_text())["documents"]
    assert [item["tokens"] for item in summary] == [15, 15]
    first = summary[0]["entities"][0]["mentions"][0]
    assert STORY.split()[first["start"]].startswith(first["text"].split()[0])


def test_the_ending_of_a_file_is_its_format(model: Path, tmp_path: Path) -> None:
    result = run(model, "--out", tmp_path / "story.conllu", text=STORY)
    assert result.exit_code == 0, result.output
    assert next(iter(read_documents(tmp_path / "story.conllu", "conllu"))).mentions
    assert isinstance(run(model, "--out", tmp_path / "story.doc", text=STORY).exception, ConfigError)


def test_scores(model: Path) -> None:
    result = run(model, "--with-scores", "--json", "-", "--quiet", text=STORY)
    assert result.exit_code == 0, result.output
    entities = json.loads(result.stdout)["documents"][0]["entities"]
    assert all(0 <= m["confidence"] <= 1 for entity in entities for m in entity["mentions"])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ann",
        "\ufeffAnn saw Bo.\r\nShe ran.\r\n",
        "😀 Ann 🐈 ran.",
        "安娜看见了他。她跑了。",
        "x" * 3000,
        "\n \n",
    ],
)
def test_odd_texts_give_a_result_or_a_remark(model: Path, text: str) -> None:
    result = run(model, "--to", "jsonl", text=text)
    assert result.exit_code == 0, result.output
    assert result.exception is None


def test_what_is_no_text_is_refused_with_a_reason(model: Path, tmp_path: Path) -> None:
    binary = tmp_path / "picture.txt"
    binary.write_bytes(b"\x89PNG\x00\x01\x02" * 50)
    assert isinstance(run(model, binary).exception, DataError)
    assert isinstance(run(model, tmp_path / "nowhere.txt").exception, DataError)
    assert isinstance(run(tmp_path / "nothing", text=STORY).exception, ModelError)
    assert isinstance(run(model, "--to", "inscript", text=STORY).exception, ConfigError)
