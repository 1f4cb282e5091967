"""The search behind the entity-prediction table: EntityNLM over the paper's grid, its ablation, and the steps of our own row.

Row 4 is chosen by the development objective, as the paper does, and, in a second line, by development accuracy; test stories are
never read. The two are stored as models, for ``entitynlm evaluate entity --model``. Every point is stored below --out with a
checkpoint, so the search can be stopped, goes on where it was, and a point that gets more epochs goes on from those that it had.

The paper's grid is too large to be trained to the end at every point, so it is halved: all points get a few epochs (--rungs), the
best go on (--keep; the best by objective, and the best one by accuracy).

    python scripts/search_entity.py --corpus ../shared/data/inscript --out runs/search --part entitynlm
    python scripts/search_entity.py --corpus ../shared/data/inscript --out runs/search --part entitynlm --rungs 25 --points 24,25
    python scripts/search_entity.py --corpus ../shared/data/inscript --out runs/search --part ablation --epochs 5
    python scripts/search_entity.py --corpus ../shared/data/inscript --out runs/search --part ours
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from entitynlm.config import to_dict
from entitynlm.files import write_atomically
from entitynlm.model.pretrained import Pretrained, save_pretrained
from entitynlm.prediction.evaluation import measure_row
from entitynlm.prediction.network.learning import EpochReport
from entitynlm.prediction.network.predictor import (
    PredictorConfig,
    load_config,
    prepare_material,
    train_predictor,
)
from entitynlm.prediction.network.statistics import ContextStatistics
from entitynlm.prediction.network_choice import NetworkChooser
from entitynlm.prediction.slots import collect_slots, find_similar_slots
from entitynlm.text.corpora import open_corpus
from entitynlm.text.document import Document
from entitynlm.training.batching import derive_seed
from entitynlm.training.checkpoint import load_checkpoint, save_checkpoint
from entitynlm.training.loop import Training
from entitynlm.training.recipe import add_part, prepare_pretrained, use_embeddings
from entitynlm.training.settings import Settings, load_settings

SIZES = (32, 48, 64, 128, 256)
OPTIMIZERS = (("adam", 0.001), ("adagrad", 0.1))
DROPOUTS = (0.2, 0.5)
EMBEDDINGS = ("random", "glove-6b-50d")
RUNGS, KEEP = "2,5,15", "4,2"

Changes = Mapping[str, Any]


def list_points() -> Iterator[Changes]:
    """The paper's grid (section 3), small networks first; one size for word embeddings and states."""
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


ABLATION: dict[str, Changes] = {
    "base": {},
    "glove": {"training.embeddings": "glove-6b-50d"},
    "restart": {"model.restart_sentences": True},
    "batches-8": {"training.batch_size": 8},
    "e-heavy": {"training.weights": [1.0, 4.0, 1.0, 1.0]},
    "x-light": {"training.weights": [1.0, 1.0, 1.0, 0.25]},
    "e-alone": {"training.weights": [0.0, 1.0, 0.0, 0.0]},
    "features-rich": {"model.features": "rich"},
    "features-none": {"model.features": "none"},
    "rate-double": {"training.learning_rate": 0.2},
    "rate-half": {"training.learning_rate": 0.05},
    "adam": {"training.optimizer": "adam", "training.learning_rate": 0.001},
    "zero-birth": {"model.new_entity": "zero"},
    "words-3000": {"preprocessing.vocabulary_size": 3000},
}
"""Row 4, one change at a time: what may explain the distance to the paper's figure."""


def list_variants(base: PredictorConfig) -> dict[str, PredictorConfig]:
    """Our own row: one change at a time, the base first."""
    found = {"base": base}
    sizes: dict[str, tuple[Any, ...]] = {
        "hidden": (64, 128, 256),
        "judge": (48, 192),
        "dropout": (0.3, 0.4, 0.6),
        "word_dropout": (0.0, 0.2),
        "embeddings": ("random",),
    }
    for name, values in sizes.items():
        found |= {f"{name}={value}": replace(base, **{name: value}) for value in values}
    learning: dict[str, tuple[Any, ...]] = {
        "epochs": (6, 10, 16, 24),
        "rate": (0.0015, 0.006),
        "word_weight": (0.0, 1.0),
        "type_weight": (0.0, 1.0),
        "smoothing": (0.05,),
        "memory": (0.0, 0.997),
        "decay": (0.0, 0.1),
    }
    for name, values in learning.items():
        for value in values:
            found[f"{name}={value}"] = replace(base, learning=replace(base.learning, **{name: value}))
    return found


def remember(path: Path, found: Mapping[str, Any]) -> None:
    """Store a point, and tell it."""
    with write_atomically(path) as stream:
        json.dump(found, stream, indent=1)
    shown = {key: value for key, value in found.items() if key != "history"}
    sys.stdout.write(json.dumps(shown) + "\n")
    sys.stdout.flush()


