"""Configurations: frozen structures that are checked when they are read from TOML or JSON, and stored inside every model.

``ModelConfig`` spans the space of the paper's section 3 and a few options beyond it; the defaults of everything that the
paper does not have are "off".
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from entitynlm.errors import ConfigError
from entitynlm.files import read_bounded

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Mode = Literal["generative", "causal", "rnnlm"]
NewEntity = Literal["noise", "zero"]
Features = Literal["none", "paper", "rich"]
Softmax = Literal["classes", "full"]
Embeddings = Literal["random", "glove-6b-50d"]
Optimizer = Literal["adam", "adagrad"]
Schedule = Literal["constant", "plateau", "cosine"]

Positive = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]
NonNegative = Annotated[float, Meta(ge=0)]
Rate = Annotated[float, Meta(ge=0, lt=1)]


class ModelConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings that fix the shape and the meaning of a network's parameters.

    :param mode: ``generative`` is the paper's P; ``causal`` is its proposal Q, which reads a word before it decides about the
        word's mention and predicts no words; ``rnnlm`` is the baseline, a language model with the same LSTM and softmax and
        without entities.
    :param backbone: language model that reads and predicts words (``model.backbones``): ``lstm`` is the paper's,
        ``huggingface:NAME`` a pretrained one, whose states are projected to ``hidden_size`` (``model.additions``).
    :param start_piece: piece that a pretrained backbone reads before a text; None: the piece that separated documents when the
        backbone was trained.
    :param hidden_size: size of e and r, and of the LSTM's h (the convex update of equation 8 adds h and e).
    :param embedding_size: size of the LSTM's word embeddings.
    :param max_length: longest mention, 25 words in the paper.
    :param mention_types: number of values of R that mean "in a mention": 1 as in the paper, or the number of entity types.
    :param new_entity: start new entities near r (``noise``, equation 7) or at zero (the paper's ablation).
    :param sigma: standard deviation of a new entity's noise.
    :param features: set of distance features f(e), see ``model.features``.
    :param mention_positions: add to equation 6 a vector for the word's place in its mention: for each R and each number of
        remaining words up to this one, with separate vectors for first words (0: off, as in the paper, where a word sees R and L
        through e_current alone).
    :param softmax: softmax of the LSTM, ``classes`` (class-factored, equation 6) or ``full``.
    :param tied: use the LSTM's word embeddings as output weights (needs embedding_size = hidden_size).
    :param tuned_output: fine-tune a pretrained backbone's word prediction by a small network on its last states. The part
        ``rnnlm`` learns this network from the words alone, and P takes it over unchanged.
    :param dropout: rate on word embeddings and on LSTM outputs, and in the projection of a pretrained backbone's states.
    :param variational: draw one dropout mask per document rather than one per token.
    :param weight_dropout: rate on the LSTM's recurrent weights.
    """

    mode: Mode = "generative"
    backbone: str = "lstm"
    start_piece: str | None = None
    hidden_size: Positive = 128
    embedding_size: Positive = 128
    max_length: Positive = 25
    mention_types: Positive = 1
    new_entity: NewEntity = "noise"
    sigma: NonNegative = 0.01
    features: Features = "paper"
    mention_positions: Count = 0
    softmax: Softmax = "classes"
    tied: bool = False
    tuned_output: bool = False
    dropout: Rate = 0.2
    variational: bool = False
    weight_dropout: Rate = 0.0

    def __post_init__(self) -> None:
        if self.tied and self.embedding_size != self.hidden_size:
            raise ConfigError(
                "tied embeddings need embedding_size = hidden_size, but these are "
                f"{self.embedding_size} and {self.hidden_size}"
            )


class TrainingConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a training; the paper's section 3 is ``adam`` 0.001 or ``adagrad`` 0.1, chosen on development data.

    :param batch_size: documents per update.
    :param window: tokens per update and document; longer documents are trained in windows that carry the LSTM's and the entities'
        states over (0: whole documents).
    :param epochs: largest number of passes.
    :param patience: number of epochs without a better development loss after which training stops.
    :param clip: largest norm of the gradient (0: no clipping).
    :param schedule: ``plateau`` halves the learning rate whenever the development loss does not improve.
    :param weights: factors of the terms of the loss, in the order R, E, L, X (the paper: all one).
    :param embeddings: initial word embeddings: random numbers, or the packaged GloVe.
    :param documents_per_epoch: number of documents of an epoch (0: all); the next epoch continues with the next documents. Large
        corpora need it, because learning rate, development loss and checkpoints follow epochs.
    :param freeze_embeddings: keep word embeddings (and output weights tied to them) fixed, for a small corpus after a large one.
    :param word_share: share of words, drawn anew for each update, whose equation 6 is computed and scaled to all, because a
        softmax over fifty thousand pieces is expensive, and the entity side of a pretrained language model learns as well from a
        few.
    """

    optimizer: Optimizer = "adam"
    learning_rate: Annotated[float, Meta(gt=0)] = 0.001
    batch_size: Positive = 8
    window: Count = 0
    epochs: Positive = 30
    patience: Positive = 4
    clip: NonNegative = 5.0
    schedule: Schedule = "plateau"
    weight_decay: NonNegative = 0.0
    weights: tuple[NonNegative, NonNegative, NonNegative, NonNegative] = (1.0, 1.0, 1.0, 1.0)
    embeddings: Embeddings = "random"
    documents_per_epoch: Count = 0
    freeze_embeddings: bool = False
    word_share: Annotated[float, Meta(gt=0, le=1)] = 1.0


Config = TypeVar("Config", bound=msgspec.Struct)
"""A structure of settings."""


def to_dict(config: msgspec.Struct) -> dict[str, Any]:
    """Return a configuration as plain values, in the types that JSON has."""
    values: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(config))
    return values


def from_dict(config_type: type[Config], values: Mapping[str, Any]) -> Config:
    """Make a configuration from plain values; an unknown name, a wrong type or range is an error that names the setting."""
    known = config_type.__struct_fields__
    for name in sorted(set(values) - set(known)):
        raise ConfigError(
            f"unknown setting {name!r} for {config_type.__name__}; there are {', '.join(known)}"
        )
    try:
        return msgspec.convert(dict(values), config_type)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at `$.")
        name = place.rstrip("`")
        hint = get_type_hints(config_type).get(name)
        choices = f", one of {', '.join(get_args(hint))}" if get_origin(hint) is Literal else ""
        raise ConfigError(
            f"{name or config_type.__name__}: {reason}{choices}; found {values.get(name)!r}"
        ) from error


def parse_toml_value(text: str) -> Any:
    """Read one TOML value; a word that is no TOML value is taken as text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        return text


def load_toml(path: str | Path) -> dict[str, Any]:
    """Read a TOML file with readable errors."""
    try:
        return tomllib.loads(read_bounded(Path(path)).decode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: can't be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:  # also numbers of thousands of digits, and endless lists
        raise ConfigError(f"{path}: this is not valid TOML ({error})") from error
