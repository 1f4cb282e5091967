"""The paper's Table 3: which entity is mentioned next, by baselines, EntityNLM and people, for a given model or from training.

OUT/seed-<n>/         EntityNLM
OUT/seed-<n>/ours/    our own predictor
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from entitynlm.errors import ConfigError
from entitynlm.experiments.paper import CORPORA, OURS, PREDICTION_SYSTEMS
from entitynlm.experiments.runner import Documents, Runner
from entitynlm.experiments.table import ExperimentResult, Figure, ResultRow, ResultTable, make_summary
from entitynlm.model.pretrained import Pretrained
from entitynlm.prediction import evaluation
from entitynlm.prediction.choices import AlwaysNew, CachedChooser, Chooser, Ensemble, choose_weight
from entitynlm.prediction.evaluation import PAPER, PredictionRow, compare_rows
from entitynlm.prediction.loglinear import extract_modi, extract_shallow, fit_chooser
from entitynlm.prediction.network import predictor
from entitynlm.prediction.network.context_counts import ContextCounts
from entitynlm.prediction.network.predictor import EntityPredictor, PredictorConfig, PredictorData
from entitynlm.prediction.network.story_states import StoryStates
from entitynlm.prediction.network_choice import NetworkChooser
from entitynlm.prediction.slots import SlottedStory, TrainingSlots, collect_slots, find_similar_slots
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Document
from entitynlm.training.settings import Settings

NEEDS_MODEL = ("entitynlm", "ensemble")
NEEDS_TRAINING = ("shallow", "modi", "ours", "ensemble")
SEEDED = ("entitynlm", "ours", "ensemble")  # rows that change with the seed; the others are fitted once
TOGETHER = ("ours", "ensemble")  # rows that get another one with the networks of all seeds together


@dataclass(frozen=True)
class TrainingStories:
    """The stories that baselines and our predictor learn from; what is counted in them is counted once, whatever the seed."""

    train: Sequence[Document]
    development: Sequence[Document]
    progress: Progress = SILENT
    language_model: str = ""

    @cached_property
    def counts(self) -> ContextCounts:
        self.progress.message("counting contexts in the training stories")
        counted = [find_similar_slots(story, limit=None, first_sentence=0).positions for story in self.train]
        return ContextCounts.fit(self.train, counted)

    @cached_property
    def slots(self) -> TrainingSlots:
        return _list_slots(self.train, limit=None)

    @cached_property
    def data(self) -> PredictorData:
        self.progress.message("ours: reading the training stories")
        slots = _list_slots(self.development)
        if not self.language_model:
            return predictor.prepare_data(self.slots, slots, counts=self.counts)
        states = StoryStates(self.language_model)
        states.prepare((*self.train, *self.development), self.progress)
        return predictor.prepare_data(self.slots, slots, states=states)


def _list_slots(stories: Sequence[Document], **options: Any) -> TrainingSlots:
    return [(story, find_similar_slots(story, **options).positions) for story in stories]


@dataclass
class Predictors:
    """The systems compared, each made when first asked for; a stored predictor of ours must be of this ``config`` (None: any)."""

    training: TrainingStories
    stories: Sequence[SlottedStory]
    pretrained: Pretrained | None = None
    folder: Path | None = None
    config: PredictorConfig | None = None
    seed: int = 1
    _made: dict[str, Chooser] = field(default_factory=dict)

    def measure(self, name: str) -> PredictionRow:
        return evaluation.measure_row(name, self.get(name), self.stories, progress=self.training.progress)

    def get(self, name: str) -> Chooser:
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Chooser:
        stored = self.folder is not None and (self.folder / predictor.CONFIG_FILE).exists()
        say = self.training.progress.message
        if name in NEEDS_TRAINING and not self.training.train and not (name == "ours" and stored):
            raise ConfigError(f"the row {name!r} is learned, and this corpus has no training stories")
        if name == "always-new":
            return AlwaysNew()
        if name in ("shallow", "modi"):
            say(f"{name}: fitting it to the training stories")
            extract = extract_shallow if name == "shallow" else partial(extract_modi, self.training.counts)
            return fit_chooser(extract, self.training.slots)
        if name == "human":
            return evaluation.HumanChooser(self.stories)
        if name == "entitynlm":
            if self.pretrained is None:
                raise ConfigError("the row 'entitynlm' needs a trained model: name its folder with --model")
            P, encoder = self.pretrained.get("generative"), self.pretrained.encoder
            stories = [*self.training.development, *(slotted.story for slotted in self.stories)]
            P.backbone.prepare([encoder.encode_words(story).words for story in stories])
            return CachedChooser(NetworkChooser(P, encoder))
        if name == "ours":
            return CachedChooser(self._load_ours() if stored else self._train_ours())
        ours, network = self.get("ours"), self.get("entitynlm")
        weight = choose_weight(ours, network, collect_slots(self.training.development, None))
        say(f"ensemble: EntityNLM has the weight {weight:.1f}")
        return Ensemble(ours, network, weight)

    def _load_ours(self) -> Chooser:
        """A stored network is not taken for one with other settings or another seed."""
        assert self.folder is not None
        stored = EntityPredictor.load(self.folder)
        wanted = {"config": self.config and asdict(self.config), "seed": self.seed}
        if self.config is not None and wanted != {name: stored.notes.get(name) for name in wanted}:
            raise ConfigError(
                f"{self.folder}: the entity predictor there was made with other settings or another seed; "
                "choose another folder, or remove this one"
            )
        return stored

    def _train_ours(self) -> Chooser:
        say = self.training.progress.message
        say("ours: no stored one, so it is trained now (some minutes)")
        trained = predictor.train_predictor(
            self.training.data,
            self.config or PredictorConfig(),
            seed=self.seed,
            on_epoch=lambda report: say(
                f"ours, epoch {report.epoch}: loss {report.loss:.3f}, on development {report.development_loss:.3f}, "
                f"accuracy {100 * report.accuracy:.2f} %"
            ),
        )
        if self.folder is not None:
            trained.save(self.folder)
        return trained


def choose_rows(names: Sequence[str], *, model: bool, human: bool) -> list[str]:
    """The rows asked for in the table's order; by default all that can be made."""
    if names:
        return [name for name in PREDICTION_SYSTEMS if name in names]
    missing = (() if model else (*NEEDS_MODEL, "ours")) + (() if human else ("human",))
    return [name for name in PREDICTION_SYSTEMS if name not in missing]


