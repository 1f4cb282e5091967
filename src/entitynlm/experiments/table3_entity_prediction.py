"""The paper's Table 3: which entity is mentioned next, by baselines, EntityNLM and people, for a given model or from training.

OUT/seed-<n>/ has EntityNLM with our own predictor, a network on EntityNLM's states.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from entitynlm.errors import ConfigError
from entitynlm.experiments.runner import Documents, Runner
from entitynlm.experiments.table import (
    CORPORA,
    PREDICTION_SYSTEMS,
    ExperimentResult,
    Figure,
    ResultRow,
    ResultTable,
)
from entitynlm.model.pretrained import Pretrained, save_pretrained
from entitynlm.prediction import evaluation
from entitynlm.prediction.choices import AlwaysNew, Chooser
from entitynlm.prediction.evaluation import PAPER, PredictionRow, compare_rows
from entitynlm.prediction.loglinear import TypeCounts, extract_modi, extract_shallow, fit_chooser
from entitynlm.prediction.network_choice import NetworkChooser
from entitynlm.prediction.predictor import EntityPredictor, StateChooser, train_predictor
from entitynlm.prediction.slot_batches import StoryStates
from entitynlm.prediction.slots import SlottedStory, TrainingSlots, collect_slots, find_similar_slots
from entitynlm.text.document import Document
from entitynlm.training.settings import Settings

NEEDS_MODEL = ("entitynlm", "ours", "ensemble")  # rows that change with the seed; the others are fitted once
NEEDS_TRAINING = ("shallow", "modi", "ours", "ensemble")
MIXED = ("ours", "entitynlm")  # the rows that the ensemble mixes
TOGETHER = ("ours", "ensemble")  # rows that get another one with the networks of all seeds together


@dataclass
class Predictors:
    """Measures the rows, each once.

    :param folder: the model's folder, where our predictor is stored after its training; None: it is not stored.
    """

    experiment: "EntityPrediction"
    pretrained: Pretrained | None = None
    folder: Path | None = None
    seed: int = 1
    _rows: dict[str, PredictionRow] = field(default_factory=dict)

    def measure(self, name: str) -> PredictionRow:
        if name not in self._rows:
            self._rows[name] = self._measure(name)
        return self._rows[name]

    def _measure(self, name: str) -> PredictionRow:
        experiment, progress = self.experiment, self.experiment.runner.progress
        if name == "human":
            return evaluation.measure_people(experiment.stories)
        if name != "ensemble":
            return evaluation.measure_row(name, self.make(name), experiment.stories, progress=progress)
        rows = [self.measure(member) for member in MIXED]
        development = collect_slots(experiment.development, None)
        weight = evaluation.choose_weight(
            *(evaluation.measure_row(member, self.make(member), development) for member in MIXED)
        )
        progress.message(f"ensemble: EntityNLM has the weight {weight:.1f}")
        return evaluation.join_rows(name, rows, (1 - weight, weight))

    def make(self, name: str) -> Chooser:
        """Make the chooser of a row; our predictor, once it is trained, is a component of the model."""
        experiment, pretrained = self.experiment, self.pretrained
        say = experiment.runner.progress.message
        ours = None if pretrained is None else pretrained.get_component(EntityPredictor)
        if name in NEEDS_TRAINING and not experiment.train and (name != "ours" or ours is None):
            raise ConfigError(f"the row {name!r} must be trained, and this corpus has no training stories")
        if name == "always-new":
            return AlwaysNew()
        if name in ("shallow", "modi"):
            say(f"{name}: fitting it to the training stories")
            extract = extract_shallow if name == "shallow" else partial(extract_modi, experiment.counts)
            return fit_chooser(extract, experiment.slots)
        if pretrained is None:
            raise ConfigError(f"the row {name!r} needs a trained model: name its folder with --model")
        states = StoryStates.of_model(pretrained)
        read = [*experiment.development, *(slotted.story for slotted in experiment.stories)]
        if name == "ours" and ours is None:
            read += experiment.train
        states.prepare(read, experiment.runner.progress)
        if name == "entitynlm":
            return NetworkChooser(pretrained.get("generative"), pretrained.encoder)
        return StateChooser(ours or self._train_ours(pretrained, states), states)

    def _train_ours(self, pretrained: Pretrained, states: StoryStates) -> EntityPredictor:
        """Train our predictor as a component of the model."""
        experiment, say = self.experiment, self.experiment.runner.progress.message
        say("ours: the model has none, so it is trained now (some minutes)")
        development = [(story, find_similar_slots(story).positions) for story in experiment.development]
        trained = train_predictor(experiment.slots, development, states, seed=self.seed, say=say)
        pretrained.set_component(trained)
        if self.folder is not None:
            save_pretrained(pretrained, self.folder)
        return trained


def choose_rows(names: Sequence[str], *, model: bool, human: bool) -> list[str]:
    """Return the named rows in the table's order; by default all rows that can be made."""
    if names:
        return [name for name in PREDICTION_SYSTEMS if name in names]
    missing = (() if model else NEEDS_MODEL) + (() if human else ("human",))
    return [name for name in PREDICTION_SYSTEMS if name not in missing]


