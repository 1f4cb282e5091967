"""``entitynlm reproduce`` without a task: three tables from nothing, and one report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from entitynlm.errors import ConfigError
from entitynlm.interfaces.cli import app


def test_the_verbs_of_single_tasks_are_still_there() -> None:
    for arguments in (
        ["reproduce", "--help"],
        ["reproduce", "lm", "--help"],
        ["reproduce", "coref", "--help"],
    ):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0 and "--corpus" in result.output


def test_an_unknown_task_is_told() -> None:
    result = CliRunner().invoke(app, ["reproduce", "--tasks", "lm,parsing"])
    assert isinstance(result.exception, ConfigError) and "parsing" in str(result.exception)


@pytest.mark.slow
def test_all_three_tables_from_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    small = ["--documents", "60", "--set", "training.epochs=1", "--samples", "3", "--k", "5"]
    rows = ["--rows", "always-new,entitynlm"]
    arguments = ["reproduce", "--out", str(out), *small, *rows, "--json", str(tmp_path / "all.json")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert [table["task"] for table in json.loads((tmp_path / "all.json").read_text())["tables"]] == [
        "lm",
        "coref",
        "entity",
    ]
    assert (out / "tables.html").exists() and "paper (CoNLL-2012 test)" in (out / "tables.md").read_text()
