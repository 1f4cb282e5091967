"""Figures about texts."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces.cli import app
from entitynlm.interfaces.figures import average, draw_sweep
from support.small_model import STORY, store_model

STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_model(tmp_path_factory.mktemp("model"))


def run(kind: str, model: Path, *arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, ["plot", kind, "--model", str(model), *map(str, arguments)], input=text)


@pytest.mark.parametrize("ending", STARTS)
@pytest.mark.parametrize("kind", ["surprisal", "timeline"])
def test_figures_of_a_text(kind: str, ending: str, model: Path, tmp_path: Path) -> None:
    out = tmp_path / f"figure{ending}"
    result = run(kind, model, "--samples", 3, "--out", out, text=STORY)
    assert result.exit_code == 0, result.output
    assert out.read_bytes().startswith(STARTS[ending])


def test_a_long_text_is_averaged(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "long.svg"
    assert run("surprisal", model, "--samples", 2, "--out", out, text=STORY * 12).exit_code == 0
    assert average(np.array([1.0, 2.0, 3.0, 8.0]), 3).tolist() == [1.5, 2.0, 13 / 3, 5.5]


@pytest.mark.parametrize(
    ("kind", "arguments", "error", "message"),
    [
        ("surprisal", ["--out", "x.gif"], ConfigError, "ends in one of"),
        ("timeline", ["missing.txt"], DataError, "no such file"),
    ],
)
def test_wrong_input_is_told(
    kind: str, arguments: list[str], error: type[Exception], message: str, model: Path
) -> None:
    result = run(kind, model, *arguments, text=STORY)
    assert isinstance(result.exception, error) and message in str(result.exception)


def test_nothing_to_draw(model: Path) -> None:
    empty = run("surprisal", model, text=". . .")
    assert isinstance(empty.exception, ConfigError) and "no word" in str(empty.exception)


def test_a_sweep_has_no_half_trials_or_epochs() -> None:
    pytest.importorskip("matplotlib")
    trials = [
        SimpleNamespace(
            number=number,
            state=SimpleNamespace(name=state),
            params={"model.dropout": 0.1 * number},
            intermediate_values={1: 5.0 - number, 2: 4.0 - number},
        )
        for number, state in enumerate(("COMPLETE", "PRUNED", "COMPLETE"))
    ]
    for axis in draw_sweep(trials)["losses"].axes:
        low, high = axis.get_xlim()
        assert [tick for tick in axis.get_xticks() if low <= tick <= high and tick != round(tick)] == []
