from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.interfaces.cli import app
from support.small_model import store_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_model(tmp_path_factory.mktemp("model"))


def run(model: Path, folder: Path, *arguments: str) -> Result:
    options = ["demo", "--model", str(model), "--out", str(folder / "report.html"), *arguments]
    return CliRunner().invoke(app, options)


def test_the_demo_shows_the_example_and_the_story(model: Path, tmp_path: Path) -> None:
    figures = tmp_path / "demo.json"
    result = run(model, tmp_path, "--documents", "30", "--json", str(figures))
    assert result.exit_code == 0, result.output
    assert "[John]₁ wanted to go to [the coffee shop]₂ in [downtown Copenhagen]₃ ." in result.output
    assert "E   1      ∅     ∅   ∅   ∅    2     2      2    ∅      3          3       ∅" in result.output
    assert "The Captain's Visitor" in result.output
    assert "report.html" in result.output.replace("\n", "") and (tmp_path / "report.html").exists()
    assert "\x1b[" not in result.output
    written = json.loads(figures.read_text())
    assert written["tables"] is None and written["story"]["tokens"] == 226


def test_colours_can_be_asked_for(model: Path, tmp_path: Path) -> None:
    result = run(model, tmp_path, "--documents", "10", "--colour", "--no-training")
    assert "\x1b[1;31mJohn" in result.output


@pytest.mark.slow
def test_a_quick_training_makes_the_three_tables(model: Path, tmp_path: Path) -> None:
    result = run(model, tmp_path, "--documents", "100", "--json", str(tmp_path / "demo.json"))
    assert result.exit_code == 0, result.output
    tables = json.loads((tmp_path / "demo.json").read_text())["tables"]
    assert [table["task"] for table in tables] == ["lm", "coref", "entity"]
    perplexity = {row["system"]: row["figures"]["stories"]["value"] for row in tables[0]["rows"]}
    assert 5 < perplexity["EntityNLM"] < 200 and 5 < perplexity["RNNLM"] < 200
    assert tables[2]["rows"][0]["system"] == "Always new"
