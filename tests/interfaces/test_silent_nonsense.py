"""Calls that once ended well with figures that mean nothing: each is refused, mended or remarked upon."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

import entitynlm
from entitynlm.api import as_document
from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces.cli import app
from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.registry import write_documents

TEXT = "Ann saw Bo. She ran."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "story.txt").write_text(TEXT)
    write_documents([as_document(TEXT, id="a").with_clusters([[(0, 1), (4, 5)]])], "story.jsonl", "jsonl")
    return tmp_path


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize(
    "line",
    ["surprisal story.txt --mentions given", "report story.txt --mentions given", "annotate story.txt --keep-mentions"],
)  # fmt: skip
def test_what_needs_mentions_says_so(line: str, folder: Path, model: Path) -> None:
    result = run(*line.split(), "--model", model)
    assert isinstance(result.exception, DataError) and "needs mentions" in str(result.exception)


def test_predict_entity_finds_mentions_first(folder: Path, model: Path) -> None:
    result = run("predict-entity", "story.txt", "--model", model, "--json", "figures.json")
    assert result.exit_code == 0 and "the model has found them" in result.stderr
    assert json.loads((folder / "figures.json").read_text())["documents"][0]["mentions_found"] is True
    given = run("predict-entity", "story.jsonl", "--model", model)
    assert "found them" not in given.stderr and len(given.stdout.splitlines()) == 3


def test_the_table_of_predictions(folder: Path, model: Path) -> None:
    result = run("predict-entity", "story.jsonl", "--model", model)
    assert "probability_of_entity" in result.stdout.splitlines()[0] and "-0.0000" not in result.stdout
    both = run("predict-entity", "story.jsonl", "--model", model, "--json", "-")
    assert isinstance(both.exception, ConfigError) and both.stdout == ""


def test_score_refuses_what_has_no_annotation(folder: Path) -> None:
    assert "plain text" in str(run("score", "story.txt", "story.txt").exception)
    assert "plain text" in str(run("score", "story.jsonl", "story.txt").exception)
    write_documents([as_document(TEXT, id="a")], "none.jsonl", "jsonl")
    assert "nothing to score" in str(run("score", "none.jsonl", "story.jsonl").exception)
    found = run("score", "story.jsonl", "none.jsonl")
    assert found.exit_code == 0 and "no mention in this response" in found.stderr


def test_annotations_without_their_text_are_no_text(folder: Path, model: Path) -> None:
    (folder / "lone.ann").write_text("T1\tPerson 0 3\tAnn\n")
    assert "lone.txt" in str(run("annotate", "lone.ann", "--model", model).exception)
    (folder / "odd.ann").write_text("Ann saw Bo.\n")
    assert isinstance(run("annotate", "odd.ann", "--model", model).exception, DataError)


@pytest.mark.parametrize(
    "verb",
    [
        "annotate",
        "surprisal --samples 2 --repeats 1",
        "generate --words 2",
        "characters --least 1",
    ],
)
def test_control_characters_do_not_reach_the_terminal(verb: str, folder: Path, model: Path) -> None:
    (folder / "a\x1b[31m.txt").write_text("Ann \x1b[31msaw\x07 Bo\x1b]0;title\x07. She \x9b31m ran.")
    result = run(*verb.split(), "a\x1b[31m.txt", "--model", str(model))
    assert result.exit_code == 0 and not {"\x1b", "\x07", "\x9b"} & set(result.stdout + result.stderr)


def test_half_a_character_is_no_text(model: Path) -> None:
    with pytest.raises(DataError, match="half of a character at 4"):
        entitynlm.load(model).annotate("Ann \ud800 ran.")


@pytest.mark.parametrize("thing", [None, b"x", 7, Path("a.txt")])
def test_python_says_what_it_wants(thing: Any, model: Path) -> None:
    loaded = entitynlm.load(model)
    for ask in (loaded.annotate, loaded.surprisal, loaded.next_entity, loaded.log_prob):
        with pytest.raises(DataError, match="a str or a Document"):
            ask(thing)


def test_log_prob_tells_what_it_left_out(model: Path) -> None:
    spans = {(0, 1): "1", (2, 5): "2", (2, 3): "3", (5, 6): "1", (0, 6): "2"}
    mentions = tuple(Mention(*span, entity) for span, entity in spans.items())
    nested = Document("a", tuple("Ann saw Bo 's dog ran .".split()), mentions=mentions)
    with pytest.warns(UserWarning, match="nested"):
        score = entitynlm.load(model).log_prob(nested)
    assert score.left_out["nested"] >= 1
    plain = Document("a", ("Ann", "saw", "Bo"), mentions=(Mention(0, 1, "1"),))
    assert not entitynlm.load(model).log_prob(plain).left_out
