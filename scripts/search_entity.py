"""The search behind the entity-prediction table: EntityNLM over the paper's grid, and our own row over a few settings.

Row 4 is chosen by the development objective, as the paper does, and, in a second line, by development accuracy; test stories are
never read. Each point is stored below --out and not trained again, so the search can be stopped and goes on where it was.

    python scripts/search_entity.py --corpus ../shared/data/inscript --out runs/search --part entitynlm
    python scripts/search_entity.py --corpus ../shared/data/inscript --out runs/search --part entitynlm --points 24,25,26
    python scripts/search_entity.py --corpus ../shared/data/inscript --out runs/search --part ablation
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
    load_config,
    prepare_material,
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


ABLATION: dict[str, dict[str, Any]] = {
    "base": {},
    "restart": {"model.restart_sentences": True},
    "batches": {"training.batch_size": 8},
    "e-heavy": {"training.weights": [1.0, 4.0, 1.0, 1.0]},
    "x-light": {"training.weights": [1.0, 1.0, 1.0, 0.25]},
    "no-words": {"training.weights": [0.0, 1.0, 0.0, 0.0]},
    "rich": {"model.features": "rich"},
    "no-features": {"model.features": "none"},
    "glove": {"training.embeddings": "glove-6b-50d"},
    "zero-birth": {"model.birth": "zero"},
    "large-vocabulary": {"preprocessing.vocabulary_size": 3000},
}
"""Row 4, one change at a time: what may explain the distance to the paper's figure."""


def list_variants(base: AnticipatorConfig) -> Iterator[AnticipatorConfig]:
    """Our own row: one change at a time, the base first."""
    yield base
    for dropout in (0.3, 0.5, 0.6):
        yield replace(base, dropout=dropout)
    for hidden in (64, 256):
        yield replace(base, hidden=hidden)
    for word_dropout in (0.0, 0.2):
        yield replace(base, word_dropout=word_dropout)
    yield replace(base, embeddings="random")
    for name, values in {
        "word_weight": (0.0, 1.0),
        "type_weight": (0.0, 1.0),
        "smoothing": (0.05,),
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


def measure_points(
    chosen: argparse.Namespace, config: Path, points: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Train every point that is not stored; all with their development loss and accuracy."""
    opened = open_corpus(chosen.corpus)
    train, development = list(opened.documents("train")), list(opened.documents("dev"))
    stories = collect_slots(development, None)
    results = []
    for name, changes in points.items():
        path = chosen.out / f"{name}.json"
        if not path.exists():
            settings = load_settings(config, changes)
            folder = chosen.out / name
            bundle = complete_bundle(
                folder, train, development, settings, parts=("generative",), seed=chosen.seed
            )
            assert bundle is not None
            row = measure_row("entitynlm", NetworkChooser(bundle.get("generative"), bundle.encoder), stories)
            notes = bundle.notes["training"]["generative"]
            found = {"name": name, "changes": changes, "dev_loss": notes["best_dev_loss"]}
            remember(path, {**found, "dev_accuracy": row.accuracy, "notes": notes})
        results.append(json.loads(path.read_text(encoding="utf-8")))
    return results


def search_entitynlm(chosen: argparse.Namespace, config: Path) -> None:
    """The grid, or those points of it that are asked for; names the best by objective and by accuracy."""
    grid = {f"entitynlm-{number:02}": changes for number, changes in enumerate(list_points())}
    if chosen.points:
        names = [f"entitynlm-{int(number):02}" for number in chosen.points.split(",")]
        grid = {name: grid[name] for name in names}
    results = measure_points(chosen, config, grid)
    best = {
        "by objective": min(results, key=lambda found: found["dev_loss"]),
        "by accuracy": max(results, key=lambda found: found["dev_accuracy"]),
    }
    remember(chosen.out / "entitynlm-best.json", best)


def search_ablation(chosen: argparse.Namespace, config: Path) -> None:
    """Row 4 with one change at a time."""
    names = chosen.points.split(",") if chosen.points else list(ABLATION)
    extra = {"training.epochs": chosen.epochs} if chosen.epochs else {}
    measure_points(chosen, config, {f"ablation-{name}": {**ABLATION[name], **extra} for name in names})


def search_ours(chosen: argparse.Namespace, config: Path) -> None:
    """Train every variant of our own row that is not stored."""
    opened = open_corpus(chosen.corpus)
    train, development = (
        [(story, find_similar_slots(story, limit=limit).positions) for story in opened.documents(split)]
        for split, limit in (("train", None), ("dev", 30))
    )
    counted = [find_similar_slots(story, limit=None, first_sentence=0).positions for story, _ in train]
    statistics = ContextStatistics.fit([story for story, _ in train], counted)
    material = prepare_material(train, development, statistics=statistics)
    for number, variant in enumerate(list_variants(load_config(config))):
        path = chosen.out / f"ours-{number:02}.json"
        if path.exists():
            continue
        history: list[dict[str, Any]] = []
        trained = train_anticipator(
            material,
            variant,
            seed=chosen.seed,
            on_epoch=lambda report, history=history: history.append(asdict(report)),
        )
        remember(path, {"config": asdict(variant), "best": trained.notes["best"], "history": history})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--part", choices=("entitynlm", "ablation", "ours"), required=True)
    parser.add_argument(
        "--points", help="only these, in this order: numbers of the grid, or names of the ablation"
    )
    parser.add_argument("--epochs", type=int, help="of each point of the ablation (default: as configured)")
    parser.add_argument(
        "--config", type=Path, help="default: configs/paper-inscript.toml or ours-inscript.toml"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    configs = Path(__file__).resolve().parents[1] / "configs"
    if chosen.part == "ours":
        search_ours(chosen, chosen.config or configs / "ours-inscript.toml")
        return
    search = search_entitynlm if chosen.part == "entitynlm" else search_ablation
    search(chosen, chosen.config or configs / "paper-inscript.toml")


if __name__ == "__main__":
    main()