def reproduce(
    documents: Documents,
    stories: Sequence[SlottedStory],
    names: Sequence[str],
    runner: Runner,
    settings: Settings,
    config: PredictorConfig | None = None,
    seeds: Sequence[int] = (1,),
) -> dict[int, list[PredictionRow]]:
    """The rows by seed, EntityNLM and our predictor trained where they are not stored; with several seeds, those together too."""
    language_model = config.language_model if config else ""
    training = TrainingStories(documents["train"], documents["dev"], runner.progress, language_model)
    tables: dict[int, list[PredictionRow]] = {}
    for seed in seeds:
        first = tables[seeds[0]] if tables else []
        found = {row.name: row for row in first if row.name not in SEEDED}
        name = f"seed-{seed}"
        predictors = Predictors(training, stories, None, runner.locate(name) / OURS, config, seed)
        if any(wanted in NEEDS_MODEL for wanted in names):
            predictors.pretrained = runner.train(name, documents, settings, parts=("generative",), seed=seed)
        tables[seed] = [found.get(wanted) or predictors.measure(wanted) for wanted in names]
        trained = [f"{row.name} {row.accuracy:.2f} %" for row in tables[seed] if row.name in SEEDED]
        if trained:
            runner.progress.message(f"seed {seed}: {', '.join(trained)}")
    for name in TOGETHER if len(tables) > 1 else ():
        found_rows = [row for rows in tables.values() for row in rows if row.name == name]
        if found_rows:
            place = tables[seeds[0]].index(found_rows[0]) + 1
            tables[seeds[0]].insert(place, evaluation.join_rows(f"{name}-together", found_rows))
    return tables


