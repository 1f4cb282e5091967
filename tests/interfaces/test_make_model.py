"""``make model`` and ``make model-pretrained`` in small: the Makefile's own commands.

Generated stories, a tiny configuration and a tiny language model stand in place of hours.
"""

import shlex
import sys
from pathlib import Path

import pytest
import torch

from entitynlm.interfaces.cli import main
from entitynlm.model.packaged import check_hashes, read_language_model
from entitynlm.model.pretrained import load_pretrained
from entitynlm.stories import generate_stories
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import read_documents, write_documents
from support.bare_language_models import needs_extra
from support.tiny_language_models import save_model

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
[resolver]
epochs = 8
"""


def list_commands(target: str, values: dict[str, object]) -> list[list[str]]:
    """The arguments of ``entitynlm`` in the recipe of a target, with values in place of some of their words."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition(f"\n{target}:")[2].partition("\n\n")[0]
    lines = [line.partition("/entitynlm ")[2] for line in recipe.splitlines() if "/entitynlm train" in line]
    for word, value in values.items():
        lines = [line.replace(word, str(value)) for line in lines]
    return [shlex.split(line) for line in lines]


def write_corpora(folder: Path) -> list[Document]:
    """Annotated and plain stories as ``shipped_corpora.py`` leaves them; the development stories."""
    stories = list(generate_stories(12, seed=3))
    for name in ("annotated", "plain"):
        (folder / name).mkdir()
        for split, documents in (("train", stories[:9]), ("dev", stories[9:])):
            bare = [document.with_mentions(()) for document in documents]
            kept = documents if name == "annotated" else bare
            write_documents(kept, folder / name / f"{split}.jsonl", "jsonl")
    partial = [document.with_mentions(document.mentions[::2]) for document in stories[:3]]
    write_documents(partial, folder / "books.jsonl", "jsonl")
    return stories[9:]


def annotate_with(monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[Document]:
    """The development stories as the finished model annotates them."""
    out, source = folder / "annotated.jsonl", folder / "plain" / "dev.jsonl"
    call(monkeypatch, ["annotate", str(source), "--model", str(folder / "model"), "--out", str(out), "-q"])
    return list(read_documents(out))


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
    config = tmp_path / "tiny.toml"
    config.write_text(TINY)
    stories = write_corpora(tmp_path)
    further = "--set rnnlm.epochs=2 --set rnnlm.freeze_embeddings=true"
    values = {"$(RUN)": tmp_path, "$(CONFIG)": config, "$(AS_P:%=--set rnnlm.%)": further}
    commands = list_commands("model", values)
    assert len(commands) == 2
    for command in commands:
        call(monkeypatch, [*command, "--quiet"])
    check_hashes(tmp_path / "model")
    pretrained = load_pretrained(tmp_path / "model")
    assert set(pretrained.parts) == {"generative", "causal", "rnnlm"}
    assert pretrained.notes["training"]["rnnlm"]["training"]["epochs"] == 2  # it read what P read
    assert set(pretrained.stored_components) == {"resolver"}
    annotated = annotate_with(monkeypatch, tmp_path)
    assert [document.tokens for document in annotated] == [document.tokens for document in stories]
    assert any(document.mentions for document in annotated)


@needs_extra
def test_the_commands_of_make_model_pretrained_make_a_small_model_that_names_its_language_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENTITYNLM_CACHE", str(tmp_path / "cache"))
    language_model = save_model(tmp_path / "language", context=256)
    config = tmp_path / "tiny.toml"
    config.write_text("[model]\nhidden_size = 8\n[training]\nepochs = 1\n[resolver]\nepochs = 2\n")
    stories = write_corpora(tmp_path)
    values = {"$(RUN_PRETRAINED)": tmp_path, "$(CONFIG_PRETRAINED)": config, "smollm2": language_model}
    commands = list_commands("model-pretrained", values)
    assert len(commands) == 1
    for command in [*commands, *commands]:  # the second time there is nothing left to do
        call(monkeypatch, [*command, "--quiet"])
        monkeypatch.setattr("entitynlm.coref.resolver_training.train_network", None)
    finished = tmp_path / "model"
    check_hashes(finished)
    found = read_language_model(finished)
    assert found is not None and found["model"] == str(language_model)
    pretrained = load_pretrained(finished)
    assert set(pretrained.parts) == {"generative", "causal"} and set(pretrained.stored_components) == {
        "resolver"
    }
    scaling = pretrained.get("generative").state_dict()["projection.scaling.deviation"]
    assert not torch.equal(
        scaling, scaling.half().float()
    )  # all but the scale of states is in half precision
    annotated = annotate_with(monkeypatch, tmp_path)
    assert [document.tokens for document in annotated] == [document.tokens for document in stories]
