"""Our own row: the anticipating network with the statistics that it looks at, fitted, asked, stored.

DIR/anticipator.json.gz      words, statistics, sizes, and how it was trained
DIR/anticipator.safetensors  the network's weights
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save

from entitynlm.baselines.entity_choice.choices import Choice, make_choice
from entitynlm.baselines.entity_choice.learning import EpochReport, LearningConfig, learn
from entitynlm.baselines.entity_choice.linear import Questions
from entitynlm.baselines.entity_choice.network import AnticipatingNetwork, NetworkConfig
from entitynlm.baselines.entity_choice.statistics import ContextStatistics
from entitynlm.baselines.entity_choice.stories import SPECIAL_WORDS, NumberedStory, Words, number_story
from entitynlm.config import load_toml
from entitynlm.data.document import Document
from entitynlm.data.embeddings import load_pretrained
from entitynlm.data.vocabulary import Vocabulary
from entitynlm.errors import ConfigError, ModelError
from entitynlm.files import write_atomically
from entitynlm.model.bundle import load_weights

CARD, WEIGHTS = "anticipator.json.gz", "anticipator.safetensors"
FORMAT_VERSION = 1


@dataclass(frozen=True)
class AnticipatorConfig:
    """Sizes of the network, how it learns, and which word vectors it starts from ("random": none)."""

    hidden: int = 96
    match: int = 48
    judge: int = 96
    dropout: float = 0.4
    embeddings: str = "random"
    learning: LearningConfig = field(default_factory=LearningConfig)


def load_config(path: str | Path | None) -> AnticipatorConfig:
    """A configuration from a TOML file, whose section [learning] is about learning; without a file the defaults."""
    if path is None:
        return AnticipatorConfig()
    values = load_toml(path)
    learning = values.pop("learning", {})
    try:
        return AnticipatorConfig(**values, learning=LearningConfig(**learning))
    except TypeError as error:
        raise ConfigError(
            f"{path}: this is no configuration of the anticipating network ({error})"
        ) from error


@dataclass
class Anticipator:
    """See ``Chooser``: at each position only the words and mentions before it are looked at."""

    words: Words
    statistics: ContextStatistics
    network: AnticipatingNetwork
    notes: dict[str, Any] = field(default_factory=dict)

    @torch.no_grad()
    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        """One choice per position."""
        if not positions:
            return []
        numbered, situations = number_story(story, positions, self.words.numbers, self.statistics)
        log_probs = self.network.eval()([numbered]).log_probs.double().numpy()
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
            "statistics": self.statistics.to_dict(),
            "notes": self.notes,
        }
        with write_atomically(folder / CARD, "wb") as stream:
            stream.write(gzip.compress(json.dumps(card, ensure_ascii=False).encode(), mtime=0))

    @classmethod
    def load(cls, folder: str | Path) -> Anticipator:
        """Read what ``save`` wrote."""
        path = Path(folder) / CARD
        try:
            card = json.loads(gzip.decompress(path.read_bytes()))
            if card["format"] != FORMAT_VERSION:
                raise ModelError(
                    f"{path}: this is format {card['format']!r}; this version reads {FORMAT_VERSION}"
                )
            words = Words(tuple(card["words"]))
            statistics = ContextStatistics.from_dict(card["statistics"])
            network = AnticipatingNetwork(NetworkConfig(**card["network"]))
        except FileNotFoundError as error:
            raise ModelError(f"{folder}: there is no anticipator here (no {CARD})") from error
        except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{path}: this anticipator can't be read ({error})") from error
        load_weights(network, Path(folder) / WEIGHTS)
        return cls(words, statistics, network.eval(), card.get("notes", {}))


@dataclass(frozen=True)
class Witness:
    """Who is told how far a training is."""

    on_story: Callable[[int, int], None] = lambda done, total: None
    on_epoch: Callable[[EpochReport], None] = lambda report: None


def number_questions(
    questions: Questions,
    words: Words,
    statistics: ContextStatistics,
    *,
    others: float,
    on_story: Callable[[int, int], None] = lambda done, total: None,
) -> list[NumberedStory]:
    """Every mention of annotated stories as an example; those asked about count in full, the others ``others``."""
    numbers = words.numbers
    found = []
    for done, (story, asked) in enumerate(questions, start=1):
        starts = sorted({mention.start for mention in story.mentions})
        weights = [1.0 if start in set(asked) else others for start in starts]
        found.append(number_story(story, starts, numbers, statistics, learn=weights)[0])
        on_story(done, len(questions))
    return [story for story in found if len(story.places)]


def train_anticipator(
    train: Questions,
    development: Questions,
    config: AnticipatorConfig,
    *,
    seed: int,
    statistics: ContextStatistics | None = None,
    witness: Witness | None = None,
) -> Anticipator:
    """Count, number the stories, train; ``statistics`` of the same training stories may be handed in."""
    witness = witness or Witness()
    documents = [story for story, _ in train]
    statistics = statistics or ContextStatistics.fit(documents)
    words = Words.collect(documents)
    others = config.learning.others
    examples = number_questions(train, words, statistics, others=others, on_story=witness.on_story)
    held_out = number_questions(development, words, statistics, others=others)
    torch.manual_seed(seed)
    sizes = NetworkConfig(
        len(words.names),
        2 * len(statistics.types),
        examples[0].features.shape[1],
        hidden=config.hidden,
        match=config.match,
        judge=config.judge,
        dropout=config.dropout,
    )
    network = AnticipatingNetwork(sizes)
    if config.embeddings != "random":
        use_vectors(network, words, config.embeddings)
    best = learn(network, examples, held_out, config.learning, seed=seed, on_epoch=witness.on_epoch)
    notes = {"config": asdict(config), "seed": seed, "best": asdict(best)}
    return Anticipator(words, statistics, network, notes)


def use_vectors(network: AnticipatingNetwork, words: Words, source: str) -> None:
    """Start from pretrained word vectors where there are any; the other words start small."""
    vocabulary = Vocabulary(words.names[SPECIAL_WORDS:])
    pretrained = load_pretrained(source, vocabulary)
    width = min(pretrained.width, network.config.embedding)
    numbers = words.numbers
    with torch.no_grad():
        network.embedding.weight.mul_(0.3)
        for row in np.flatnonzero(pretrained.found).tolist():
            vector = torch.from_numpy(pretrained.matrix[row, :width])
            network.embedding.weight[numbers[vocabulary.words[row]], :width] = vector
