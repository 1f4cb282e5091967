"""``make model`` in small: the Makefile's own commands, with generated stories and a tiny configuration in place of hours."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from entitynlm.coref.component_training import COMPONENTS
from entitynlm.interfaces.cli import main
from entitynlm.model.packaged import check_files
from entitynlm.model.pretrained import load_pretrained
from entitynlm.text.formats.registry import read_documents, write_documents
from entitynlm.text.stories import generate_stories

ROOT = Path(__file__).resolve().parents[2]
TINY = """
[preprocessing]
vocabulary_size = 300
punctuation = "keep"
lowercase = false
[data]
singletons = "keep"
[model]
hidden_size = 8
embedding_size = 8
features = "rich"
[training]
epochs = 1
[lookahead]
epochs = 2
"""
QUICK = ["--epochs", "2", "--hidden", "8"]


def list_commands(run: Path, config: Path) -> list[list[str]]:
    """The arguments of ``entitynlm`` in the recipe of the target ``model``."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nmodel:")[2].partition("\n\n")[0]
    lines = [line.partition("/entitynlm ")[2] for line in recipe.splitlines() if "/entitynlm train" in line]
    return [shlex.split(line.replace("$(RUN)", str(run)).replace("$(CONFIG)", str(config))) for line in lines]


def call(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["entitynlm", *arguments])
    main_code = 0
    try:
        main()
    except SystemExit as end:
        main_code = int(end.code or 0)
    assert main_code == 0, arguments


def test_the_commands_of_make_model_make_a_model_that_annotates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stories = list(generate_stories(12, seed=3))
    config = tmp_path / "tiny.toml"
    config.write_text(TINY)
    for name in ("annotated", "plain"):
        (tmp_path / name).mkdir()
        for split, documents in (("train", stories[:9]), ("dev", stories[9:])):
            kept = (
                documents if name == "annotated" else [document.with_mentions(()) for document in documents]
            )
            write_documents(kept, tmp_path / name / f"{split}.jsonl", "jsonl")
    commands = list_commands(tmp_path, config)
    assert [command[0] for command in commands] == ["train", "train", "train-components"]
    for command in commands:
        call(monkeypatch, [*command, *(QUICK if command[0] == "train-components" else []), "--quiet"])
    check_files(tmp_path / "finished")
    pretrained = load_pretrained(tmp_path / "finished")
    assert set(pretrained.parts) == {"generative", "causal", "lookahead", "rnnlm"}
    found = {
        name for name, component in COMPONENTS.items() if pretrained.get_component(component) is not None
    }
    assert found == {*COMPONENTS} - {"resolver"}  # which is for models on a pretrained language model

    out = tmp_path / "annotated.jsonl"
    model = str(tmp_path / "finished")
    source = str(tmp_path / "plain" / "dev.jsonl")
    call(monkeypatch, ["annotate", source, "--model", model, "--out", str(out), "--quiet"])
    annotated = list(read_documents(out))
    assert [document.tokens for document in annotated] == [document.tokens for document in stories[9:]]
    assert any(document.mentions for document in annotated)


def test_components_that_are_there_are_not_trained_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from entitynlm.coref import component_training
    from entitynlm.model.pretrained import save_pretrained
    from support.small_bundles import make_bundle, make_documents

    pretrained, _ = make_bundle()
    save_pretrained(pretrained, tmp_path / "model")
    for split in ("train", "dev"):
        types = {"ann": "person", "bo": "person", "thing": "thing"}
        documents = [document.with_mentions(document.mentions, types) for document in make_documents()]
        write_documents(documents, tmp_path / "corpus" / f"{split}.jsonl", "jsonl")
    trained: list[str] = []
    train_component = component_training.train_component

    def note(name: str, *given: object, **options: object) -> None:
        trained.append(name)
        train_component(name, *given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(component_training, "train_component", note)
    command = [
        "train-components",
        str(tmp_path / "corpus"),
        "--model",
        str(tmp_path / "model"),
        *QUICK,
        "--quiet",
    ]
    figures = tmp_path / "figures.json"
    call(monkeypatch, [*command, "--components", "bias"])
    call(monkeypatch, [*command, "--json", str(figures)])
    assert trained == ["bias", "types", "linker"]
    call(monkeypatch, [*command, "--components", "bias", "--again", "--bias", "0.6"])
    assert trained[3:] == ["bias"]
    assert json.loads(figures.read_text())["development"]["conll"] >= 0
    stored = json.loads((tmp_path / "model" / "model.json").read_text())["components"]
    assert stored["mention_bias"]["settings"] == {"value": 0.6}
    assert set(stored) == {"linker", "mention_bias", "mention_types"}
