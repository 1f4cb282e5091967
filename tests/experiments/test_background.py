"""A training beside other work: it ends in the same model, and a stop ends in a checkpoint that the next one goes on from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from entitynlm.errors import EntityNLMError
from entitynlm.experiments.background import train_in_background
from entitynlm.progress import Silent
from entitynlm.text.corpora import open_corpus
from entitynlm.text.formats.registry import write_documents
from entitynlm.text.stories import generate_stories
from entitynlm.training.completion import complete_pretrained
from entitynlm.training.settings import Settings, load_settings

SETTINGS = {
    "preprocessing.vocabulary_size": 300,
    "model.hidden_size": 8,
    "model.embedding_size": 8,
    "training.epochs": 2,
}


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    stories = list(generate_stories(8, seed=3))
    for name, some in (("train", stories[:6]), ("dev", stories[6:])):
        write_documents(some, folder / f"{name}.jsonl", "jsonl")
    return folder


@pytest.fixture
def settings() -> Settings:
    return load_settings(None, SETTINGS)


class Stop(Silent):
    """Interrupts whatever asks."""

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        raise KeyboardInterrupt


@pytest.mark.slow
def test_a_stopped_training_goes_on_to_the_same_model(
    corpus: Path, settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "beside"
    with train_in_background(folder, corpus, None, settings, seed=1, progress=Stop()) as wait:
        assert wait() is None
    with train_in_background(folder, corpus, None, settings, seed=1) as wait:
        beside = wait()
    opened = open_corpus(corpus)
    train, development = (list(opened.documents(name)) for name in ("train", "dev"))
    alone = complete_pretrained(
        tmp_path / "alone", train, development, settings, parts=("generative",), seed=1
    )
    assert beside is not None and alone is not None
    log = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert [record["epoch"] for record in log] == [1, 2]
    losses = [pretrained.notes["training"]["generative"]["best_dev_loss"] for pretrained in (beside, alone)]
    assert losses[0] == losses[1]


@pytest.mark.slow
def test_what_goes_wrong_there_is_said_here(corpus: Path, settings: Settings, tmp_path: Path) -> None:
    (corpus / "train.jsonl").unlink()
    with (
        train_in_background(tmp_path / "beside", corpus, None, settings, seed=1) as wait,
        pytest.raises(EntityNLMError, match="train"),
    ):
        wait()
