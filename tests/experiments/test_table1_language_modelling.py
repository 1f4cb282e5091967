"""Table 1 from nothing but a corpus: no model is trained twice, the figures are the same, and never for the wrong corpus."""

import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from entitynlm.errors import ConfigError
from entitynlm.experiments.runner import Runner
from entitynlm.experiments.table1_language_modelling import LanguageModelling, Perplexities, describe
from entitynlm.lm.evaluation import Sampling
from entitynlm.lm.scores import DocumentLogProb, ModelScores, SplitScores, pool_seeds
from entitynlm.progress import Progress
from entitynlm.stories import generate_stories
from entitynlm.text.document import Document
from entitynlm.training.settings import Settings

Documents = dict[str, Sequence[Document]]


@pytest.fixture(scope="module")
def documents() -> Documents:
    stories = list(generate_stories(12, seed=5))
    return {"train": stories[:8], "dev": stories[8:10], "test": stories[10:]}


def make_settings(**training: object) -> Settings:
    return Settings.from_dict(
        {
            "preprocessing": {"vocabulary_size": 300, "punctuation": "keep"},
            "model": {"hidden_size": 8, "embedding_size": 8, "dropout": 0.1},
            "training": {"epochs": 1, "batch_size": 4, "learning_rate": 0.01, **training},
        }
    )


def run(
    documents: Documents, out: Path, *seeds: int, record: "Record | None" = None, **options: Any
) -> Perplexities:
    settings = options.pop("settings", make_settings())
    defaults = {"sampling": Sampling(particles=3, repeats=2), "splits": ("test",)}
    runner = Runner(out) if record is None else Runner(out, progress=record)
    return LanguageModelling(documents, runner, **{**defaults, **options}).reproduce(settings, seeds)


def figures(found: Perplexities) -> str:
    return json.dumps(
        {split: [scores.to_dict() for scores in by_seed] for split, by_seed in found.by_split.items()}
    )


class Record(Progress):
    """Remembers what was trained, epoch by epoch, and asks to stop after so many batches of it."""

    def __init__(self, batches: int = 10**9) -> None:
        self.left = batches
        self.trained: list[str] = []

    def start(self, task: str, total: int | None = None) -> None:
        part, comma, _ = task.partition(", epoch")
        self.trained += [part] if comma else []

    def advance(self, task: str, amount: int = 1, note: str = "") -> None:
        self.left -= 1
        if self.left <= 0:
            raise KeyboardInterrupt


def test_what_is_done_is_not_done_again(documents: Documents, tmp_path: Path) -> None:
    first = Record()
    found = run(documents, tmp_path, 1, record=first)
    assert first.trained == ["generative", "rnnlm", "causal"]
    assert [row.name for row in found.by_split["test"][0].rows][:3] == [
        "5-gram",
        "RNNLM",
        "EntityNLM marginal",
    ]
    again = Record()
    assert figures(run(documents, tmp_path, 1, record=again)) == figures(found)
    assert again.trained == []
    more = Record()
    both = run(documents, tmp_path, 1, 2, record=more)
    assert more.trained == ["generative", "rnnlm", "causal"]
    assert both.by_split["test"][0].to_dict() == found.by_split["test"][0].to_dict()
    assert both.by_split["test"][1].to_dict() != found.by_split["test"][0].to_dict()


@pytest.mark.parametrize(
    "batches", [pytest.param(1, marks=pytest.mark.slow), 3, pytest.param(5, marks=pytest.mark.slow)]
)
def test_a_stopped_run_goes_on_to_the_same_figures(
    documents: Documents, tmp_path: Path, batches: int
) -> None:
    whole = run(documents, tmp_path / "whole", 1)
    with pytest.raises(KeyboardInterrupt):
        run(documents, tmp_path / "cut", 1, record=Record(batches))
    assert figures(run(documents, tmp_path / "cut", 1)) == figures(whole)


def test_another_corpus_or_other_settings_are_refused(documents: Documents, tmp_path: Path) -> None:
    run(documents, tmp_path, 1, ngram=False)
    other = {**documents, "train": documents["train"][:-1]}
    for changed, settings in ((other, make_settings()), (documents, make_settings(learning_rate=0.02))):
        with pytest.raises(
            ConfigError, match="made from another corpus, with other settings or another seed"
        ):
            run(changed, tmp_path, 1, settings=settings)


def test_a_stored_model_is_completed_and_not_changed(documents: Documents, tmp_path: Path) -> None:
    settings, runner = make_settings(), Runner(tmp_path)
    runner.train("m", documents, settings, parts=["generative"], seed=3)
    weights = (tmp_path / "m" / "generative.safetensors").read_bytes()
    pretrained = runner.train("m", documents, settings, parts=["generative", "rnnlm"], seed=3)
    assert set(pretrained.parts) == {"generative", "rnnlm"}
    assert (tmp_path / "m" / "generative.safetensors").read_bytes() == weights
    with pytest.raises(ConfigError, match=r"another seed \(generative, rnnlm\)"):
        runner.train("m", documents, settings, parts=["generative"], seed=4)


def make_scores(*log_probs: float, error: float = 0.0) -> SplitScores:
    documents = tuple(DocumentLogProb(f"d{i}", 10, value, error) for i, value in enumerate(log_probs))
    return SplitScores("test", (ModelScores("RNNLM", "exact", documents),), unknown=1)


def test_seeds_are_averaged() -> None:
    scores = [make_scores(-40, -50, error=0.3), make_scores(-44, -46, error=0.4)]
    found = Perplexities({"test": scores}, Sampling(), (1, 2))
    (row,) = describe(found, corpus="stories", facts={}).figures["splits"]["test"]["rows"]
    perplexities = row["over_seeds"]["perplexities"]
    assert perplexities == [one.rows[0].perplexity for one in scores]
    assert row["over_seeds"]["mean"] == pytest.approx(sum(perplexities) / 2)
    assert row["over_seeds"]["standard_deviation"] == pytest.approx(statistics.stdev(perplexities))
    pooled = pool_seeds(scores)
    assert [d.log_prob for d in pooled.rows[0].documents] == [-42, -48]
    assert pooled.rows[0].documents[0].standard_error == pytest.approx(0.25)