@dataclass(frozen=True)
class EntityPrediction:
    """The slots to predict, and the documents (train, dev) that rows are trained on."""

    documents: Documents
    stories: Sequence[SlottedStory]
    runner: Runner = field(default_factory=Runner)

    @property
    def train(self) -> Sequence[Document]:
        return self.documents.get("train", ())

    @property
    def development(self) -> Sequence[Document]:
        return self.documents.get("dev", ())

    @cached_property
    def slots(self) -> TrainingSlots:
        return [(story, find_similar_slots(story, limit=None).positions) for story in self.train]

    @cached_property
    def counts(self) -> TypeCounts:
        self.runner.progress.message("counting types in the training stories")
        counted = [find_similar_slots(story, limit=None, first_sentence=0).positions for story in self.train]
        return TypeCounts(self.train, counted)

    def evaluate(
        self, names: Sequence[str], pretrained: Pretrained | None, folder: Path | None = None, seed: int = 1
    ) -> dict[int, list[PredictionRow]]:
        """Measure rows for a given model; our predictor, if it is trained for that, is stored in ``folder``."""
        predictors = Predictors(self, pretrained, folder, seed)
        return {seed: [predictors.measure(name) for name in names]}

    def reproduce(
        self, names: Sequence[str], settings: Settings, seeds: Sequence[int] = (1,)
    ) -> dict[int, list[PredictionRow]]:
        """Measure rows by seed, after training EntityNLM and our predictor where they are not stored.

        Several seeds also have rows that average their networks.
        """
        tables: dict[int, list[PredictionRow]] = {}
        for seed in seeds:
            first = tables[seeds[0]] if tables else []
            found = {row.name: row for row in first if row.name not in NEEDS_MODEL}
            name, trained = f"seed-{seed}", None
            if any(wanted in NEEDS_MODEL for wanted in names):
                trained = self.runner.train(name, self.documents, settings, parts=("generative",), seed=seed)
            missing = [wanted for wanted in names if wanted not in found]
            for row in self.evaluate(missing, trained, self.runner.locate(name), seed)[seed]:
                found[row.name] = row
            tables[seed] = [found[wanted] for wanted in names]
            told = [f"{row.name} {row.accuracy:.2f} %" for row in tables[seed] if row.name in NEEDS_MODEL]
            if told:
                self.runner.progress.message(f"seed {seed}: {', '.join(told)}")
        for name in TOGETHER if len(tables) > 1 else ():
            found_rows = [row for rows in tables.values() for row in rows if row.name == name]
            if found_rows:
                place = tables[seeds[0]].index(found_rows[0]) + 1
                tables[seeds[0]].insert(place, evaluation.join_rows(f"{name}-together", found_rows))
        return tables


def describe(
    tables: Mapping[int, Sequence[PredictionRow]], *, corpus: str, split: str, facts: Mapping[str, Any]
) -> ExperimentResult:
    """Make the table of the first seed with means over all seeds, and the figures; ``facts`` are added to the figures."""
    first = next(iter(tables.values()))
    by_seed = {
        name: [round(row.accuracy, 2) for rows in tables.values() for row in rows if row.name == name]
        for name in NEEDS_MODEL
    }
    figures = {
        "task": "entity",
        "corpus": {"name": corpus},
        "split": split,
        **facts,
        **evaluation.describe_table(first),
        "seeds": {"numbers": list(tables), "accuracies": by_seed},
    }
    remarks = [*list_accuracy_remarks(first)]
    if len(tables) > 1:
        seeds = ", ".join(map(str, tables))
        remarks.append(f"accuracies of seeds {seeds}: mean ± standard deviation; all else of the first seed")
    title = f"Which entity is mentioned next, {corpus} {split}"
    table = make_accuracy_table(title, first, by_seed, remarks)
    return ExperimentResult([table], figures)


def make_accuracy_table(
    title: str, rows: Sequence[PredictionRow], by_seed: Mapping[str, Sequence[float]], remarks: Sequence[str]
) -> ResultTable:
    """Tabulate accuracy with its interval, on new and on old entities."""
    found = []
    for row in rows:
        interval = f"{row.interval.low:.1f}–{row.interval.high:.1f}"
        accuracy = Figure.over_seeds(by_seed.get(row.name) or [row.accuracy])
        cells: dict[str, Figure | str] = {"accuracy": accuracy, "interval": interval}
        by_newness = row.to_dict()["breakdown"]["newness"]
        cells |= {kind: Figure(values["accuracy"], digits=1) for kind, values in by_newness.items()}
        found.append(ResultRow(row.name, cells, PAPER.get(row.name)))
    columns = ("accuracy", "interval", "new", "old")
    return ResultTable(title, columns, tuple(found), CORPORA["entity"], tuple(remarks))


def list_accuracy_remarks(rows: Sequence[PredictionRow]) -> Iterator[str]:
    """Explain the columns, and list the tests of each row against each one before it."""
    yield "accuracy in percent with its 95 % interval (stories drawn), on new and on old entities"
    for first, second, found in compare_rows(rows):
        yield (
            f"{second} against {first}: {found.difference:+.2f} points "
            f"(95 % interval {found.interval.low:+.2f} … {found.interval.high:+.2f}), "
            f"p = {found.p_value:.4f} by stories"
        )
