"""All rows of the paper's Table 3 from a corpus: who needs no training, who is fitted, who is trained or loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from entitynlm.errors import ConfigError
from entitynlm.model.pretrained import Pretrained
from entitynlm.prediction.agreement import HumanChooser
from entitynlm.prediction.choices import AlwaysNew, Chooser
from entitynlm.prediction.ensemble import CachedChooser, Ensemble, choose_weight
from entitynlm.prediction.loglinear import (
    ModiFeatures,
    extract_shallow,
    fit_chooser,
)
from entitynlm.prediction.network.context_counts import ContextCounts
from entitynlm.prediction.network.predictor import (
    CONFIG_FILE,
    EntityPredictor,
    PredictorConfig,
    PredictorData,
    prepare_data,
    train_predictor,
)
from entitynlm.prediction.network_choice import NetworkChooser
from entitynlm.prediction.slots import LIMIT, SlottedStory, TrainingSlots, collect_slots, find_similar_slots
from entitynlm.text.document import Document

RowName = Literal["always-new", "shallow", "modi", "entitynlm", "ours", "ensemble", "human"]
ROWS: tuple[str, ...] = get_args(RowName)
NEEDS_MODEL = ("entitynlm", "ensemble")
NEEDS_TRAINING = ("shallow", "modi", "ours", "ensemble")
ROW_4: Mapping[str, Any] = {
    "preprocessing.lowercase": True,
    "preprocessing.punctuation": "keep",
    "preprocessing.numbers": False,
    "preprocessing.sentence_ends": True,
    "preprocessing.vocabulary_size": 1000,
    "preprocessing.minimum_count": 2,
    "data.singletons": "keep",
    "model.hidden_size": 128,
    "model.embedding_size": 128,
    "model.dropout": 0.2,
    "model.softmax": "full",
    "model.features": "paper",
    "training.optimizer": "adagrad",
    "training.learning_rate": 0.1,
    "training.batch_size": 1,
    "training.epochs": 15,
    "training.patience": 3,
}
"""EntityNLM on InScript as the paper has it, at the best point of its grid: configs/paper-inscript.toml, word for word."""
OURS = "ours"
"""The folder, inside of a model's, of our own row."""


@dataclass(frozen=True)
class Teller:
    """Who is told what is going on."""

    say: Callable[[str], None] = lambda text: None
    on_step: Callable[[str, int, int], None] = lambda name, done, total: None


@dataclass
class Counts:
    """What is counted in the training stories once, whatever the seed."""

    statistics: ContextCounts | None = None
    material: PredictorData | None = None


