"""Which model is used where nobody names one, and that every output says which it was."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

import entitynlm
from entitynlm import default_model
from entitynlm.default_model import MODEL_VARIABLE, choose_model, explain_default
from entitynlm.errors import ModelError
from entitynlm.interfaces.cli import app
from entitynlm.model import packaged
from entitynlm.model.packaged import ON_SMOLLM2, SMALL, check_language_model_of
from entitynlm.text.formats.registry import read_documents
from support.small_bundles import make_bundle
from support.small_model import STORY

COMMANDS = ["pip install this", "pip install that"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Models as the package has them, as far as their names and language models go."""
    for name, tokenizer in ((SMALL, {}), (ON_SMOLLM2, {"model": "smollm2", "digest": "b179"})):
        (tmp_path / name).mkdir()
        text = json.dumps({"format": 3, "encoder": {"tokenizer": tokenizer}})
        (tmp_path / name / "model.json").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "story.txt"
    path.write_text(STORY, encoding="utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def miss(monkeypatch: pytest.MonkeyPatch, commands: list[str]) -> None:
    monkeypatch.setattr(packaged, "list_installs", lambda: commands)


def test_the_better_model_is_the_default_where_its_language_model_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(MODEL_VARIABLE)
    monkeypatch.setattr(default_model, "list_installs", list)
    assert explain_default() == (ON_SMOLLM2, "the language model smollm2 is installed")


def test_the_small_model_is_the_default_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MODEL_VARIABLE)
    monkeypatch.setattr(default_model, "list_installs", lambda: COMMANDS)
    name, reason = explain_default()
    assert name == SMALL and reason.endswith("pip install this && pip install that")


def test_whoever_asks_for_a_model_without_its_language_model_is_told_what_brings_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_language_model_of(folder / SMALL)

    def refuse(name: str) -> str:
        raise ModelError(f"{name}: nowhere")

    monkeypatch.setattr(packaged, "check_language_model", refuse)
    miss(monkeypatch, COMMANDS)
    with pytest.raises(ModelError, match=rf"{ON_SMOLLM2} .*pip install this && pip install that") as caught:
        check_language_model_of(folder / ON_SMOLLM2)
    assert SMALL in str(caught.value)
    miss(monkeypatch, [])
    with pytest.raises(ModelError, match="smollm2: nowhere"):
        check_language_model_of(folder / ON_SMOLLM2)


def test_the_variable_chooses(tmp_path: Path, story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = entitynlm.EntityNLM(make_bundle()[0])
    own.save_pretrained(tmp_path / "own")
    monkeypatch.setenv(MODEL_VARIABLE, str(tmp_path / "own"))
    assert choose_model(None) == str(tmp_path / "own") and choose_model(SMALL) == SMALL
    assert entitynlm.load().name == "own" and "own" in repr(entitynlm.load())
    assert json.loads(run("surprisal", story, "--json", "-", "--out", tmp_path / "t.tsv").stdout)[
        "model"
    ] == str(tmp_path / "own")
    figures = json.loads(run("models", "--json", "-").stdout)
    assert figures["default"] == {"model": str(tmp_path / "own"), "reason": f"{MODEL_VARIABLE} names it"}
    assert not any(row["default"] for row in figures["models"])
    monkeypatch.setenv(MODEL_VARIABLE, "no-such-model")
    result = run("annotate", story)
    assert isinstance(result.exception, ModelError)
    assert MODEL_VARIABLE in str(result.exception) and "no-such-model" in str(result.exception)


def test_every_output_names_its_model(tmp_path: Path, story: Path) -> None:
    named = f"model: {SMALL}"
    for verb in ("annotate", "surprisal", "generate"):
        result = run(verb, story)
        assert named in result.stderr and named not in result.stdout, verb
    for ending in ("jsonl", "conllu"):
        out = tmp_path / f"story.{ending}"
        assert run("annotate", story, "--out", out).exit_code == 0
        assert SMALL in out.read_text(encoding="utf-8")
    (annotated,) = read_documents(tmp_path / "story.jsonl")
    assert annotated.meta["model"] == SMALL
    assert named in run("predict-entity", tmp_path / "story.jsonl").stderr
    assert run("report", story, "--out", tmp_path / "story.html").exit_code == 0
    assert SMALL in (tmp_path / "story.html").read_text(encoding="utf-8")
    assert named not in run("annotate", story, "--quiet").stderr
    candidate = {"clusters": [[[0, 1]]], "score": 0.0}
    record = {"doc_id": "story", "tokens": ["Anna", "left", "."], "candidates": [candidate]}
    (tmp_path / "kbest.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    asked = ("rerank", "--kbest", tmp_path / "kbest.jsonl", "--out", tmp_path / "best.jsonl", "--json", "-")
    result = run(*asked)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["model"] == SMALL
    (reranked,) = read_documents(tmp_path / "best.jsonl")
    assert reranked.meta["model"] == SMALL
