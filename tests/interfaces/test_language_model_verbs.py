"""Every verb works with a model that is built on a pretrained language model: pieces, no vocabulary, no ``</s>``."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import entitynlm
from entitynlm.interfaces.cli import app
from entitynlm.lm.surprisal import SAMPLES_ON_LANGUAGE_MODEL
from entitynlm.model.pretrained import save_pretrained
from entitynlm.stories import generate_stories
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import write_documents
from entitynlm.training.recipe import train_pretrained
from entitynlm.training.settings import load_settings
from support.small_bundles import add_resolver
from support.tiny_language_models import save_model

STORY = 'Anna lost her key. "It is lost," she said. Bob didn\'t find it; he called Anna.\n'
TINY = {
    "model.hidden_size": 8,
    "model.mention_positions": 2,
    "training.epochs": 1,
    "training.word_share": 1.0,
}
QUICK = ("--samples", "3", "--repeats", "2")


@pytest.fixture(scope="module")
def stories() -> list[Document]:
    return [story for story in generate_stories(12, seed=3) if len(story) < 400][:8]


@pytest.fixture(scope="module")
def corpus(stories: list[Document], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for name, some in (("train", stories[:4]), ("dev", stories[4:6]), ("test", stories[6:])):
        write_documents(some, folder / f"{name}.jsonl", "jsonl")
    return folder


@pytest.fixture(scope="module", params=["gpt2", "llama"])
def model(
    request: pytest.FixtureRequest, stories: list[Document], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The folder of a model on a tiny random language model, whose entity side was trained for an epoch."""
    folder = tmp_path_factory.mktemp(request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENTITYNLM_CACHE", str(folder / "cache"))
        language_model = save_model(folder / "lm", request.param, context=64)
        settings = load_settings(None, TINY, language_model=str(language_model))
        parts: Any = ("generative", "causal")
        made = train_pretrained(
            stories[:4], stories[4:6], settings, parts=parts, seed=1, folder=folder / "model"
        )
        assert made is not None
        save_pretrained(add_resolver(made, stories[:4], epochs=30), folder / "model")
    return folder / "model"


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("ENTITYNLM_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def story(tmp_path: Path) -> Path:
    path = tmp_path / "story.txt"
    path.write_text(STORY)
    return path


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [*map(str, arguments), "--force"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_annotate(model: Path, story: Path) -> None:
    tokens = json.loads(run("annotate", story, "--model", model, "--to", "jsonl"))["sentences"]
    assert [token for sentence in tokens for token in sentence][:5] == ["Anna", "lost", "her", "key", "."]
    scored = run("annotate", story, "--model", model, "--to", "jsonl", "--with-scores")
    assert json.loads(scored)


def test_surprisal_has_a_row_per_token_and_no_unknown_word(model: Path, story: Path, tmp_path: Path) -> None:
    rows = list(
        csv.DictReader(io.StringIO(run("surprisal", story, "--model", model, *QUICK)), delimiter="\t")
    )
    assert [STORY[int(row["start"]) : int(row["end"])] for row in rows] == [row["token"] for row in rows]
    assert {row["oov"] for row in rows} == {"0"} and {row["spelling"] for row in rows} == {""}
    assert all(float(row["surprisal"]) > 0 and float(row["without_entities"]) > 0 for row in rows)
    summary = tmp_path / "summary.json"
    mentions = run("surprisal", story, "--model", model, "--rows", "mentions", "--json", summary)
    assert "referent_surprisal" in mentions.splitlines()[0]
    assert json.loads(summary.read_text(encoding="utf-8"))["samples"] == SAMPLES_ON_LANGUAGE_MODEL


def test_generate(model: Path, story: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ["--model", model, "--words", 12, "--json", figures]
    run("generate", story, *options, "-n", 2)
    for continuation in json.loads(figures.read_text())["continuations"]:
        text = continuation["text"]
        assert len(text.split()) > 3 and "<|" not in text and "\ufffd" not in text
        for mention in continuation["mentions"]:
            assert text[mention["start"] : mention["end"]] == mention["text"]
    cast = ["--cast", "Anna,Bob Miller", "--next-entity", "Bob Miller", "--no-new-entities"]
    run("generate", *options, *cast)
    (continuation,) = json.loads(figures.read_text())["continuations"]
    first = continuation["mentions"][0]
    assert first["called"] == "Bob Miller" and "Bob Miller" in first["text"]
    assert {mention["called"] for mention in continuation["mentions"]} <= {"Anna", "Bob Miller"}


def test_predict_entity_and_report(model: Path, corpus: Path, story: Path, tmp_path: Path) -> None:
    test = corpus / "test.jsonl"
    assert "probability" in run("predict-entity", test, "--model", model).splitlines()[0]
    run("report", story, "--model", model, "--samples", 3, "--out", tmp_path / "story.html")
    assert "<svg" in (tmp_path / "story.html").read_text()


def test_evaluate(model: Path, corpus: Path, tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    run("evaluate", "lm", corpus, "--model", model, *QUICK, "--split", "test", "--json", figures)
    rows = json.loads(figures.read_text())["splits"]["test"]["rows"]
    assert {row["likelihood"] for row in rows} == {
        "marginal",
        "words-only",
        "words-mean",
        "words-mean-P",
        "joint",
        "given-entities",
        "exact",
    }
    run("evaluate", "entity", corpus, "--model", model, "--rows", "entitynlm", "--json", figures)
    assert 0 <= json.loads(figures.read_text())["rows"]["entitynlm"]["accuracy"] <= 100


def test_the_joint_of_the_api_and_reranking(model: Path, stories: list[Document]) -> None:
    loaded = entitynlm.load(model)
    document = stories[-1]
    score = loaded.log_prob(document)
    assert np.isfinite(score.log_prob) and len(score.words) == len(document.tokens)
    clusters = [[mention.span for mention in entity.mentions] for entity in document.entities]
    ranked = loaded.rerank(document, [clusters, [[span for cluster in clusters for span in cluster]]])
    assert ranked[0].score >= ranked[1].score
    assert sum(probability for _, probability in loaded.next_entity(STORY).ranked) == pytest.approx(1)
