"""The seam between the paper's generative story and the language model under it.

Everything above needs of a language model that it reads words (equation 2: h_t), that it gives the probability of a word's pieces
from a vector (equation 6: h_{t-1} with something about entities added), and that it goes on piece by piece. That is a
:class:`Backbone`. Words stay the unit of R, E and L; where words have several pieces, the states between them are rows of the
same table, and p(word) is the product over its pieces.

A backbone is named in a model's configuration (``backbone = "lstm"``, with what follows a colon as an argument of its own) and
found in :data:`BACKBONES`.
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
"""The state that a backbone reads on from, for some documents at once; only the backbone looks inside, and never changes it in
place."""


@dataclass(frozen=True)
class HiddenStates:
    """The states of a batch of documents (or of the next chunk of each).

    :param words: what was read, per document.
    :param table: (N, S) flat table of states; S is D, unless a backbone gives the states of several layers.
    :param before: per document, (T,) rows of h_{t-1}, from which word t is predicted.
    :param after: per document, (T,) rows of h_t, which has read word t.
    :param carry: for the chunk that follows; it means nothing for documents shorter than the longest one, because these have
        ended. None where nothing can follow.
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
    """A softmax over all pieces, logits = W u + b, for samplers that have a shortcut for it.

    :param weight: (V, D) and :param bias: (V,) in an order in which pieces that open a word come first, :param openers: of them.
    :param columns: (V,) where each piece is in this order.
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
        """(P,) log p of pieces from logits (N, V), of which each piece has a row; (P,) ``opens`` says that a word must open."""
        openers = logits[:, : self.openers].logsumexp(-1)[rows]
        total = torch.logaddexp(openers, logits[:, self.openers :].logsumexp(-1)[rows])
        chosen = logits[rows, self.columns[pieces.clamp_max(len(self.weight) - 1)]]
        ends = pieces == len(self.weight)
        return torch.where(ends, openers - total, chosen - torch.where(opens, openers, total))


class Backbone(nn.Module):
    """A language model behind the story.

    :ivar hidden_size: D, the size of h.
    :ivar vocabulary_size: how many different pieces there are.
    :ivar pretrained: whether it comes trained: its parameters are not drawn at the start, and equation 6 starts out as the
        language model's own (W_e is zero).
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
        """(…, S) → (…, D) those columns that words are predicted from, which come first."""
        return h if h.shape[-1] == self.hidden_size else h[..., : self.hidden_size]

    @staticmethod
    def make_tokenizer(config: ModelConfig) -> Tokenizer | None:
        """Make the tokenizer of a language model; None where a vocabulary is made from the training documents."""
        return None

    def prepare(self, documents: Sequence[EncodedWords], progress: Progress = SILENT) -> None:
        """Get ready for documents that will be read many times; a backbone whose states never change keeps them."""

    @abstractmethod
    def read(self, documents: Sequence[EncodedWords], carry: Carry | None = None) -> HiddenStates:
        """Read documents, or the next chunk of each, given what the last chunk left."""

    @abstractmethod
    def log_prob(self, u: Tensor, pieces: Tensor, places: Tensor | None = None) -> Tensor:
        """(N,) log p(piece | u) for u (N, D), a state with what is added to it, and pieces (N,).

        :param places: (N,) the place of each piece, as the tokenizer numbers them; None where each word is one piece.
        """

    @abstractmethod
    def log_probs(self, u: Tensor, places: Tensor | int = 0) -> Tensor:
        """(N, V) the whole distribution over the piece at a place, or (N,) places; impossible ones have -inf."""

    @abstractmethod
    def start(self) -> Carry:
        """Give the carry before the first word of one document."""

    @abstractmethod
    def state(self, carry: Carry) -> Tensor:
        """(B, D) h after all that was read."""

    @abstractmethod
    def step(self, carry: Carry, pieces: Tensor) -> Carry:
        """Read one more piece (B,) of each document; returns the carry after it."""

    def reads(self, piece: int) -> bool:
        """Tell whether a piece is read, or only says where a word ends."""
        return True

    def step_each(self, carries: Sequence[Carry], pieces: Sequence[int]) -> list[Carry]:
        """Read one more piece after each of several documents, whose carries are apart; a backbone may read them together."""
        device = next(self.parameters()).device
        pairs = zip(carries, pieces, strict=True)
        return [self.step(carry, torch.tensor([piece], device=device)) for carry, piece in pairs]

    @abstractmethod
    def select(self, carry: Carry, documents: Sequence[int]) -> Carry:
        """Take the carry of some of the documents, cut off from the gradient of what is past."""

    # -- states of a document's tokens, for a network that finds mentions in them ----------------------------------------

    @property
    def token_state_size(self) -> int:
        """Columns of the states that :meth:`read_tokens` gives."""
        return self.state_size

    def read_tokens(
        self, document: EncodedDocument, chunks: Sequence[Span], *, exact: bool = True
    ) -> Iterator[Tensor]:
        """Give the states (T, S) of the tokens of each chunk of a document; chunks follow one another from the first token on.

        A token that the model does not read has the state of the token before it. A backbone that has less exact states at a
        lower price gives these where ``exact`` is false.
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
        """Give the states (T, S) of all tokens of short documents, which are read together: cheaper than one after another."""
        reading = self.read([document.words for document in documents])
        none = reading.table.new_zeros(1, self.state_size)
        tables = [torch.cat([none, reading.table[torch.from_numpy(after)]]) for after in reading.after]
        counts = map(count_words_read, documents, lengths)
        return [states[torch.from_numpy(own)] for states, own in zip(tables, counts, strict=True)]

    def read_corpus(
        self, documents: Sequence[EncodedDocument], lengths: Sequence[int], progress: Progress = SILENT
    ) -> Iterator[Tensor]:
        """Give the states of the tokens of whole documents, of so many tokens; states that are dear come from a cache."""
        for document, length in zip(documents, lengths, strict=True):
            yield from self.read_tokens(document, [(0, length)])

    @property
    def piece_vectors(self) -> Tensor:
        """(V, size) input vectors of pieces: word vectors, where words are pieces."""
        raise ConfigError(f"{type(self).__name__} has no vectors of words")

    def class_factors(self) -> tuple[ClassSoftmax, Tensor | None] | None:
        """Give a class-factored output layer, if this is one, and the embeddings tied to it: samplers have a shortcut."""
        return None

    def output_layer(self) -> OutputLayer | None:
        """Give the output layer, if it is one softmax over all pieces whose words end by END (see ``huggingface``)."""
        return None

    def copy_from(self, source: "Backbone") -> list[str]:
        """Start from another backbone's parameters; the names of those that were set."""
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
    """Make a backbone known by the name that configurations use."""

    def register(backbone: BackboneType) -> BackboneType:
        BACKBONES[name] = backbone
        return backbone

    return register


