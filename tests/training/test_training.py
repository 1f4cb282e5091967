"""Training: batches, the loop, checkpoints that resume to the same result, settings, and what is stored."""

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from entitynlm import EntityNLM
from entitynlm.config import to_dict
from entitynlm.errors import ConfigError, ModelError
from entitynlm.model.pretrained import load_pretrained
from entitynlm.progress import Progress
from entitynlm.stories import generate_stories
from entitynlm.text.document import Document
from entitynlm.training.loop import make_batches, make_even_batches
from entitynlm.training.recipe import train_pretrained
from entitynlm.training.settings import Settings, load_settings

CONFIGS = Path(__file__).resolve().parents[2] / "configs"


@pytest.fixture(scope="module")
def stories() -> list[Document]:
    return list(generate_stories(14, seed=5))


def make_settings(**training: object) -> Settings:
    return Settings.from_dict(
        {
            "preprocessing": {"vocabulary_size": 300, "punctuation": "keep"},
            "model": {"hidden_size": 8, "embedding_size": 8, "dropout": 0.3},
            "training": {"epochs": 2, "batch_size": 4, "learning_rate": 0.01, **training},
        }
    )


def weights_of(folder: Path, part: str = "generative") -> dict[str, torch.Tensor]:
    return {k: v.clone() for k, v in load_pretrained(folder).get(part).state_dict().items()}


class StopAfter(Progress):
    """Interrupts a training after so many batches."""

    def __init__(self, batches: int) -> None:
        self.left = batches

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


class Recorder(Progress):
    """Remembers all that it is told."""

    def __init__(self) -> None:
        self.totals: dict[str, int | None] = {}
        self.done: dict[str, int | None] = {}
        self.messages: list[str] = []

    def start(self, task: str, total: int | None = None) -> None:
        self.totals[task], self.done[task] = total, 0

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self.done[task] = (self.done[task] or 0) + amount

    def message(self, text: str) -> None:
        self.messages.append(text)


@given(st.lists(st.integers(1, 500), min_size=1, max_size=40), st.integers(1, 9), st.integers(0, 3))
def test_batches_hold_every_document_once(lengths: list[int], size: int, epoch: int) -> None:
    batches = make_batches(lengths, size, seed=3, epoch=epoch)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert max(map(len, batches)) <= size
    assert batches == make_batches(lengths, size, seed=3, epoch=epoch)


@given(st.lists(st.integers(1, 500), min_size=1, max_size=40), st.integers(1, 2000))
def test_even_batches_keep_the_budget(lengths: list[int], budget: int) -> None:
    batches = make_even_batches(lengths, budget)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget


@pytest.mark.parametrize("window", [0, 30])
@pytest.mark.parametrize("stop", [1, 3, 5])
def test_resuming_gives_the_same_weights(
    stories: list[Document], tmp_path: Path, window: int, stop: int
) -> None:
    settings = make_settings(window=window)
    train, dev = stories[:10], stories[10:]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    assert train_pretrained(train, dev, settings, parts=("generative",), seed=2, folder=whole) is not None
    stopped = train_pretrained(
        train, dev, settings, parts=("generative",), seed=2, folder=cut, progress=StopAfter(stop)
    )
    assert stopped is None
    resumed = train_pretrained(train, dev, settings, parts=("generative",), seed=2, folder=cut, resume=True)
    assert resumed is not None
    expected, found = weights_of(whole), weights_of(cut)
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    assert (whole / "log.jsonl").read_text().count("\n") == 2


