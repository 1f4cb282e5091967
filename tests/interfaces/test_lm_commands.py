"""``train --parts rnnlm`` and ``evaluate lm`` as people run them."""

import json
import re
from pathlib import Path

import pytest

from entitynlm.errors import ConfigError, ModelError
from entitynlm.interfaces.training_options import LIKELIHOODS
from entitynlm.model.pretrained import load_pretrained
from entitynlm.text.corpora import open_corpus
from support.commands import TINY, run, write_stories

QUICK = "--samples 3 --repeats 2".split()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_stories(tmp_path_factory.mktemp("corpus"), train=9, dev=2, test=3)


@pytest.fixture(scope="module")
def model(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "whole"
    run("train", corpus, "--out", folder, "--parts", "generative,causal,rnnlm", *TINY, "-q")
    return folder


def test_the_baseline_is_stored_with_the_model(model: Path) -> None:
    pretrained = load_pretrained(model)
    assert set(pretrained.parts) == {"generative", "causal", "rnnlm"}
    assert pretrained.get_language_model().config.mode == "rnnlm"
    log = [json.loads(line) for line in (model / "log.jsonl").read_text().splitlines()]
    assert {record["part"] for record in log} == set(pretrained.parts)


def test_the_baseline_alone_is_a_model_or_becomes_part_of_one(corpus: Path, tmp_path: Path) -> None:
    run("train", corpus, "--out", tmp_path, "--parts", "rnnlm", *TINY)
    assert set(load_pretrained(tmp_path).parts) == {"rnnlm"}
    with pytest.raises(ModelError, match="no generative part; it has rnnlm"):
        load_pretrained(tmp_path).get("generative")
    run("train", corpus, "--out", tmp_path, "--parts", "generative", "--force", *TINY)
    with pytest.raises(ModelError, match="--parts rnnlm"):
        load_pretrained(tmp_path).get_language_model()
    run("train", corpus, "--out", tmp_path, "--parts", "rnnlm", *TINY)
    assert set(load_pretrained(tmp_path).parts) == {"generative", "rnnlm"}


def test_lengths_of_mentions_must_agree(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="max_length of the causal part is 5"):
        run("train", corpus, "--out", tmp_path / "other", *TINY, "--set", "causal.max_length=5")


def test_evaluate_gives_every_row_the_same_words(corpus: Path, model: Path) -> None:
    result = run("evaluate", "lm", corpus, "--model", model, *QUICK, "--json", "-", "-q")
    figures = json.loads(result.stdout)
    assert list(figures["splits"]) == ["dev", "test"]
    for table in figures["splits"].values():
        rows = {(row["model"], row["likelihood"]): row for row in table["rows"]}
        assert list(rows) == [
            ("5-gram", "exact"),
            ("RNNLM", "exact"),
            *(("EntityNLM", name) for name in LIKELIHOODS.split(",")),
        ]
        assert {row["tokens"] for row in rows.values()} == {table["tokens"]}
        assert all(len(row["documents"]) == table["documents"] for row in rows.values())
        assert rows["EntityNLM", "marginal"]["standard_error"] > 0
        assert {(found["first"], found["second"]) for found in table["comparisons"]} == {
            ("5-gram", "RNNLM"),
            ("5-gram", "EntityNLM marginal"),
            ("RNNLM", "EntityNLM marginal"),
        }
    assert figures["paper"]["perplexity"] == {"5-gram": 138.37, "RNNLM": 134.79, "EntityNLM": 131.64}
    again = run("evaluate", "lm", corpus, "--model", model, *QUICK, "--json", "-", "-q")
    assert json.loads(again.stdout) == figures


def test_evaluate_says_what_it_counted_and_how(corpus: Path, model: Path) -> None:
    options = "--split test --likelihoods marginal,words-only --method importance --prior-share 0".split()
    result = run("evaluate", "lm", corpus, "--model", model, *QUICK, *options)
    text = " ".join(result.stdout.split())
    tokens = sum(map(len, map(load_pretrained(model).encoder.encode, open_corpus(corpus).documents("test"))))
    assert f"test: {tokens} words (sentence ends included) in 3 documents in every row" in text
    assert "importance, Q, N = 3 × 2" in text
    assert "Kneser-Ney" in text
    assert "131.64" in text
    assert "words-only *" in text
    assert "* not comparable" in text
    assert "EntityNLM marginal against RNNLM" in text
    assert "dev" not in text


def test_evaluate_says_which_rows_are_missing(corpus: Path, tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    run("train", corpus, "--out", alone, *TINY, "-q")
    some = tmp_path / "held-out"
    some.mkdir()
    (some / "test.jsonl").write_bytes((corpus / "test.jsonl").read_bytes())
    result = run("evaluate", "lm", some, "--model", alone, *QUICK, "--likelihoods", "joint", "--json", "-")
    assert [row["likelihood"] for row in json.loads(result.stdout)["splits"]["test"]["rows"]] == ["joint"]
    remarks = " ".join(result.stderr.split())
    assert "no RNNLM row" in remarks
    assert "no 5-gram row" in remarks


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--split", "tset"], "--split: there is no 'tset'"), (["--likelihoods", "marginl"], "no 'marginl'")],
)
def test_wrong_options_are_named(corpus: Path, model: Path, options: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run("evaluate", "lm", corpus, "--model", model, "--no-ngram", *QUICK, *options)


def test_training_makes_the_table_and_keeps_what_it_made(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ["evaluate", "lm", corpus, "--out", out, "--seeds", "1,2", *TINY, *QUICK]
    figures = json.loads(run(*command, "--json", "-", "-q").stdout)
    assert list(figures["splits"]) == ["dev", "test"]
    for split in figures["splits"].values():
        rows = {(row["model"], row["likelihood"]): row["over_seeds"] for row in split["rows"]}
        assert rows["5-gram", "exact"]["standard_deviation"] == 0
        assert rows["EntityNLM", "marginal"]["standard_deviation"] > 0
        assert len(rows["RNNLM", "exact"]["perplexities"]) == 2
        assert set(split["seeds"]) == {"1", "2"}
        assert {row["tokens"] for row in split["rows"]} == {split["tokens"]}
    written = (out / "tables.txt").read_text()  # also where JSON has standard output
    assert re.search(r"5-gram +exact +[0-9.]+", written)
    assert "mean ± standard deviation over seeds 1, 2" in written
    kept = {path: path.stat().st_mtime_ns for path in out.glob("seed-*/**/*.*") if path.suffix != ".json"}
    for suffix in (".safetensors", ".pt"):  # weights and checkpoints of P, Q and the baseline for both seeds
        assert sum(path.suffix == suffix for path in kept) == 6
    again = json.loads(run(*command, "--json", "-", "-q").stdout)
    assert again == figures
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_training_needs_its_splits(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "half"
    folder.mkdir()
    for name in ("train", "test"):
        (folder / f"{name}.jsonl").write_bytes((corpus / f"{name}.jsonl").read_bytes())
    with pytest.raises(ConfigError, match="no split 'dev'"):
        run("evaluate", "lm", folder, "--out", tmp_path / "out", *TINY, *QUICK)
    with pytest.raises(ConfigError, match="--seeds"):
        run("evaluate", "lm", corpus, "--out", tmp_path / "out", "--seeds", "one", *TINY)