class Bench:
    """Trains points of EntityNLM for so many epochs and measures them on development stories; what was measured is kept."""

    def __init__(self, corpus: Path, out: Path, config: Path, seed: int) -> None:
        opened = open_corpus(corpus)
        self.train: list[Document] = list(opened.documents("train"))
        self.development: list[Document] = list(opened.documents("dev"))
        self.slots = collect_slots(self.development, None)
        self.out, self.config, self.seed = out, config, seed

    def measure(self, name: str, changes: Changes, epochs: int) -> dict[str, Any]:
        """Development loss and accuracy of a point's best epoch among so many."""
        path = self.out / f"{name}-epochs-{epochs}.json"
        if not path.exists():
            settings = load_settings(self.config, {**changes, "training.epochs": epochs})
            before = time.process_time()
            pretrained, training = self._train(name, settings)
            seconds = time.process_time() - before
            row = measure_row(
                "entitynlm", NetworkChooser(pretrained.get("generative"), pretrained.encoder), self.slots
            )
            best = training.progress.history[training.progress.best_epoch - 1]
            remember(
                path,
                {
                    "name": name,
                    "changes": dict(changes),
                    "epochs": training.progress.epoch,
                    "best_epoch": best["epoch"],
                    "dev_loss": best["dev_loss"],
                    "dev_loss_e": best["dev"]["e"],
                    "dev_accuracy": row.accuracy,
                    "cpu_seconds": round(seconds, 1),
                    "history": training.progress.history,
                },
            )
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def store(self, found: Mapping[str, Any], folder: Path) -> None:
        """A point that was measured as a model, for ``evaluate entity`` on test stories."""
        changes = {**found["changes"], "training.epochs": found["epochs"]}
        pretrained, training = self._train(found["name"], load_settings(self.config, changes))
        notes = {"model": to_dict(pretrained.get("generative").config), "training": to_dict(training.config)}
        best = {"best_epoch": found["best_epoch"], "best_dev_loss": found["dev_loss"]}
        pretrained.notes["training"] = {"generative": {**notes, "seed": self.seed, **best}}
        save_pretrained(pretrained, folder)

    def _train(self, name: str, settings: Settings) -> tuple[Pretrained, Training]:
        """Go on with a point until it has had its epochs; its best weights are in the bundle."""
        pretrained, corpus = prepare_pretrained(self.train, self.development, settings)
        model, config = settings.for_part("generative")
        torch.manual_seed(derive_seed(self.seed, 0))
        network, trainable = add_part(pretrained, model)
        if config.embeddings != "random":
            use_embeddings(network, pretrained.encoder, config.embeddings)
        training = Training(trainable, corpus.train, corpus.development, config, seed=self.seed)
        described = json.loads(
            json.dumps(
                {
                    "model": to_dict(model),
                    "training": to_dict(replace(config, epochs=1)),  # the epochs are what grows
                    "seed": self.seed,
                }
            )
        )
        checkpoint = self.out / name
        if (checkpoint / "state.json").exists():
            load_checkpoint(training, checkpoint, settings=described)
            state = training.progress
            state.finished = state.epoch >= config.epochs or state.bad_epochs >= config.patience
        training.run(on_epoch=lambda record: save_checkpoint(training, checkpoint, settings=described))
        return pretrained, training


def search_entitynlm(chosen: argparse.Namespace, bench: Bench) -> None:
    """The grid, halved, or those points of it that are asked for; names the best by objective and by accuracy."""
    points = {f"entitynlm-{number:02}": changes for number, changes in enumerate(list_points())}
    if chosen.points:
        names = [f"entitynlm-{int(number):02}" for number in chosen.points.split(",")]
        points = {name: points[name] for name in names}
    rungs = [int(number) for number in chosen.rungs.split(",")]
    keep = [int(number) for number in chosen.keep.split(",")][: len(rungs) - 1]
    for epochs, kept in itertools.zip_longest(rungs, keep, fillvalue=1):
        results = [bench.measure(name, changes, epochs) for name, changes in points.items()]
        ranked = sorted(results, key=lambda found: found["dev_loss"])
        most_accurate = max(results, key=lambda found: found["dev_accuracy"])
        going_on = {found["name"] for found in (*ranked[:kept], most_accurate)}
        points = {name: changes for name, changes in points.items() if name in going_on}
    for found in (*ranked, most_accurate):
        found.pop("history")
    best = {"by-objective": ranked[0], "by-accuracy": most_accurate}
    for name, found in best.items():
        bench.store(found, chosen.out / f"entitynlm-{name}")
    remember(chosen.out / "entitynlm-best.json", best)


def search_ablation(chosen: argparse.Namespace, bench: Bench) -> None:
    """Row 4 with one change at a time."""
    names = chosen.points.split(",") if chosen.points else list(ABLATION)
    for name in names:
        bench.measure(f"ablation-{name}", ABLATION[name], chosen.epochs)


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
    variants = list_variants(load_config(config))
    for name in chosen.points.split(",") if chosen.points else variants:
        path = chosen.out / f"ours-{name}-seed-{chosen.seed}.json"
        if path.exists():
            continue
        history: list[dict[str, Any]] = []

        def keep(report: EpochReport, history: list[dict[str, Any]] = history) -> None:
            history.append(asdict(report))

        trained = train_predictor(material, variants[name], seed=chosen.seed, on_epoch=keep)
        remember(path, {"config": asdict(variants[name]), "best": trained.notes["best"], "history": history})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--part", choices=("entitynlm", "ablation", "ours"), required=True)
    parser.add_argument(
        "--points",
        help="only these, in this order: numbers of the grid, or names of the ablation or of variants of ours",
    )
    parser.add_argument(
        "--rungs", default=RUNGS, help=f"epochs that points of the grid have had at each rung ({RUNGS})"
    )
    parser.add_argument("--keep", default=KEEP, help=f"how many points go on after each rung ({KEEP})")
    parser.add_argument("--epochs", type=int, default=5, help="of each point of the ablation (5)")
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
    config = chosen.config or configs / "paper-inscript.toml"
    bench = Bench(chosen.corpus, chosen.out, config, chosen.seed)
    search = search_entitynlm if chosen.part == "entitynlm" else search_ablation
    search(chosen, bench)


if __name__ == "__main__":
    main()
