"""Configurations: frozen, validated on construction, stored inside every model.

``ModelConfig`` spans the space of the paper's section 3 and a few options beyond it; the defaults of everything that the
paper does not have are "off".
"""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from entitynlm.errors import ConfigError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MOST_LAYERS = 64
Mode = Literal["generative", "causal", "lookahead", "rnnlm"]
NewEntity = Literal["noise", "zero"]
Softmax = Literal["classes", "full"]
Projection = Literal["linear", "sphere"]
Optimizer = Literal["adam", "adagrad"]
Schedule = Literal["constant", "plateau", "cosine"]


@dataclass(frozen=True)
class ModelConfig:
    """Everything that fixes the shape and the meaning of a network's parameters.

    :param mode: ``generative`` is the paper's P; ``causal`` is its proposal Q, which reads a word before it decides about the
        word's mention and predicts no words; ``lookahead`` is a proposal that has read the whole document; ``rnnlm`` is the
        baseline, a language model with the same LSTM and softmax and without entities.
    :param backbone: the language model that reads and predicts words (``model.backbones``): ``lstm`` is the paper's.
    :param hidden_size: the size of h; 0 for a pretrained backbone, which has its own.
    :param entity_size: the size of e and r; 0 makes it that of h, as in the paper (the convex update of equation 8 adds the two).
        Where they differ, h is projected.
    :param state_layers: the layers of a pretrained backbone whose states R, E and L are about, as ``24+30``; empty: one at four
        fifths of its height, and the last.
    :param projection: how h gets the size of e: ``linear``, or for states whose dimensions have very different scales ``sphere``:
        standardised, projected, and put on a sphere of a learned radius.
    :param projection_units: of a hidden layer in the projection onto the sphere, beside the linear one (0: none).
    :param separate_update: equation 8 has a projection of its own.
    :param word_rank: of W_e in equation 6, as a product of two thin matrices (0: of full rank). What an entity adds to the logits
        of fifty thousand pieces is computed for every state of every particle, and costs as much as the rank is high.
    :param lora_rank: fine-tune a pretrained backbone by low-rank adapters of this rank (0: it is frozen).
    :param output_rank: fine-tune a frozen pretrained backbone where words are predicted: a hidden layer of this size is added
        to its last states. The part ``rnnlm`` learns it from the words alone, and P takes it over as it is (0: none).
    :param embedding_size: the size of word embeddings.
    :param layers: LSTM layers (the paper has one).
    :param max_length: the longest mention, 25 in the paper.
    :param mention_types: how many values of R mean "in a mention": 1 as in the paper, or the number of entity types.
    :param new_entity: new entities near r (``noise``, equation 7) or at zero (the paper's ablation).
    :param sigma: the standard deviation of a new entity's noise.
    :param features: the set of distance features f(e), see ``model.features``.
    :param mention_positions: tell the word where in a mention it stands, by a vector added in equation 6 for each R and each
        number of remaining words up to this one, apart for first words (0: off, as in the paper, where a word sees R and L
        through e_current alone).
    :param copying: let the words of a mention repeat what was said before of the same entity, with a probability that is learned
        (off: as in the paper, where an entity shapes words through its vector alone). A proposal, which has seen the word,
        compares it with every entity's words.
    :param softmax: ``classes`` (class-factored, equation 6) or ``full``.
    :param tied: use the word embeddings as output weights (needs embedding_size = hidden_size).
    :param restart_sentences: restart the LSTM at each sentence, as the authors' code does (the paper's text does not).
    :param dropout: rate on word embeddings and on LSTM outputs.
    :param variational: draw one dropout mask per document rather than one per token.
    :param weight_dropout: rate on the LSTM's recurrent weights.
    """

    mode: Mode = "generative"
    backbone: str = "lstm"
    hidden_size: int = 128
    entity_size: int = 0
    state_layers: str = ""
    projection: Projection = "linear"
    separate_update: bool = False
    projection_units: int = 0
    word_rank: int = 0
    lora_rank: int = 0
    output_rank: int = 0
    embedding_size: int = 128
    layers: int = 1
    max_length: int = 25
    mention_types: int = 1
    new_entity: NewEntity = "noise"
    sigma: float = 0.01
    features: str = "paper"
    mention_positions: int = 0
    copying: bool = False
    softmax: Softmax = "classes"
    tied: bool = False
    restart_sentences: bool = False
    dropout: float = 0.2
    variational: bool = False
    weight_dropout: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "state_layers", str(self.state_layers))  # one layer is a number in TOML
        check_types(self)
        check_least(self, 1, "embedding_size", "layers", "max_length", "mention_types")
        check_least(self, 1 if self.backbone == "lstm" else 0, "hidden_size")
        check_least(
            self,
            0,
            "mention_positions",
            "entity_size",
            "sigma",
            "word_rank",
            "lora_rank",
            "projection_units",
            "output_rank",
        )
        _require(self.layers <= MOST_LAYERS, f"an LSTM has at most {MOST_LAYERS} layers, not {self.layers}")
        told = "projection_units are those of a projection onto the sphere: they need projection = 'sphere'"
        _require(not self.projection_units or self.projection == "sphere", told)
        for name in ("dropout", "weight_dropout"):
            _require(0 <= getattr(self, name) < 1, f"{name} must be in [0, 1), not {getattr(self, name)}")
        sizes = self.embedding_size, self.hidden_size
        told = "tied embeddings need embedding_size = hidden_size, but these are {} and {}".format(*sizes)
        _require(not self.tied or sizes[0] == sizes[1], told)

    @property
    def entity_dim(self) -> int:
        """The size of e and r."""
        return self.entity_size or self.hidden_size