def test_resuming_from_what_can_not_be_used_is_refused(stories: list[Document], tmp_path: Path) -> None:
    train, dev = stories[:6], stories[6:]
    resume = partial(train_pretrained, train, dev, make_settings(), parts=("generative",), folder=tmp_path)
    resume(seed=2, progress=StopAfter(1))
    with pytest.raises(ModelError, match="other settings"):
        resume(seed=3, resume=True)
    checkpoint = tmp_path / "checkpoints" / "generative.pt"
    content = checkpoint.read_bytes()
    for damaged in (content[: len(content) // 2], b"PK", b""):
        checkpoint.write_bytes(damaged)
        with pytest.raises(ModelError, match=r"generative\.pt: this checkpoint can't be used"):
            resume(seed=2, resume=True)


def test_stored_model_scores_as_the_trained_one(stories: list[Document], tmp_path: Path) -> None:
    pretrained = train_pretrained(
        stories[:10], stories[10:], make_settings(), parts=("generative", "causal"), seed=1, folder=tmp_path
    )
    assert pretrained is not None
    model, stored = EntityNLM(pretrained), EntityNLM.from_pretrained(tmp_path)
    score = model.log_prob(stories[0])
    assert score.log_prob == stored.log_prob(stories[0]).log_prob
    assert sum(score.parts.values()) == pytest.approx(score.log_prob)
    assert len(score.words) == len(score.x) == len(score.origin)
    assert set(stored.pretrained.networks) == {"generative", "causal"}
    stored.save_pretrained(tmp_path / "again")
    assert EntityNLM.from_pretrained(tmp_path / "again").log_prob(stories[0]).log_prob == score.log_prob


def test_losses_fall_and_progress_is_told(stories: list[Document]) -> None:
    progress = Recorder()
    records: list[dict[str, float]] = []
    train_pretrained(
        stories[:10],
        stories[10:],
        make_settings(epochs=6, patience=6, window=40),
        parts=("generative",),
        seed=1,
        progress=progress,
        on_epoch=lambda _, record: records.append(record),
    )
    assert records[-1]["train_loss"] < records[0]["train_loss"] - 0.3
    assert progress.done == progress.totals and list(progress.totals) == [
        f"generative, epoch {n}" for n in range(1, 7)
    ]
    assert len(progress.messages) == 6 and "dev" in progress.messages[0]
    assert [record["epoch"] for record in records] == [1, 2, 3, 4, 5, 6]


def test_training_stops_when_development_does_not_improve(stories: list[Document]) -> None:
    settings = make_settings(epochs=50, patience=2, learning_rate=0.3, schedule="constant")
    pretrained = train_pretrained(stories[:4], stories[4:6], settings, parts=("generative",), seed=1)
    assert pretrained is not None
    notes = pretrained.notes["training"]["generative"]
    assert notes["best_epoch"] < 50


# The entity-prediction row "ours" has a file of its own kind, which its own tests load.
TRAININGS = sorted(path.name for path in CONFIGS.glob("*.toml"))


@pytest.mark.parametrize("name", TRAININGS)
def test_every_shipped_configuration_loads(name: str) -> None:
    settings = load_settings(CONFIGS / name)
    for mode in ("generative", "causal"):
        model, training = settings.for_part(mode)
        assert model.mode == mode
        assert training.epochs >= 1
    assert Settings.from_dict(json.loads(json.dumps(to_dict(settings)))) == settings


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model.dropout": 1.5}, "dropout"),
        ({"model.hiddensize": 3}, "hiddensize"),
        ({"training.optimizer": "sgd"}, "optimizer"),
        ({"nonsense.key": 1}, "nonsense"),
        ({"model": 1}, "section.key"),
        ({"model.tied": True, "model.embedding_size": 3}, "tied"),
        ({"causal.vocabulary": 3}, "vocabulary"),
        ({"data.singletons": "some"}, "singletons"),
    ],
)
def test_wrong_settings_are_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_settings(None, changes)


def test_typed_training_uses_the_types(stories: list[Document]) -> None:
    settings = load_settings(None, {"data.typed": True, "model.hidden_size": 8, "training.epochs": 1})
    pretrained = train_pretrained(stories[:4], stories[4:6], settings, parts=("generative",), seed=1)
    assert pretrained is not None
    assert pretrained.get("generative").config.mention_types == len(pretrained.encoder.types) > 2
    assert np.isfinite(EntityNLM(pretrained).log_prob(stories[7]).log_prob)