@dataclass
class Workshop:
    """Makes the choosers of a table; what several rows need (counts, their use on the training stories) is made once.

    :param counts: over the same training stories, if they were made before.
    :param folder: where our own row is stored, and looked for before it is trained.
    :param config: of our own row, which a stored one must have been trained with; None: as stored, else the best that is known.
    """

    train: Sequence[Document]
    development: Sequence[Document]
    stories: Sequence[SlottedStory]
    pretrained: Pretrained | None = None
    folder: Path | None = None
    config: PredictorConfig | None = None
    seed: int = 1
    teller: Teller = field(default_factory=Teller)
    counts: Counts = field(default_factory=Counts)
    _made: dict[str, Chooser] = field(default_factory=dict)

    def make(self, name: str) -> Chooser:
        """The chooser behind a row, made once."""
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def _make(self, name: str) -> Chooser:
        if name in NEEDS_TRAINING and not self.train and not (name == "ours" and self._stored()):
            raise ConfigError(f"the row {name!r} is learned, and this corpus has no training stories")
        if name == "always-new":
            return AlwaysNew()
        if name == "shallow":
            return fit_chooser(extract_shallow, self._ask(self.train), on_story=self._follow("shallow"))
        if name == "modi":
            return fit_chooser(
                ModiFeatures(self.statistics), self._ask(self.train), on_story=self._follow("modi")
            )
        if name == "human":
            return self._make_human()
        if name == "entitynlm":
            if self.pretrained is None:
                raise ConfigError("the row 'entitynlm' needs a trained model: name its folder with --model")
            return CachedChooser(NetworkChooser(self.pretrained.get("generative"), self.pretrained.encoder))
        if name == "ours":
            return CachedChooser(self._make_ours())
        if name == "ensemble":
            return self._make_ensemble()
        raise ConfigError(f"there is no row {name!r}; choose from {', '.join(ROWS)}")

    @property
    def statistics(self) -> ContextCounts:
        """Counts over the training stories."""
        if self.counts.statistics is None:
            self.teller.say("counting contexts in the training stories")
            counted = [
                find_similar_slots(story, limit=None, first_sentence=0).positions for story in self.train
            ]
            self.counts.statistics = ContextCounts.fit(self.train, counted)
        return self.counts.statistics

    @property
    def material(self) -> PredictorData:
        """What our own row learns from."""
        if self.counts.material is None:
            self.counts.material = prepare_data(
                self._ask(self.train),
                self._ask(self.development, LIMIT),
                counts=self.statistics,
                on_story=self._follow("ours: reading"),
            )
        return self.counts.material

    def _make_ensemble(self) -> Chooser:
        """Ours and EntityNLM together, a row of its own; the weight is chosen on development stories."""
        ours, network = self.make("ours"), self.make("entitynlm")
        stories = collect_slots(self.development, None)
        weight = choose_weight(ours, network, stories)
        self.teller.say(f"ensemble: EntityNLM has the weight {weight:.1f}")
        return Ensemble(ours, network, weight)

    def _make_human(self) -> Chooser:
        if not all(slot.guesses for slotted in self.stories for slot in slotted.slots):
            raise ConfigError(
                "the row 'human' needs people's guesses, which only InScript's test stories have"
            )
        return HumanChooser(self.stories)

    def _stored(self) -> bool:
        return self.folder is not None and (self.folder / CONFIG_FILE).exists()

    def _make_ours(self) -> Chooser:
        if self.folder is not None and self._stored():
            stored = EntityPredictor.load(self.folder)
            self._check_stored(stored)
            return stored
        self.teller.say("ours: no stored one, so it is trained now (some minutes)")
        trained = train_predictor(
            self.material,
            self.config or PredictorConfig(),
            seed=self.seed,
            on_epoch=lambda report: self.teller.say(
                f"ours, epoch {report.epoch}: loss {report.loss:.3f}, on development {report.development_loss:.3f}, "
                f"accuracy {100 * report.accuracy:.2f} %"
            ),
        )
        if self.folder is not None:
            trained.save(self.folder)
        return trained

    def _check_stored(self, stored: EntityPredictor) -> None:
        """A stored network is not taken for one with other settings or another seed."""
        wanted = {"config": self.config and asdict(self.config), "seed": self.seed}
        if self.config is not None and wanted != {name: stored.notes.get(name) for name in wanted}:
            raise ConfigError(
                f"{self.folder}: the entity predictor there was made with other settings or another seed; "
                "choose another folder, or remove this one"
            )

    def _follow(self, name: str) -> Callable[[int, int], None]:
        return lambda done, total: self.teller.on_step(name, done, total)

    @staticmethod
    def _ask(stories: Sequence[Document], limit: int | None = None) -> TrainingSlots:
        """Mentions of the kind that is asked about: to learn from, all of them."""
        return [(story, find_similar_slots(story, limit=limit).positions) for story in stories]


def choose_rows(names: Sequence[str], *, model: bool, human: bool) -> list[str]:
    """The rows asked for in the table's order; by default all that can be made."""
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        raise ConfigError(f"there is no row {unknown[0]!r}; choose from {', '.join(ROWS)}")
    if names:
        return [name for name in ROWS if name in names]
    missing = (() if model else (*NEEDS_MODEL, "ours")) + (() if human else ("human",))
    return [name for name in ROWS if name not in missing]
