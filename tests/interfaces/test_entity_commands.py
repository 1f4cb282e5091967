"""``evaluate entity`` and ``predict-entity`` as people run them."""

import json
import sys
from pathlib import Path

import pytest

from entitynlm.interfaces.cli import main
from support.commands import TINY, run, write_stories


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_stories(tmp_path_factory.mktemp("corpus"), train=9, dev=2, test=3)


@pytest.fixture(scope="module")
def reproduced(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    out = tmp_path_factory.mktemp("runs")
    figures = out / "figures.json"
    run(
        "evaluate", "entity", corpus, "--out", out, "--seeds", "1,2", "--threads", 1, *TINY,
        "--json", figures,
    )  # fmt: skip
    return out, json.loads(figures.read_text())


def test_training_makes_all_rows_but_that_of_people(reproduced: tuple[Path, dict[str, object]]) -> None:
    out, figures = reproduced
    rows = figures["rows"]
    assert isinstance(rows, dict)
    together = ["ours", "ours-together", "ensemble", "ensemble-together"]
    assert list(rows) == ["always-new", "shallow", "modi", "entitynlm", *together]
    assert all(0 <= row["accuracy"] <= 100 for row in rows.values())
    seeds = figures["seeds"]
    assert isinstance(seeds, dict)
    assert len(seeds["accuracies"]["ours"]) == 2
    assert (out / "seed-2" / "predictor.safetensors").is_file()


def test_the_same_command_uses_what_is_there_and_gets_the_same_without_a_second_process(
    corpus: Path, reproduced: tuple[Path, dict[str, object]]
) -> None:
    out, figures = reproduced
    again = out / "again.json"
    run(
        "evaluate", "entity", corpus, "--out", out, "--threads", 1, *TINY, "--quiet",
        "--rows", "always-new,entitynlm,ours", "--json", again,
    )  # fmt: skip
    assert isinstance(figures["rows"], dict)
    for name, row in json.loads(again.read_text())["rows"].items():
        assert row == figures["rows"][name]


@pytest.mark.parametrize("names", [["entitynlm", "ours"], ["ensemble"]])
def test_evaluate_finds_the_stored_models_and_gets_the_same(
    corpus: Path, reproduced: tuple[Path, dict[str, object]], names: list[str]
) -> None:
    out, figures = reproduced
    result = run(
        "evaluate", "entity", corpus, "--model", out / "seed-1", "--rows", ",".join(names),
        "--quiet", "--threads", 1, "--json", "-",
    )  # fmt: skip
    found = json.loads(result.stdout)
    assert isinstance(figures["rows"], dict)
    assert found["slots"] == figures["slots"]
    assert list(found["rows"]) == names
    for name in names:
        assert found["rows"][name] == figures["rows"][name]


def test_predict_entity_writes_one_line_per_mention(
    corpus: Path, reproduced: tuple[Path, dict[str, object]], tmp_path: Path
) -> None:
    out, _ = reproduced
    table = tmp_path / "table.tsv"
    run(
        "predict-entity", corpus / "test.jsonl", "--model", out / "seed-1", "--out", table, "--threads", 1,
        "--json", tmp_path / "summary.json",
    )  # fmt: skip
    heading, *lines = [line.split("\t") for line in table.read_text().splitlines()]
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert len(lines) == sum(document["mentions"] for document in summary["documents"])
    for line in lines:
        values = dict(zip(heading, line, strict=True))
        candidates = json.loads(values["candidates"])
        assert sum(p for _, p in candidates) == pytest.approx(1, abs=1e-4)
        truth = "" if values["is_new"] == "1" else values["entity"]
        probabilities = dict(candidates)
        assert probabilities.get(truth, probabilities[""]) == pytest.approx(
            float(values["probability_of_entity"]), abs=1e-5
        )


def test_a_row_that_can_not_be_made_is_one_readable_message(
    corpus: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for rows, words in (
        ("human", "people's guesses"),
        ("entitynlm", "--model"),
        ("best", "there is no 'best'"),
    ):
        arguments = ["entitynlm", "evaluate", "entity", str(corpus), "--rows", rows, "--threads", "1"]
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as stop:
            main()
        assert stop.value.code == 2
        assert words in capsys.readouterr().err.replace("\n", " ")
