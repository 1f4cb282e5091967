"""``entitynlm ranker`` from training to k-best lists, on a handful of invented documents."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from entitynlm.interfaces.cli import app
from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.registry import read_documents, write_documents


def make_documents() -> list[Document]:
    documents = []
    for number, (name, thing) in enumerate([("Anna", "lamp"), ("Otto", "boat"), ("Ida", "book")] * 4):
        pronoun = "He" if name == "Otto" else "She"
        tokens = f"{name} saw a {thing} . {pronoun} took the {thing} . {name} slept .".split()
        mentions = [
            Mention(0, 1, "1"), Mention(2, 4, "2"), Mention(5, 6, "1"), Mention(7, 9, "2"), Mention(10, 11, "1"),
        ]  # fmt: skip
        documents.append(
            Document(f"tale{number}", tuple(tokens), ((0, 5), (5, 10), (10, 13)), tuple(mentions))
        )
    return documents


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["ranker", *arguments, "--force"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_train_and_apply(tmp_path: Path) -> None:
    corpus, model = str(tmp_path / "tales.conll"), str(tmp_path / "model")
    write_documents(make_documents(), corpus, "conll2012")
    figures = json.loads(
        run(
            "train", "--corpus", corpus, "--out", model, "--mentions", "given", "--epochs", "3", "--json", "-"
        )
    )
    assert figures["documents"] == 12
    assert figures["losses"][-1] < figures["losses"][0]

    out, scores = (str(tmp_path / name) for name in ("out.conll", "scores.jsonl"))
    run("apply", model, "--corpus", corpus, "--out", out, "--scores", scores, "--quiet")
    assert [d.clusters() for d in read_documents(out)] == [d.clusters() for d in make_documents()]