def describe(
    tables: Mapping[int, Sequence[PredictionRow]], *, corpus: str, split: str, facts: Mapping[str, Any]
) -> ExperimentResult:
    """The table of the first seed with all seeds' means, and the figures; ``facts`` go to the figures as they are."""
    first = next(iter(tables.values()))
    over_seeds: dict[str, Any] = {}
    for name in SEEDED:
        accuracies = [row.accuracy for rows in tables.values() for row in rows if row.name == name]
        if accuracies:
            figure = Figure.over_seeds(accuracies)
            over_seeds[name] = {
                "mean": figure.value,
                "standard_deviation": figure.error,
                "accuracies": [round(value, 2) for value in accuracies],
            }
    figures = {
        "task": "entity",
        "corpus": {"name": corpus},
        "split": split,
        **facts,
        **evaluation.describe_table(first),
        "seeds": {"numbers": list(tables), "rows": over_seeds},
    }
    remarks = [*list_remarks(first)]
    for name, found in over_seeds.items() if len(tables) > 1 else ():
        remarks.append(f"{name}: mean {found['mean']:.2f} over {len(tables)} seeds ({found['accuracies']})")
    seed = f", seed {next(iter(tables))}" if len(tables) > 1 else ""
    table = make_table(f"Which entity is mentioned next, {corpus} {split}{seed}", first, remarks)
    return ExperimentResult("entity", [table], summarise(figures), figures)


def make_table(title: str, rows: Sequence[PredictionRow], remarks: Sequence[str]) -> ResultTable:
    """Accuracy with its interval, on new and on old entities, and agreement with people where there are any."""
    human = any(answer.slot.guesses for answer in rows[0].answers)
    found = []
    for row in rows:
        interval = f"{row.interval.low:.1f}–{row.interval.high:.1f}"
        cells: dict[str, Figure | str] = {"accuracy": Figure(row.accuracy), "interval": interval}
        by_newness = row.to_dict()["breakdown"]["newness"]
        cells |= {kind: Figure(values["accuracy"], digits=1) for kind, values in by_newness.items()}
        if human:
            agreement = evaluation.measure_agreement(row.answers)
            cells["people"], cells["JSD"] = Figure(agreement.accuracy), Figure(agreement.divergence, digits=3)
            if agreement.correlation is not None:
                cells["corr."] = Figure(agreement.correlation, digits=3)
        found.append(ResultRow(row.name, cells, PAPER.get(row.name)))
    columns = ("accuracy", "interval", "new", "old", *(("people", "corr.", "JSD") if human else ()))
    return ResultTable(title, columns, tuple(found), CORPORA["entity"], tuple(remarks))


def list_remarks(rows: Sequence[PredictionRow]) -> Iterator[str]:
    """What the columns mean, and the tests of each row against each one before it."""
    yield "accuracy in percent with its 95 % interval (stories drawn), on new and on old entities"
    if any(answer.slot.guesses for answer in rows[0].answers):
        yield "people: how often the choice is their majority's; JSD: Jensen-Shannon divergence from their guesses"
    for first, second, found in compare_rows(rows):
        yield (
            f"{second} against {first}: {found.difference:+.2f} points "
            f"(95 % interval {found.interval.low:+.2f} … {found.interval.high:+.2f}), "
            f"p = {found.permutation:.4f} by stories, {found.t_test:.2g} by the paired t-test over slots"
        )


def summarise(figures: Mapping[str, Any]) -> ResultTable:
    """The accuracy of every system, over seeds where it is trained."""
    corpus = figures["corpus"]["name"]
    rows = []
    for name, row in figures["rows"].items():
        over_seeds = figures["seeds"]["rows"].get(name)
        value = row["accuracy"] if over_seeds is None else over_seeds["mean"]
        figure = Figure(value, over_seeds and over_seeds["standard_deviation"])
        rows.append(ResultRow(PREDICTION_SYSTEMS.get(name, name), {corpus: figure}, row["paper"]))
    remark = f"{corpus}, {figures['split']}; {figures['slots']:,} slots in {figures['stories']:,} stories"
    return make_summary("entity", corpus, rows, (remark,))
