from __future__ import annotations

import json
from pathlib import Path

from click.testing import Result
from typer.testing import CliRunner

from entitynlm.interfaces.cli import app


def run(model: Path, folder: Path, *arguments: str) -> Result:
    options = ["demo", "--model", str(model), "--out", str(folder / "report.html"), *arguments]
    return CliRunner().invoke(app, options)


def test_the_demo_shows_the_example_and_the_story(model: Path, tmp_path: Path) -> None:
    figures = tmp_path / "demo.json"
    result = run(model, tmp_path, "--json", str(figures))
    assert result.exit_code == 0, result.output
    assert "[John]₁ wanted to go to [the coffee shop]₂ in [downtown Copenhagen]₃ ." in result.output
    assert "E   1      ∅     ∅   ∅   ∅    2     2      2    ∅      3          3       ∅" in result.output
    assert "The Captain's Visitor" in result.output
    assert "report.html" in result.output.replace("\n", "") and (tmp_path / "report.html").exists()
    assert "\x1b[" not in result.output
    written = json.loads(figures.read_text())
    assert written["tokens"] == 226


def test_colours_can_be_asked_for(model: Path, tmp_path: Path) -> None:
    result = run(model, tmp_path, "--colour")
    assert "\x1b[1;31mJohn" in result.output
