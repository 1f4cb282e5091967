from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from entitynlm.interfaces.cli import app


def test_the_demo_shows_the_example_the_corpus_and_how_hard_it_is(tmp_path: Path) -> None:
    figures = tmp_path / "demo.json"
    result = CliRunner().invoke(app, ["demo", "--documents", "30", "--json", str(figures)])
    assert result.exit_code == 0, result.output
    assert "[John]₁ wanted to go to [the coffee shop]₂ in [downtown Copenhagen]₃ ." in result.output
    assert "E   1      ∅     ∅   ∅   ∅    2     2      2    ∅      3          3       ∅" in result.output
    assert "generated" in result.output
    assert "knows the script" in result.output
    assert "\x1b[" not in result.output
    written = json.loads(figures.read_text())
    assert sum(split["documents"] for split in written["splits"].values()) == 30
    assert "generated" in written["corpus"]


def test_colours_can_be_asked_for() -> None:
    result = CliRunner().invoke(app, ["demo", "--documents", "10", "--colour"])
    assert "\x1b[1;31mJohn" in result.output


def test_the_same_seed_gives_the_same_figures() -> None:
    first, second, other = (
        CliRunner()
        .invoke(app, ["demo", "--documents", "10", "--seed", seed, "--json", "-", "--quiet"])
        .stdout
        for seed in ("4", "4", "5")
    )
    assert json.loads(first) == json.loads(second)
    assert json.loads(first)["splits"] != json.loads(other)["splits"]