@dataclass(frozen=True)
class TrainingConfig:
    """How a network is trained; the paper's section 3 is ``adam`` 0.001 or ``adagrad`` 0.1, chosen on development data.

    :param batch_size: documents per update.
    :param shards: pieces that a batch is cut into; each is computed by itself, with dropout of its own, and their gradients are
        added up. More of them need less memory, and processes (``torchrun``) share them, whatever their number; 0: as many as
        there were processes when the training began.
    :param window: tokens per update and document; longer documents are trained in windows that carry the LSTM's and the
        entities' states over (0: whole documents).
    :param epochs: at most so many passes.
    :param patience: stop after so many epochs without a better development loss.
    :param clip: largest norm of the gradient (0: no clipping).
    :param schedule: ``plateau`` halves the learning rate whenever the development loss does not improve.
    :param embeddings: ``random``, ``glove`` (the packaged one) or a file of vectors to start from.
    :param word_classes: how the classes of the class-factored softmax are made.
    :param weights: factors of the parts of the loss, in the order R, E, L, X (the paper: all one).
    :param documents_per_epoch: how many documents an epoch has (0: all); the next epoch goes on with the next ones. Large corpora
        need it: the learning rate, the development loss and the checkpoints follow epochs.
    :param word_share: the share of words, drawn anew for each update, whose equation 6 is computed; they stand for all. A softmax
        over fifty thousand pieces is dear, and the entity side of a pretrained language model learns as well from a few.
    :param freeze_embeddings: keep word embeddings (and output weights tied to them) as they are, for a small corpus after a large
        one.
    """

    optimizer: Optimizer = "adam"
    learning_rate: float = 0.001
    batch_size: int = 8
    shards: int = 0
    window: int = 0
    epochs: int = 30
    patience: int = 4
    clip: float = 5.0
    schedule: Schedule = "plateau"
    weight_decay: float = 0.0
    weights: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    embeddings: str = "random"
    word_classes: Literal["frequency", "clustering"] = "clustering"
    documents_per_epoch: int = 0
    freeze_embeddings: bool = False
    word_share: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(self.weights))
        check_types(self)
        _require(self.learning_rate > 0, f"learning_rate must be positive, not {self.learning_rate}")
        check_least(self, 1, "batch_size", "epochs", "patience")
        check_least(self, 0, "shards", "window", "clip", "weight_decay", "documents_per_epoch")
        _require(0 < self.word_share <= 1, f"word_share must be in (0, 1], not {self.word_share}")
        good = len(self.weights) == 4 and min(self.weights) >= 0
        _require(good, "weights are four numbers that are not negative")


Config = TypeVar("Config")
"""A dataclass of settings."""


def to_dict(config: Any) -> dict[str, Any]:
    """A configuration as plain values, just as JSON gives them back."""
    values: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(config)))
    return values


FORMER_NAMES = {
    "kinds": "mention_types",
    "birth": "new_entity",
    "word_states": "mention_positions",
    "echo": "copying",
}
"""Settings that had other names before format 2 of model folders; files that have the old ones are still read."""


def rename_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same settings under today's names."""
    return {FORMER_NAMES.get(name, name): value for name, value in values.items()}


def from_dict(config_type: type[Config], values: Mapping[str, Any]) -> Config:
    """A configuration from plain values; an unknown name is an error that lists the known ones."""
    values = rename_settings(values)
    known = [field.name for field in dataclasses.fields(config_type)]  # type: ignore[arg-type]
    for name in sorted(set(values) - set(known)):
        where = f"for {config_type.__name__}; there are {', '.join(known)}"
        raise ConfigError(f"unknown setting {name!r} {where}")
    return config_type(**values)


def parse_toml_value(text: str) -> Any:
    """One TOML value; a word that is none is taken as the text it is."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def load_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file with readable errors."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: can't be read ({error.strerror or error})") from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # also numbers of thousands of digits, and lists without end
        raise ConfigError(f"{path}: this is not valid TOML ({error})") from error


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ConfigError(message)


def check_least(config: Any, least: int, *names: str) -> None:
    """Whether some settings are not below the least that they can be."""
    for name in names:
        value = getattr(config, name)
        _require(value >= least, f"{name} must be at least {least}, not {value}")


KINDS: dict[Any, tuple[type | tuple[type, ...], str]] = {
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
    str: (str, "a text"),
}


def check_types(config: Any) -> None:
    """Values from TOML and JSON come in any type: say which setting is wrong instead of failing far away."""
    for name, hint in get_type_hints(type(config)).items():
        value = getattr(config, name)
        if get_origin(hint) is Literal:
            choices = ", ".join(map(repr, get_args(hint)))
            _require(value in get_args(hint), f"{name} must be one of {choices}, not {value!r}")
        elif hint in KINDS:
            kind, description = KINDS[hint]
            good = isinstance(value, kind) and isinstance(value, bool) == (hint is bool)
            _require(good, f"{name} must be {description}, not {value!r}")
