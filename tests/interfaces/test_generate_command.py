"""``entitynlm generate`` as people call it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces.cli import app
from support.small_model import STORY, store_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_model(tmp_path_factory.mktemp("model"))


def run(model: Path, *arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, ["generate", "--model", str(model), *map(str, arguments)], input=text)


def test_a_story_from_nothing(model: Path) -> None:
    result = run(model, "--cast", "Ann, Old Bo", "--no-new-entities", "--next-entity", "Ann", "-w", 30)
    assert result.exit_code == 0, result.output
    assert "[Ann]₁" in result.stdout and "who is who:  1 Ann" in result.stdout


def test_a_text_goes_on_in_several_ways(model: Path, tmp_path: Path) -> None:
    file, figures, out = tmp_path / "story.txt", tmp_path / "told.json", tmp_path / "told.txt"
    file.write_text(STORY)
    result = run(model, file, "-n", 3, "--sentences", 2, "--json", figures, "--out", out)
    assert result.exit_code == 0, result.output
    assert "── 3 of 3" in result.stdout
    generated = json.loads(figures.read_text())["continuations"]
    assert len(generated) == 3
    for continuation in generated:
        for mention in continuation["mentions"]:
            assert continuation["text"][mention["start"] : mention["end"]] == mention["text"]
    assert out.read_text() == "\n\n".join(continuation["text"] for continuation in generated) + "\n"


def test_plain_text_from_standard_input(model: Path) -> None:
    result = run(model, "-", "--plain", "--seed", 4, text="Ann saw")
    assert result.exit_code == 0, result.output
    assert "[" not in result.stdout and "who is who" not in result.stdout
    assert result.stdout == run(model, "-", "--plain", "--seed", 4, text="Ann saw").stdout


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["-"], DataError, "no word to go on from"),
        (["--next-entity", "Zoe"], ConfigError, "no entity is called"),
        (["--temperature", "0"], ConfigError, "temperature"),
        (["--top-p", "2"], ConfigError, "top-p"),
        (["missing.txt"], DataError, "no such file"),
    ],
)
def test_wrong_input_is_told(model: Path, arguments: list[str], error: type[Exception], message: str) -> None:
    result = run(model, *arguments, text="")
    assert isinstance(result.exception, error) and message in str(result.exception)
