"""The interface between the paper's generative story and the language model under it.

The story needs a language model that reads words (equation 2: h_t), gives the probability of a word's pieces from a vector
(equation 6: h_{t-1} plus a term of the entity), and goes on piece by piece. That is a :class:`Backbone`. Words stay the unit of
R, E and L; where words have several pieces, the states between them are rows of the same table, and p(word) is the product over
its pieces.

A configuration names its backbone (``backbone = "lstm"``; text after a colon is the backbone's own argument), which is looked up
in :data:`BACKBONES`.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.config import ModelConfig
from entitynlm.errors import ConfigError
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.preprocessing import IntArray
from entitynlm.model.encoding.tokenizer import EncodedWords, Tokenizer
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.products import apply_linear
from entitynlm.model.softmax import ClassSoftmax
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Span

Carry = Any
"""The state after which a backbone continues some documents; opaque to others, and never changed in place."""


@dataclass(frozen=True)
class HiddenStates:
    """The states of a batch of documents (or of the next chunk of each).

    :param words: words read, per document.
    :param table: (N, S) flat table of states; S is D, or more if a backbone gives the states of several layers.
    :param before: per document, (T,) rows of h_{t-1}, from which word t is predicted.
    :param after: per document, (T,) rows of h_t, which has read word t.
    :param carry: carry to the next chunk (meaningless for documents that ended before the longest one); None where none follows.
    :param pieces: per document, (P,) the row that each piece is predicted from (its word's ``before`` for a first piece); None
        where each word is one piece.
    """

    words: Sequence[EncodedWords]
    table: Tensor
    before: list[np.ndarray]
    after: list[np.ndarray]
    carry: Carry | None = None
    pieces: list[np.ndarray] | None = None

    @property
    def piece_rows(self) -> list[np.ndarray]:
        """Per document, (P,) the row that each piece is predicted from."""
        return self.before if self.pieces is None else self.pieces


@dataclass(frozen=True)
class OutputLayer:
    """A softmax over all pieces, logits = W u + b, which samplers compute by a shortcut.

    :param weight: (V, D) and :param bias: (V,) with the pieces that open a word first; :param openers: number of these.
    :param columns: (V,) column of each piece in this order.
    """

    weight: Tensor
    bias: Tensor | None
    openers: int
    columns: Tensor

    def to(self, like: Tensor) -> "OutputLayer":
        """Copy the layer to another device and precision."""
        if self.weight.dtype == like.dtype and self.weight.device == like.device:
            return self
        bias = None if self.bias is None else self.bias.to(like)
        return OutputLayer(self.weight.to(like), bias, self.openers, self.columns.to(like.device))

    def logits(self, u: Tensor) -> Tensor:
        """(N, D) → (N, V), in this layer's order."""
        return apply_linear(u, self.weight, self.bias)

    def log_prob(self, logits: Tensor, rows: Tensor, pieces: Tensor, opens: Tensor) -> Tensor:
        """(P,) log p of pieces, each from a row of logits (N, V); (P,) ``opens`` says where the piece must open a word."""
        openers = logits[:, : self.openers].logsumexp(-1)[rows]
        total = torch.logaddexp(openers, logits[:, self.openers :].logsumexp(-1)[rows])
        chosen = logits[rows, self.columns[pieces.clamp_max(len(self.weight) - 1)]]
        ends = pieces == len(self.weight)
        return torch.where(ends, openers - total, chosen - torch.where(opens, openers, total))


class Backbone(nn.Module):
    """A language model behind the story.

    :ivar hidden_size: D, the size of h.
    :ivar vocabulary_size: number of pieces.
    :ivar pretrained: whether it brings trained parameters, which are not initialised; equation 6 then starts as the language
        model's own distribution (W_e is zero).
    """

    hidden_size: int
    vocabulary_size: int
    pretrained: bool = False
    chunk_words: int = 8_192  # of a long text that are read at once: bounds the memory

    @property
    def state_size(self) -> int:
        """S, the columns of the table of states."""
        return self.hidden_size

    def output_states(self, h: Tensor) -> Tensor:
        """(…, S) → (…, D) the columns that words are predicted from, which come first."""
        return h if h.shape[-1] == self.hidden_size else h[..., : self.hidden_size]

    @staticmethod
    def make_tokenizer(config: ModelConfig) -> Tokenizer | None:
        """Make the language model's own tokenizer; None where a vocabulary is made from the training documents."""
        return None

    def prepare(self, documents: Sequence[EncodedWords], progress: Progress = SILENT) -> None:
        """Prepare for documents that will be read many times; a frozen backbone caches their states."""

    @abstractmethod
    def read(self, documents: Sequence[EncodedWords], carry: Carry | None = None) -> HiddenStates:
        """Read documents, or the next chunk of each, given the carry of the last chunk."""

    @abstractmethod
    def log_prob(self, u: Tensor, pieces: Tensor, places: Tensor | None = None) -> Tensor:
        """(N,) log p(piece | u) for u (N, D), a state plus the term of an entity, and pieces (N,).

        :param places: (N,) place of each piece, as the tokenizer numbers them; None where each word is one piece.
        """

    @abstractmethod
    def log_probs(self, u: Tensor, places: Tensor | int = 0) -> Tensor:
        """(N, V) the whole distribution over the piece at a place, or (N,) places; impossible ones have -inf."""

    @abstractmethod
    def start(self) -> Carry:
        """Return the carry before the first word of one document."""

    @abstractmethod
    def state(self, carry: Carry) -> Tensor:
        """(B, D) h after all that was read."""

    @abstractmethod
    def step(self, carry: Carry, pieces: Tensor) -> Carry:
        """Read one more piece (B,) of each document; returns the carry after it."""

    def reads(self, piece: int) -> bool:
        """Tell whether a piece is read; a piece that only marks a word's end is not."""
        return True

    def step_each(self, carries: Sequence[Carry], pieces: Sequence[int]) -> list[Carry]:
        """Read one more piece after each of several documents with separate carries, if possible in one batch."""
        device = next(self.parameters()).device
        pairs = zip(carries, pieces, strict=True)
        return [self.step(carry, torch.tensor([piece], device=device)) for carry, piece in pairs]

    @abstractmethod
    def select(self, carry: Carry, documents: Sequence[int]) -> Carry:
        """Select the carry of some documents, detached from the gradient of the past."""

    # -- states of a document's tokens, for a network that finds mentions in them ----------------------------------------

    @property
    def token_state_size(self) -> int:
        """Columns of the states that :meth:`read_tokens` gives."""
        return self.state_size

    def read_tokens(
        self, document: EncodedDocument, chunks: Sequence[Span], *, exact: bool = True
    ) -> Iterator[Tensor]:
        """Yield the states (T, S) of the tokens of each chunk of a document, from the first chunk to the last.

        A token that the model does not read has the state of the token before it. Where ``exact`` is false, a backbone may give
        less exact states that are cheaper.
        """
        count = count_words_read(document, chunks[-1][1])
        carry, read = None, 0
        latest = torch.zeros(1, self.state_size, device=next(self.parameters()).device)
        for start, stop in chunks:
            after, states = int(count[stop - 1]), latest
            if after > read:
                reading = self.read([document.words[read:after]], carry)
                states = torch.cat([latest, reading.table[torch.from_numpy(reading.after[0])]])
                carry, latest = reading.carry, states[-1:]
            yield states[torch.from_numpy(count[start:stop] - read)]
            read = after

    @torch.no_grad()
    def read_short(
        self, documents: Sequence[EncodedDocument], lengths: Sequence[int], *, exact: bool = True
    ) -> list[Tensor]:
        """Return the states (T, S) of all tokens of short documents, which are read in one batch, because this is cheaper."""
        reading = self.read([document.words for document in documents])
        none = reading.table.new_zeros(1, self.state_size)
        tables = [torch.cat([none, reading.table[torch.from_numpy(after)]]) for after in reading.after]
        counts = map(count_words_read, documents, lengths)
        return [states[torch.from_numpy(own)] for states, own in zip(tables, counts, strict=True)]

    def read_corpus(
        self, documents: Sequence[EncodedDocument], lengths: Sequence[int], progress: Progress = SILENT
    ) -> Iterator[Tensor]:
        """Return the states of the tokens of whole documents with these numbers of tokens; expensive states come from a cache."""
        for document, length in zip(documents, lengths, strict=True):
            yield from self.read_tokens(document, [(0, length)])

    @property
    def piece_vectors(self) -> Tensor:
        """(V, size) input vectors of pieces: word vectors, where words are pieces."""
        raise ConfigError(f"{type(self).__name__} has no vectors of words")

    def class_factors(self) -> tuple[ClassSoftmax, Tensor | None] | None:
        """Return the class-factored output layer and the embeddings tied to it, for a shortcut of the sampler; None without."""
        return None

    def output_layer(self) -> OutputLayer | None:
        """Return the output layer if it is one softmax over all pieces and words end by END (see ``huggingface``)."""
        return None

    def copy_from(self, source: "Backbone") -> list[str]:
        """Copy another backbone's parameters; returns the names of those copied."""
        own = self.state_dict()
        fitting = {name: value for name, value in source.state_dict().items() if name in own}
        for name, value in fitting.items():
            if own[name].shape != value.shape:
                raise ConfigError(
                    f"{name} is {tuple(value.shape)} in the model to start from and {tuple(own[name].shape)} here: "
                    "take the same hidden_size, embedding_size, layers, softmax and tied"
                )
        self.load_state_dict({**own, **fitting})
        return sorted(fitting)


BACKBONES: dict[str, type[Backbone]] = {}
"""By the name that configurations use. A backbone is made from a configuration, the number of pieces, the start piece and the
word classes (of a class-factored softmax)."""

BackboneType = TypeVar("BackboneType", bound=type[Backbone])


def register_backbone(name: str) -> Callable[[BackboneType], BackboneType]:
    """Register a backbone under the name that configurations use."""

    def register(backbone: BackboneType) -> BackboneType:
        BACKBONES[name] = backbone
        return backbone

    return register


def find_backbone(config: ModelConfig) -> type[Backbone]:
    """Look up the class of the backbone that a configuration names."""
    name = config.backbone.partition(":")[0]
    if name not in BACKBONES:
        raise ConfigError(f"there is no backbone {name!r}; there are {', '.join(sorted(BACKBONES))}")
    return BACKBONES[name]


def make_backbone(config: ModelConfig, pieces: int, start: int, classes: WordClasses | None) -> Backbone:
    """Make the backbone that a configuration names."""
    make: Callable[..., Backbone] = find_backbone(config)
    return make(config, pieces, start, classes)


def count_words_read(document: EncodedDocument, tokens: int) -> IntArray:
    """(tokens,) number of the model's words up to each token; a token that the model does not read adds none."""
    count = np.zeros(tokens, dtype=np.int64)
    words = np.flatnonzero(document.origin >= 0)
    count[document.origin[words]] = words + 1
    return np.maximum.accumulate(count)


def initialise(module: nn.Module) -> None:
    """Initialise matrices by Glorot and Bengio's rule (section 3), biases by zero, and the LSTM's forget gate open.

    Backbones with parameters of their own keep them.
    """
    kept = {
        id(parameter)
        for part in module.modules()
        if isinstance(part, Backbone) and part.pretrained
        for parameter in part.parameters()
    }
    for name, parameter in module.named_parameters():
        if id(parameter) in kept:
            continue
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
        else:
            nn.init.zeros_(parameter)
        if "bias_ih" in name:
            quarter = len(parameter) // 4  # input, forget, cell and output gates lie one after the other
            parameter.data[quarter : 2 * quarter] = 1.0


def draw_mask(values: Tensor, rate: float) -> Tensor:
    """Draw a dropout mask with the shape of ``values``: 0 with probability ``rate``, else 1 / (1 - rate).

    Torch draws a 64-bit number per entry, which on a CPU takes a tenth of a training step. Sixteen bits per entry are enough: the
    rate is met to 1/65,536.
    """
    if values.device.type != "cpu":
        return torch.empty_like(values).bernoulli_(1 - rate).div_(1 - rate)
    draws = torch.empty((values.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    lanes = draws.view(torch.int16)[: values.numel()].view(values.shape)
    kept = lanes < min(round((1 - rate) * 65_536) - 32_768, 32_767)
    return kept.to(values.dtype).div_(1 - rate)


class LanguageModel(nn.Module):
    """RNNLM, p(X_t | h_{t-1}) = softmax(W h_{t-1} + b): a backbone used alone, with the dropout and training of EntityNLM."""

    def __init__(
        self, config: ModelConfig, pieces: int, start: int, classes: WordClasses | None = None
    ) -> None:
        super().__init__()
        self.config = config
        self.backbone: Backbone = make_backbone(config, pieces, start, classes)
        initialise(self)
