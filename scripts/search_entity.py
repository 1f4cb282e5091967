"""The search behind the entity-prediction table: EntityNLM over the paper's grid, and our own row over a few settings.

Row 4 is chosen by the development objective, as the paper does, and, in a second line, by development accuracy; test stories are
never read. Each point is stored below --out and not trained again, so the search can be stopped and goes on where it was.

    python scripts/search_entity.py --corpus ../shared/data/inscript --out runs/search --part entitynlm
    python scripts/search_entity.py --corpus ../shared/data/inscript --out runs/search --part ours
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from entitynlm.baselines.entity_choice.anticipator import (
    AnticipatorConfig,
    Witness,
    load_config,
    train_anticipator,
)
from entitynlm.baselines.entity_choice.statistics import ContextStatistics
from entitynlm.data.corpora import open_corpus
from entitynlm.files import write_atomically
from entitynlm.tasks.entity_prediction import measure_row
from entitynlm.tasks.entity_slots import collect_slots, find_similar_slots
from entitynlm.tasks.next_entity import NetworkChooser
from entitynlm.training.completion import complete_bundle
from entitynlm.training.settings import load_settings

SIZES = (32, 48, 64, 128, 256)
OPTIMIZERS = (("adam", 0.001), ("adagrad", 0.1))
DROPOUTS = (0.2, 0.5)
EMBEDDINGS = ("random", "glove-6b-50d")


def list_points() -> Iterator[dict[str, Any]]:
    """The paper's grid (section 3)."""
    for size, (optimizer, rate), dropout, embeddings in itertools.product(
        SIZES, OPTIMIZERS, DROPOUTS, EMBEDDINGS
    ):
        yield {
            "model.hidden_size": size,
            "model.embedding_size": size,
            "model.dropout": dropout,
            "training.optimizer": optimizer,
            "training.learning_rate": rate,
            "training.embeddings": embeddings,
        }


def list_variants(base: AnticipatorConfig) -> Iterator[AnticipatorConfig]:
    """Our own row: one change at a time, the base first."""
    yield base
    for dropout in (0.3, 0.5, 0.6):
        yield replace(base, dropout=dropout)
    for hidden in (48, 192):
        yield replace(base, hidden=hidden)
    yield replace(base, embeddings="random")
    for name, values in {
        "others": (0.0, 1.0),
        "word_weight": (0.0, 1.0),
        "type_weight": (0.0, 1.0),
        "reading_weight": (0.0, 1.0),
        "memory": (0.0,),
        "decay": (0.0, 0.1),
    }.items():
        for value in values:
            yield replace(base, learning=replace(base.learning, **{name: value}))


def remember(path: Path, found: dict[str, Any]) -> None:
    """Store a point, and tell it."""
    with write_atomically(path) as stream:
        json.dump(found, stream, indent=1)
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def search_entitynlm(corpus: Path, out: Path, config: Path, seed: int) -> None:
    """Train every point of the grid that is not stored, and name the best by objective and by accuracy."""
    opened = open_corpus(corpus)
    train, development = list(opened.documents("train")), list(opened.documents("dev"))
    stories = collect_slots(development, None)
    results = []
    for number, changes in enumerate(list_points()):
        path = out / f"entitynlm-{number:02}.json"
        if not path.exists():
            settings = load_settings(config, changes)
            folder = out / f"entitynlm-{number:02}"
            bundle = complete_bundle(folder, train, development, settings, parts=("generative",), seed=seed)
            assert bundle is not None
            row = measure_row("entitynlm", NetworkChooser(bundle.get("generative"), bundle.encoder), stories)
            loss = bundle.notes["training"]["generative"]["best_dev_loss"]
            remember(path, {"changes": changes, "dev_loss": loss, "dev_accuracy": row.accuracy})
        results.append(json.loads(path.read_text(encoding="utf-8")))
    best = {
        "by objective": min(results, key=lambda found: found["dev_loss"]),
        "by accuracy": max(results, key=lambda found: found["dev_accuracy"]),
    }
    remember(out / "entitynlm-best.json", best)


def search_ours(corpus: Path, out: Path, config: Path, seed: int) -> None:
    """Train every variant of our own row that is not stored."""
    opened = open_corpus(corpus)
    train, development = (
        [(story, find_similar_slots(story, limit=limit).positions) for story in opened.documents(split)]
        for split, limit in (("train", None), ("dev", 30))
    )
    statistics = ContextStatistics.fit([story for story, _ in train])
    for number, variant in enumerate(list_variants(load_config(config))):
        path = out / f"ours-{number:02}.json"
        if path.exists():
            continue
        history: list[dict[str, Any]] = []
        witness = Witness(on_epoch=lambda report, history=history: history.append(asdict(report)))
        trained = train_anticipator(
            train, development, variant, seed=seed, statistics=statistics, witness=witness
        )
        remember(path, {"config": asdict(variant), "best": trained.notes["best"], "history": history})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--part", choices=("entitynlm", "ours"), required=True)
    parser.add_argument(
        "--config", type=Path, help="default: configs/paper-inscript.toml or ours-inscript.toml"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    configs = Path(__file__).resolve().parents[1] / "configs"
    if chosen.part == "entitynlm":
        search_entitynlm(
            chosen.corpus, chosen.out, chosen.config or configs / "paper-inscript.toml", chosen.seed
        )
    else:
        search_ours(chosen.corpus, chosen.out, chosen.config or configs / "ours-inscript.toml", chosen.seed)


if __name__ == "__main__":
    main()
