"""``evaluate coref`` and ``rerank`` as people run them."""

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from entitynlm.coref.candidates.candidate_files import read_candidates
from entitynlm.coref.candidates.kbest import decode_swaps
from entitynlm.interfaces.cli import main
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.registry import read_documents, write_documents
from support.commands import run

TINY = (
    "--set preprocessing.vocabulary_size=100 --set model.hidden_size=6 --set model.embedding_size=6 "
    "--set training.epochs=1 --set training.batch_size=4 --threads 1"
).split()
NAMES = [("Anna", "lamp", "She"), ("Otto", "boat", "He"), ("Ida", "book", "She"), ("Max", "coat", "He")]


def make_documents(count: int, prefix: str) -> list[Document]:
    documents = []
    for number in range(count):
        name, thing, pronoun = NAMES[number % len(NAMES)]
        tokens = f"{name} saw a {thing} . {pronoun} took the {thing} . {name} slept .".split()
        mentions = [
            Mention(0, 1, "1"), Mention(2, 4, "2"), Mention(5, 6, "1"), Mention(7, 9, "2"), Mention(10, 11, "1"),
        ]  # fmt: skip
        sentences = ((0, 5), (5, 10), (10, 13))
        documents.append(Document(f"{prefix}{number}", tuple(tokens), sentences, tuple(mentions)))
    return documents