def find_backbone(config: ModelConfig) -> type[Backbone]:
    """Find the class of the backbone that a configuration names."""
    name = config.backbone.partition(":")[0]
    if name not in BACKBONES:
        raise ConfigError(f"there is no backbone {name!r}; there are {', '.join(sorted(BACKBONES))}")
    return BACKBONES[name]


def make_backbone(config: ModelConfig, pieces: int, start: int, classes: WordClasses | None) -> Backbone:
    """Make the backbone that a configuration names."""
    make: Callable[..., Backbone] = find_backbone(config)
    return make(config, pieces, start, classes)


def count_words_read(document: EncodedDocument, tokens: int) -> IntArray:
    """(tokens,) how many of the model's words have been read after each token; a token that is no word adds nothing."""
    count = np.zeros(tokens, dtype=np.int64)
    words = np.flatnonzero(document.origin >= 0)
    count[document.origin[words]] = words + 1
    return np.maximum.accumulate(count)


def initialise(module: nn.Module) -> None:
    """Glorot and Bengio's rule for all matrices (section 3), zero for biases; an LSTM starts out remembering.

    Backbones that bring their own parameters keep them.
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
    """Draw a dropout mask of the shape of ``values``: 0 with probability ``rate``, else 1 / (1 - rate).

    Torch draws one number of 64 bits per entry, which on a CPU takes a tenth of the time of a whole training step. Sixteen bits
    per entry are plenty: the rate is met to 1/65,536.
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
