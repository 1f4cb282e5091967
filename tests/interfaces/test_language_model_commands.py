"""Pretrained language models on the command line: train --backbone, --model huggingface:NAME, models."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from click.testing import Result
from safetensors.torch import load_file
from typer.testing import CliRunner

import entitynlm
from entitynlm.errors import ConfigError, ModelError
from entitynlm.interfaces.cli import app
from entitynlm.lm.evaluation import BARE_MODEL, FINE_TUNED
from entitynlm.model.packaged import SMALL
from support.bare_language_models import needs_extra
from support.small_model import STORY
from support.tiny_language_models import save_model

PIECES = 300


@pytest.fixture(scope="module")
def language_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("language") / "tiny", "llama", context=256)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for split in ("train", "dev"):
        words = [["Anna", "lost", "her", "key", "."], ["She", "called", "Bob", "."]]
        clusters = [[[0, 0], [2, 2], [5, 5]], [[7, 7]]]
        lines = [{"doc_id": f"{split}{n}", "sentences": words, "clusters": clusters} for n in range(3)]
        text = "\n".join(map(json.dumps, lines))
        (folder / f"{split}.jsonl").write_text(text + "\n", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENTITYNLM_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


def run(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), input=text)


def train(corpus: Path, language_model: Path, out: Path, *options: str) -> Result:
    small = ("--set", "model.hidden_size=8", "--set", "training.epochs=2", "--set", "resolver.epochs=1")
    return run("train", corpus, "--backbone", language_model, "--out", out, *small, *options)


@needs_extra
def test_train_store_resume_and_use(corpus: Path, language_model: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    result = train(corpus, language_model, out, "--parts", "generative,causal,resolver")
    assert result.exit_code == 0, result.output
    stored = json.loads((out / "model.json").read_text(encoding="utf-8"))
    assert stored["parts"]["generative"]["backbone"] == f"huggingface:{language_model}"
    assert stored["parts"]["generative"]["hidden_size"] == 8
    assert (
        stored["notes"]["training"]["generative"]["training"]["learning_rate"] == 0.003
    )  # of pretrained.toml
    stored_weights = [load_file(path) for path in out.glob("*.safetensors")]
    stored_weights += [torch.load(path, weights_only=True)["weights"] for path in out.glob("**/*.pt")]
    assert len(stored_weights) == 5  # P, Q and the resolver, and two checkpoints
    for tensors in stored_weights:  # nothing of the language model's own
        shapes = [tensor.shape for tensor in tensors.values()]
        assert not any(PIECES in shape or PIECES + 1 in shape for shape in shapes)
    again = train(corpus, language_model, out, "--parts", "generative,causal,resolver", "--resume")
    assert again.exit_code == 0, again.output
    assert again.stdout == result.stdout
    table = run("surprisal", "--model", out, "--samples", 5, "--repeats", 2, text=STORY)
    assert table.exit_code == 0, table.output
    rows = list(csv.DictReader(io.StringIO(table.stdout), delimiter="\t"))
    assert all(float(row["surprisal"]) > 0 for row in rows) and {row["oov"] for row in rows} == {"0"}
    assert not entitynlm.load(out).pretrained.untrained


@needs_extra
def test_the_language_model_alone(language_model: Path, tmp_path: Path) -> None:
    json_path = tmp_path / "summary.json"
    options = ("surprisal", "--model", f"huggingface:{language_model}")
    result = run(*options, "--json", json_path, text=STORY)
    assert result.exit_code == 0, result.output
    assert "entity side" in result.stderr and "untrained" in result.stderr
    rows = list(csv.DictReader(io.StringIO(result.stdout), delimiter="\t"))
    assert [row["surprisal"] for row in rows] == [row["without_entities"] for row in rows]
    figures = json.loads(json_path.read_text(encoding="utf-8"))
    assert figures["model"] == f"huggingface:{language_model}"
    assert figures["without_entities_by"] == "language model"
    without = run(*options, "--no-word-boundaries", text=STORY)
    assert without.exit_code == 0 and without.stdout != result.stdout
    assert run(*options, "--word-boundaries", text=STORY).stdout == result.stdout


def test_words_of_the_packaged_model_have_no_boundaries_to_leave_out(tmp_path: Path) -> None:
    file = tmp_path / "story.txt"
    file.write_text(STORY, encoding="utf-8")
    result = run("surprisal", file, "--no-word-boundaries")
    assert isinstance(result.exception, ConfigError) and "is built on a pretrained" in str(result.exception)


@needs_extra
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--parts", "generative,rnnlm"), "unless it is fine-tuned: --set model.tuned_output=true"),
        (("--start-from", SMALL), "--start-from is for models with an LSTM"),
        (("--set", "preprocessing.sentence_ends=true"), "sentence_ends"),
        (("--set", "model.state_layers=9+12"), "unknown setting 'state_layers'"),
        (("--set", "model.hidden_size=0"), "hidden_size: Expected `int` >= 1; found 0"),
    ],
)
def test_options_that_make_no_sense(
    corpus: Path, language_model: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    result = train(corpus, language_model, tmp_path / "model", *options)
    assert isinstance(result.exception, ConfigError) and message in str(result.exception)


def test_a_setting_that_names_the_language_model_is_checked_too(corpus: Path, tmp_path: Path) -> None:
    result = run("train", corpus, "--out", tmp_path / "a", "--set", "model.backbone=huggingface:./nowhere")
    assert isinstance(result.exception, ModelError) and "no such folder" in str(result.exception)


def test_models_lists_the_packaged_one_and_smollm2() -> None:
    result = run("models", "--json", "-")
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    packaged = {row["name"]: row for row in figures["models"]}[SMALL]
    assert packaged["default"] and packaged["state"] == "ready" and "resolver" in packaged["components"]
    assert figures["language_model"]["name"] == "smollm2"
    assert SMALL in run("models").stdout


def test_listing_models_imports_neither_torch_nor_transformers() -> None:
    code = "import sys; from entitynlm.interfaces.cli import app; app(['models'], standalone_mode=False); "
    code += "assert not {'torch', 'transformers'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@needs_extra
def test_table_1_on_a_language_model(corpus: Path, language_model: Path, tmp_path: Path) -> None:
    """The language model as it came, fine-tuned on words alone, and with entities on it."""
    (corpus / "test.jsonl").write_bytes((corpus / "dev.jsonl").read_bytes())
    small = ("--set", "model.hidden_size=8", "--set", "training.epochs=2", "--set", "training.word_share=1.0")
    learned = (
        "--set",
        "rnnlm.epochs=30",
        "--set",
        "rnnlm.word_share=1.0",
        "--set",
        "rnnlm.learning_rate=0.02",
    )
    sampled = ("--seeds", 1, "--samples", 5, "--likelihoods", "marginal")
    given = (corpus, "--backbone", language_model, "--out", tmp_path / "lm")
    result = run("evaluate", "lm", *given, *small, *learned, *sampled, "--json", tmp_path / "lm.json")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "lm.json").read_text(encoding="utf-8"))["splits"]["test"]
    bare, tuned, entities = found["rows"]
    assert [row["model"] for row in found["rows"]] == [BARE_MODEL, FINE_TUNED, "EntityNLM"]
    assert tuned["perplexity"] < 0.8 * bare["perplexity"]  # the same three documents over and over
    assert entities["perplexity"] < bare["perplexity"]  # P is built on what was learned


@needs_extra
def test_fine_tuning_without_the_part_that_learns_it_is_refused(
    corpus: Path, language_model: Path, tmp_path: Path
) -> None:
    refused = train(corpus, language_model, tmp_path / "a", "--set", "model.tuned_output=true")
    assert isinstance(refused.exception, ConfigError) and "--parts rnnlm" in str(refused.exception)
    refused = train(corpus, language_model, tmp_path / "b", "--parts", "generative,rnnlm")
    assert isinstance(refused.exception, ConfigError) and "tuned_output" in str(refused.exception)