def fail(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    monkeypatch.setattr(sys, "argv", ["entitynlm", *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    return capsys.readouterr().err


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tales")
    for split, count in (("train", 8), ("dev", 4), ("test", 3)):
        write_documents(make_documents(count, split), folder / f"{split}.conll", "conll2012")
    return folder


@pytest.fixture(scope="module")
def reproduced(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("runs")
    figures = out / "figures.json"
    run(
        "evaluate", "coref", corpus, "--out", out, "--trials", 50, "--k", 10, *TINY,
        "--json", figures,
    )  # fmt: skip
    return out, json.loads(figures.read_text())


@pytest.fixture(scope="module")
def scores(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Antecedent scores of a system that likes the mention two before."""
    folder = tmp_path_factory.mktemp("scores")
    for split in ("dev", "test"):
        rows = []
        for document in open_corpus(corpus).documents(split):
            spans = sorted(mention.span for mention in document.mentions)
            candidates = [[*((a, float(a == m - 2)) for a in range(m)), (-1, 0.5)] for m in range(len(spans))]
            rows.append({"doc_id": document.id, "mentions": spans, "candidates": candidates})
        (folder / f"{split}.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(rows))
    return folder


def test_training_makes_the_table(reproduced: tuple[Path, dict[str, Any]]) -> None:
    out, figures = reproduced
    [block] = figures["blocks"]
    assert block["title"] == "our ranker"
    rows = {row["name"]: row for row in block["splits"]["test"]["rows"]}
    assert {"one best", "swaps: P", "swaps: P + baseline", "swaps: oracle", "samples: oracle"} <= set(rows)
    assert rows["one best"]["conll"] <= rows["swaps: oracle"]["conll"]
    assert 0 < rows["swaps: P"]["versus_first"]["muc"]["p_value"] <= 1
    assert figures["paper"]["conll"]["P"] == 64.0
    assert (out / "model" / "model.json").is_file()


def test_given_scores_make_the_block(
    corpus: Path, reproduced: tuple[Path, dict[str, Any]], scores: Path
) -> None:
    result = run(
        "evaluate", "coref", corpus, "--scores", scores, "--model", reproduced[0] / "model",
        "--trials", 50, "--k", 10, "--json", "-",
    )  # fmt: skip
    [block] = json.loads(result.stdout)["blocks"]
    assert block["title"] == scores.name
    rows = {row["name"]: row["conll"] for row in block["splits"]["test"]["rows"]}
    assert rows["one best"] <= rows["swaps: oracle"] and "samples: P + baseline" in rows


def test_a_given_model_reranks_our_ranker(corpus: Path, reproduced: tuple[Path, dict[str, Any]]) -> None:
    out, figures = reproduced
    result = run(
        "evaluate", "coref", corpus, "--model", out / "model", "--trials", 50, "--k", 10, "--json", "-"
    )
    [block] = json.loads(result.stdout)["blocks"]
    assert block == figures["blocks"][0]


def test_rerank_writes_documents(
    corpus: Path, reproduced: tuple[Path, dict[str, Any]], scores: Path, tmp_path: Path
) -> None:
    out, _ = reproduced
    texts = {document.id: document for document in open_corpus(corpus).documents("test")}
    lists = [decode_swaps(item, 10) for _, item in read_candidates(scores / "test.jsonl", texts)]
    rows = ({"doc_id": item.doc_id, "candidates": item.candidates} for item in lists)
    (tmp_path / "lists.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(rows))
    common = ("--corpus", corpus, "--split", "test", "--model", out / "model", "--threads", 1)
    for kbest in (tmp_path / "lists.jsonl", scores / "test.jsonl"):
        target = tmp_path / f"{kbest.stem}.conll"
        run("rerank", "--kbest", kbest, *common, "--weight", 0.0, "--k", 10, "--out", target)
        found = {document.id: set(document.clusters()) for document in read_documents(target)}
        assert found == {item.doc_id: set(item.candidates[0].clusters) for item in lists}
    target = tmp_path / "alone.conll"
    result = run("rerank", "--kbest", scores / "test.jsonl", *common, "--out", target, "--json", "-")
    figures = json.loads(result.stdout)
    assert figures["weights"] == {"P": 1.0}
    assert [entry["doc_id"] for entry in figures["documents"]] == ["test0", "test1", "test2"]


def test_rerank_takes_lines_with_their_own_tokens(
    reproduced: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    out, _ = reproduced
    row = {
        "doc_id": "new", "tokens": ["Anna", "slept", ".", "She", "woke", "."], "sentences": [[0, 3], [3, 6]],
        "candidates": [{"clusters": [[[0, 1], [3, 4]]], "score": 1.0}, {"clusters": [], "score": 0.5}],
    }  # fmt: skip
    (tmp_path / "mine.jsonl").write_text(json.dumps(row) + "\n")
    target = tmp_path / "new.conll"
    run(
        "rerank", "--kbest", tmp_path / "mine.jsonl", "--model", out / "model", "--out", target, "--weight", 0
    )
    [document] = read_documents(target)
    assert document.tokens == tuple(row["tokens"])
    assert document.clusters() == (((0, 1), (3, 4)),)


def test_wrong_input_is_named(
    corpus: Path,
    reproduced: tuple[Path, dict[str, Any]],
    scores: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, _ = reproduced
    good = (scores / "test.jsonl").read_text().splitlines()
    row = json.loads(good[1])
    row["candidates"][0] = [[0, 1.0]]
    (tmp_path / "bad.jsonl").write_text("\n".join([good[0], json.dumps(row)]) + "\n")
    common = ("--corpus", corpus, "--model", out / "model", "--out", tmp_path / "x.conll")
    message = fail(monkeypatch, capsys, "rerank", "--kbest", tmp_path / "bad.jsonl", *common)
    assert "bad.jsonl:2" in message
    assert "does not come before" in message
    assert not (tmp_path / "x.conll").exists()
    message = fail(monkeypatch, capsys, "evaluate", "coref", corpus, "--folds", 3)
    assert "--folds is for a training" in message
    message = fail(monkeypatch, capsys, "evaluate", "coref", corpus, "--scores", tmp_path)
    assert "there are no files dev*.jsonl" in message


@pytest.mark.slow
def test_folds(corpus: Path, tmp_path: Path) -> None:
    figures = tmp_path / "folds.json"
    command = (
        "evaluate", "coref", corpus, "--out", tmp_path, "--folds", 3, "--trials", 20, "--k", 5,
        *TINY, "--json", figures,
    )  # fmt: skip
    run(*command)
    found = json.loads(figures.read_text())
    assert found["blocks"][0]["splits"]["test"]["documents"] == 15
    assert len(found["weights"]) == 3
    run(*command)  # from the models that are there
    assert json.loads(figures.read_text()) == found
