"""Starting from a language model of plain text, epochs that are shares of a corpus, frozen embeddings, compact models."""

from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from entitynlm.config import ModelConfig
from entitynlm.interfaces.cli import app
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.pretrained import Pretrained, load_pretrained, save_pretrained
from entitynlm.stories import generate_stories
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import write_documents
from entitynlm.training.loop import choose_documents
from entitynlm.training.recipe import train_pretrained
from entitynlm.training.settings import Settings

EMBEDDINGS = "backbone.embedding.weight"


def make_settings(**training: object) -> Settings:
    return Settings.from_dict(
        {
            "preprocessing": {"vocabulary_size": 300, "punctuation": "keep"},
            "model": {"hidden_size": 8, "embedding_size": 8, "tied": True},
            "training": {"epochs": 1, "batch_size": 4, "learning_rate": 0.01, **training},
        }
    )


@pytest.fixture(scope="module")
def stories() -> list[Document]:
    return list(generate_stories(8, seed=5))


@pytest.fixture(scope="module")
def words(stories: list[Document]) -> Pretrained:
    """A model of plain text: the mentions are not looked at."""
    plain = [Document(story.id, story.tokens, story.sentences) for story in stories]
    pretrained = train_pretrained(plain[:6], plain[6:], make_settings(), parts=["rnnlm"], seed=1)
    assert pretrained is not None
    return pretrained


def test_a_share_of_the_documents_per_epoch_goes_round_all_of_them() -> None:
    chosen = [choose_documents(7, 3, seed=1, epoch=epoch).tolist() for epoch in range(7)]
    assert all(len(documents) == len(set(documents)) for documents in chosen)
    counts = np.bincount([number for documents in chosen for number in documents], minlength=7)
    assert counts.min() >= 2 and counts.max() <= 3
    assert choose_documents(7, 0, seed=1, epoch=4).tolist() == list(range(7))
    assert chosen == [choose_documents(7, 3, seed=1, epoch=epoch).tolist() for epoch in range(7)]


@pytest.mark.parametrize("mode", ["generative", "causal"])
def test_the_word_side_is_taken_over(words: Pretrained, mode: str) -> None:
    source = words.get_language_model()
    config = ModelConfig(mode=mode, hidden_size=8, embedding_size=8, tied=mode == "generative")  # type: ignore[arg-type]
    tokenizer = words.encoder.tokenizer
    network = EntityNetwork(config, len(tokenizer), tokenizer.start, words.classes)
    taken = [f"backbone.{name}" for name in network.backbone.copy_from(source.backbone)]
    given, own = source.state_dict(), network.state_dict()
    assert EMBEDDINGS in taken and "backbone.lstm.weight_hh_l0" in taken
    assert ("backbone.softmax.class_weight" in taken) == (mode == "generative")
    assert all(torch.equal(own[name], given[name]) for name in taken)


def test_frozen_embeddings_stay_and_the_rest_learns(stories: list[Document], words: Pretrained) -> None:
    base = Pretrained(words.encoder, words.classes, language_model=words.language_model)
    start = words.get_language_model()
    pretrained = train_pretrained(
        stories[:6], stories[6:], make_settings(freeze_embeddings=True), base=base, start=start, seed=1
    )
    assert pretrained is not None
    before = start.state_dict()
    for part in ("generative", "causal"):
        after = pretrained.get(part).state_dict()
        assert torch.equal(after[EMBEDDINGS], before[EMBEDDINGS])
        assert not torch.equal(after["backbone.lstm.weight_hh_l0"], before["backbone.lstm.weight_hh_l0"])


def test_a_compact_model_keeps_common_weights_once_and_loads_again(
    stories: list[Document], words: Pretrained, tmp_path: Path
) -> None:
    base = Pretrained(words.encoder, words.classes, language_model=words.language_model)
    settings = make_settings(freeze_embeddings=True)
    pretrained = train_pretrained(
        stories[:6], stories[6:], settings, base=base, start=words.get_language_model(), seed=1
    )
    assert pretrained is not None
    save_pretrained(pretrained, tmp_path / "whole")
    save_pretrained(pretrained, tmp_path / "compact", compact=True)
    sizes = [
        sum(p.stat().st_size for p in (tmp_path / n).glob("*.safetensors")) for n in ("whole", "compact")
    ]
    assert sizes[1] < sizes[0] / 2
    loaded = load_pretrained(tmp_path / "compact")
    assert loaded.parts.keys() == pretrained.parts.keys()
    for mode, network in pretrained.parts.items():
        for name, value in loaded.parts[mode].state_dict().items():
            assert value.dtype == torch.float32
            assert torch.equal(value, network.state_dict()[name].half().float()), (mode, name)
    save_pretrained(loaded, tmp_path / "again", compact=True)
    for path in (tmp_path / "compact").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_the_command_starts_from_plain_text(stories: list[Document], tmp_path: Path) -> None:
    for split, part in (("train", stories[:6]), ("dev", stories[6:])):
        write_documents(part, tmp_path / "corpus" / f"{split}.jsonl", "jsonl")
        for story in part:
            text = tmp_path / "texts" / split / f"{story.id}.txt"
            text.parent.mkdir(parents=True, exist_ok=True)
            text.write_text(" ".join(story.tokens), encoding="utf-8")
    small = ["--set", "model.hidden_size=8", "--set", "model.embedding_size=8", "--set", "training.epochs=1"]

    def run(*arguments: str) -> None:
        result = CliRunner().invoke(app, ["train", *arguments, *small, "--quiet"], catch_exceptions=False)
        assert result.exit_code == 0, result.output

    run(str(tmp_path / "texts"), "--out", str(tmp_path / "words"), "--parts", "rnnlm")
    run(
        str(tmp_path / "corpus"),
        *("--out", str(tmp_path / "model"), "--start-from", str(tmp_path / "words"), "--parts", "generative"),
    )
    started, model = load_pretrained(tmp_path / "words"), load_pretrained(tmp_path / "model")
    assert model.encoder == started.encoder
    assert set(model.parts) == {"generative", "rnnlm"}
