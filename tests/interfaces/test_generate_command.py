"""``entitynlm generate`` as people call it."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces.cli import app
from entitynlm.model.pretrained import save_pretrained
from support.prose_model import make_prose_model
from support.small_model import STORY


def run(model: Path, *arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, ["generate", "--model", str(model), *map(str, arguments)], input=text)


def test_a_closed_vocabulary_answers_with_the_plan(model: Path, tmp_path: Path) -> None:
    file, figures, out = tmp_path / "story.txt", tmp_path / "plan.json", tmp_path / "plan.tsv"
    file.write_text(STORY)
    result = run(model, file, "--cast", "Ann, Old Bo", "--json", figures, "--out", out)
    assert result.exit_code == 0, result.output
    assert "mentioned next" in result.stdout and "closed vocabulary" in result.stderr
    plan = json.loads(figures.read_text())["plan"]
    assert "Old Bo" in {row["name"] for row in plan} and sum(row["probability"] for row in plan) > 0.999
    assert len(out.read_text().splitlines()) == len(plan) + 1
    asked = run(model, file, "--cast", "Ann, Old Bo", "--plan")
    assert asked.stdout == result.stdout and "closed vocabulary" not in asked.stderr


def test_prose_is_written_with_its_mentions(tmp_path: Path) -> None:
    save_pretrained(make_prose_model(tmp_path / "lm"), tmp_path / "model")
    figures, out = tmp_path / "told.json", tmp_path / "told.txt"
    words = ("-n", 2, "--cast", "Zoe", "-w", 6, "--json", figures, "--out", out, "--force")
    result = run(tmp_path / "model", *words)
    assert result.exit_code == 0, result.output
    assert "── 2 of 2" in result.stdout
    generated = json.loads(figures.read_text())["continuations"]
    for continuation in generated:
        for mention in continuation["mentions"]:
            assert continuation["text"][mention["start"] : mention["end"]] == mention["text"]
    assert out.read_bytes().decode() == "\n\n".join(continuation["text"] for continuation in generated) + "\n"
    plain = run(tmp_path / "model", *words, "--plain")
    assert "who is who" not in plain.stdout and generated[0]["text"].split()[0] in plain.stdout


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["-"], DataError, "there is no word in it"),
        (["--plan", "--next-entity", "Zoe"], ConfigError, "can't be combined"),
        (["--temperature", "0"], ConfigError, "temperature"),
        (["--top-p", "2"], ConfigError, "top-p"),
        (["missing.txt"], DataError, "no such file"),
    ],
)
def test_wrong_input_is_told(model: Path, arguments: list[str], error: type[Exception], message: str) -> None:
    result = run(model, *arguments, text="")
    assert isinstance(result.exception, error) and message in str(result.exception)
