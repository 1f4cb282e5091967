"""The 36 published cases of the official scorer through files, readers, metrics and the command, without the official scorer."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from entitynlm.coref.metrics.coreference import score_documents
from entitynlm.coref.metrics.documents import pair_documents
from entitynlm.interfaces.cli import app
from entitynlm.text.formats.registry import read_documents
from support.published_cases import CASES, COLUMNS, FORMS, Form, render_case


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest) -> Form:
    return request.param


@pytest.fixture(params=CASES)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture()
def files(name: str, form: Form, tmp_path: Path) -> tuple[Path, Path]:
    key, response = tmp_path / "case.key", tmp_path / "case.response"
    key.write_text(render_case(CASES[name].key, form))
    response.write_text(render_case(CASES[name].response, form))
    return key, response


def test_there_are_36_cases_with_figures_for_every_metric() -> None:
    assert len(CASES) == 36
    assert all(case.figures for case in CASES.values())
    published = {metric: sum(metric in case.figures for case in CASES.values()) for metric in COLUMNS}
    assert published == {"muc": 27, "b3": 17, "ceafm": 11, "ceafe": 11, "lea": 36, "blanc": 27}


def test_the_readers_and_the_metrics_give_the_published_figures(name: str, files: tuple[Path, Path]) -> None:
    key, response = files
    counts = score_documents(*pair_documents(read_documents(key), read_documents(response)))
    found = {metric: counts.score(metric) for metric in CASES[name].figures}
    figures = {metric: (s.recall / 100, s.precision / 100, s.f1 / 100) for metric, s in found.items()}
    assert figures == {
        metric: pytest.approx(values, abs=1e-9) for metric, values in CASES[name].figures.items()
    }


def test_the_command_gives_the_published_figures(name: str, files: tuple[Path, Path]) -> None:
    result = CliRunner().invoke(app, ["score", *map(str, files), "--json", "-"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    for metric, (recall, precision, f1) in CASES[name].figures.items():
        expected = {"recall": 100 * recall, "precision": 100 * precision, "f1": 100 * f1}
        assert {figure: found[metric][figure] for figure in expected} == pytest.approx(expected, abs=1e-7)
