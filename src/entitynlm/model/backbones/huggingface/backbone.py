"""A pretrained causal language model behind the story.

It is frozen: its states are computed once, and only the entity side is trained. p(word) is the product over its pieces of p(piece
| h + W_e e_current), and W_e starts at zero, so P(X) starts as the language model's own. Equations 3, 4, 5 and 8 use the states
of some of its layers.

A word's probability includes that the word ends (Pimentel & Meister 2024; Oh & Schuler 2024): a piece that can end a word is
followed by the pseudo-piece END, whose probability is that of all pieces that open a new word; the next word's first piece is one
of these.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.config import ModelConfig
from entitynlm.model.backbones.base import (
    Backbone,
    Carry,
    HiddenStates,
    OutputLayer,
    count_words_read,
    register_backbone,
)
from entitynlm.model.backbones.huggingface.reader import LanguageModelRuntime
from entitynlm.model.backbones.huggingface.state_cache import read_cached
from entitynlm.model.backbones.huggingface.tokenizer import CONTINUE, OPEN, SubwordTokenizer
from entitynlm.model.backbones.huggingface.weights import load_language_model
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.tokenizer import EncodedWords, Tokenizer
from entitynlm.model.encoding.word_classes import WordClasses
from entitynlm.model.products import FEW_ROWS
from entitynlm.progress import SILENT, Progress
from entitynlm.text.document import Span

DISTRIBUTIONS_AT_ONCE = 256
"""Distributions over all pieces that are computed at once: bounds the memory."""

ADAPTER_UNITS = 64
"""Units of the hidden layer that fine-tuning adds to the last states."""

ENTITY_HEIGHT = 0.8
"""The height, between the first layer and the last, of the states that say most about entities."""

TOKEN_HEIGHT = 0.6
"""The height of the states that say most about mentions and their antecedents: SmolLM2's layer 18 of 30 was the best."""


@register_backbone("huggingface")
class HuggingFaceBackbone(Backbone):
    """``backbone = "huggingface:NAME"``: a name that :mod:`.weights` finds a causal language model by."""

    chunk_words = 2_048
    pretrained = True

    def __init__(
        self, config: ModelConfig, pieces: int, start: int, classes: WordClasses | None = None
    ) -> None:
        super().__init__()
        self.config = config
        name = config.backbone.partition(":")[2]
        self.runtime: LanguageModelRuntime = load_language_model(name, start)
        self.vocabulary_size = self.runtime.pieces + 1
        last = self.runtime.layers  # which predicts words
        self.layers = tuple(sorted({last, round(ENTITY_HEIGHT * last)}, reverse=True))
        self.hidden_size = self.runtime.width
        self.adapter: nn.Sequential | None = None
        if config.tuned_output and config.mode in ("generative", "rnnlm"):
            self.adapter = make_adapter(self.hidden_size, config.dropout)
            self.adapter.requires_grad_(config.mode == "rnnlm")
        self._prepared: set[bytes] = set()
        self._output: OutputLayer | None = None
        self._latest: tuple[Tensor, Tensor] | None = None

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "HuggingFaceBackbone":
        """Move the language model too, which is no submodule, when ``to`` moves this module to a device."""
        super()._apply(fn, recurse)
        self.runtime.move(fn(torch.empty(0)).device)
        self._output = None
        return self

    @property
    def state_size(self) -> int:
        return len(self.layers) * self.runtime.width

    @staticmethod
    def make_tokenizer(config: ModelConfig) -> Tokenizer:
        runtime = load_language_model(config.backbone.partition(":")[2])
        return SubwordTokenizer.of_runtime(runtime, start_piece=config.start_piece)

    # -- reading -----------------------------------------------------------------------------------------------------

    def prepare(self, documents: Sequence[EncodedWords], progress: Progress = SILENT) -> None:
        """Compute states that are not in the cache yet; prepared documents are read from the cache."""
        real = [self._take_real(words) for words in documents]
        read_cached(self.runtime, real, self.layers, progress)
        self._prepared.update(pieces.tobytes() for pieces in real)

    def read(self, documents: Sequence[EncodedWords], carry: Carry | None = None) -> HiddenStates:
        real = [self._take_real(words) for words in documents]
        states, carry = self._read(real, carry)
        before, after, rows, base = [], [], [], 0
        for words, own in zip(documents, states, strict=True):
            assert words.piece_bounds is not None
            count = np.concatenate([[0], np.cumsum(words.all_pieces < self.runtime.pieces)])
            rows.append(base + count[:-1])
            before.append(base + count[words.piece_bounds[:-1]])
            after.append(base + count[words.piece_bounds[1:]])
            base += len(own)
        table = torch.cat([own.to(self.runtime.device) for own in states])
        return HiddenStates(documents, table, before, after, carry, rows)

    def _read(self, real: list[np.ndarray], carry: Carry | None) -> tuple[list[Tensor], Carry | None]:
        """Read documents; states of prepared documents come from disk, and have no carry."""
        if carry is None and all(pieces.tobytes() in self._prepared for pieces in real):
            kept = read_cached(self.runtime, real, self.layers)
            return [torch.from_numpy(np.array(states)) for states in kept], None
        return self.runtime.read(real, self.layers, carry)

    def _take_real(self, words: EncodedWords) -> np.ndarray:
        """Select the pieces that the language model reads: all but END."""
        return words.all_pieces[words.all_pieces < self.runtime.pieces]

    def output_states(self, h: Tensor) -> Tensor:
        states = super().output_states(h)
        return states if self.adapter is None else states + self.adapter(states)

    # -- states of tokens --------------------------------------------------------------------------------------------

    @property
    def token_state_size(self) -> int:
        return self.runtime.width

    @property
    def token_layer(self) -> int:
        """The layer whose states :meth:`read_tokens` gives; layers above it are not run."""
        return round(TOKEN_HEIGHT * self.runtime.layers)

    def read_tokens(
        self, document: EncodedDocument, chunks: Sequence[Span], *, exact: bool = True
    ) -> Iterator[Tensor]:
        runtime = self.runtime if exact else self.runtime.reduced
        pieces, tokens = self._take_real(document.words), chunks[-1][1]
        count = self._count_pieces_read(document, tokens)
        carry, read, kept = None, 0, torch.empty(0, self.runtime.width, device=runtime.device)
        for start, stop in chunks:
            first, last = int(count[start - 1]) if start else 0, int(count[stop - 1])
            after = min(runtime.find_border(last), int(count[-1]))
            found, carry = runtime.read([pieces[read:after]], (self.token_layer,), carry, keep=stop < tokens)
            states = torch.cat([kept, found[0][len(kept) > 0 :]])  # after the pieces from the number first on
            yield states[torch.from_numpy(count[start:stop] - first)]
            read, kept = after, states[last - first :]

    def read_short(
        self, documents: Sequence[EncodedDocument], lengths: Sequence[int], *, exact: bool = True
    ) -> list[Tensor]:
        runtime = self.runtime if exact else self.runtime.reduced
        states = runtime.read_short([self._take_real(each.words) for each in documents], self.token_layer)
        read = map(self._count_pieces_read, documents, lengths)
        return [own[torch.from_numpy(rows)] for own, rows in zip(states, read, strict=True)]

    def read_corpus(
        self, documents: Sequence[EncodedDocument], lengths: Sequence[int], progress: Progress = SILENT
    ) -> Iterator[Tensor]:
        pieces = [self._take_real(document.words) for document in documents]
        cached = read_cached(self.runtime, pieces, (self.token_layer,), progress)
        for document, length, states in zip(documents, lengths, cached, strict=True):
            yield torch.from_numpy(states[self._count_pieces_read(document, length)])

    def _count_pieces_read(self, document: EncodedDocument, tokens: int) -> np.ndarray:
        """(tokens,) number of pieces that the language model has read after each token."""
        assert document.piece_bounds is not None
        real = np.concatenate([[0], np.cumsum(document.words.all_pieces < self.runtime.pieces)])
        return real[document.piece_bounds[count_words_read(document, tokens)]]

    # -- predicting --------------------------------------------------------------------------------------------------

    def output_layer(self) -> OutputLayer:
        """Return the language model's own output layer, with the pieces that open words first."""
        if self._output is None:
            self._output = order_output(self.runtime)
        return self._output

    def log_prob(self, u: Tensor, pieces: Tensor, places: Tensor | None = None) -> Tensor:
        assert places is not None
        parts = (part.split(DISTRIBUTIONS_AT_ONCE) for part in (u, pieces, places))
        found = [self._log_prob(*some) for some in zip(*parts, strict=True)]
        return torch.cat(found) if found else u.new_zeros(0)

    def _log_prob(self, u: Tensor, pieces: Tensor, places: Tensor) -> Tensor:
        output = self.output_layer().to(u)
        new = torch.ones(len(u), dtype=torch.bool, device=u.device)
        new[1:] = (u[1:] != u[:-1]).any(1)  # END and the piece after it are predicted from one state
        return output.log_prob(output.logits(u[new]), new.cumsum(0) - 1, pieces, places == OPEN)

    def log_probs(self, u: Tensor, places: Tensor | int = 0) -> Tensor:
        output, log_probs = self.output_layer().to(u), self._predict(u)
        places = torch.as_tensor(places, device=u.device).expand(len(u))[:, None]
        log_openers = log_probs[:, : output.openers].logsumexp(-1, keepdim=True)
        end = log_openers.masked_fill(places != CONTINUE, -torch.inf)
        opens = torch.arange(log_probs.shape[1], device=u.device) < output.openers
        impossible = ((places == OPEN) & ~opens) | ((places == CONTINUE) & opens)
        log_probs = log_probs - log_openers.masked_fill(places != OPEN, 0)
        return torch.cat([log_probs.masked_fill(impossible, -torch.inf)[:, output.columns], end], 1)

    def _predict(self, u: Tensor) -> Tensor:
        """(N, V) log-probabilities of all pieces but END; the last rows are cached, since the state stays the same after END."""
        if self._latest is not None and u.shape[1:] == self._latest[0].shape[1:]:
            same = (u[:, None] == self._latest[0]).all(-1)
            if bool(same.any(1).all()):
                return self._latest[1][same.int().argmax(1)]
        log_probs = torch.log_softmax(self.output_layer().to(u).logits(u), -1)
        if len(u) <= FEW_ROWS and not torch.is_grad_enabled():
            self._latest = (u.clone(), log_probs)
        return log_probs

    # -- going on piece by piece -------------------------------------------------------------------------------------

    def start(self) -> Carry:
        return self.runtime.read([np.zeros(0, dtype=np.int64)], self.layers)[1]

    def state(self, carry: Carry) -> Tensor:
        return torch.cat([past.states for past in carry])

    def step(self, carry: Carry, pieces: Tensor) -> Carry:
        if bool((pieces >= self.runtime.pieces).all()):
            return carry  # END is a decision, and nothing that is read
        return self.runtime.step(carry, pieces, self.layers)

    def reads(self, piece: int) -> bool:
        return piece < self.runtime.pieces

    def step_each(self, carries: Sequence[Carry], pieces: Sequence[int]) -> list[Carry]:
        pasts = tuple(past for (past,) in carries)
        return [(past,) for past in self.runtime.step(pasts, torch.tensor(pieces), self.layers)]

    def select(self, carry: Carry, documents: Sequence[int]) -> Carry:
        return tuple(carry[document] for document in documents)

    @property
    def piece_vectors(self) -> Tensor:
        vectors: Tensor = self.runtime.model.get_input_embeddings().weight
        return vectors


def make_adapter(size: int, dropout: float) -> nn.Sequential:
    """Make the network that fine-tuning adds to the last states; zero at the start, so that P(X) is the language model's own."""
    last = nn.Linear(ADAPTER_UNITS, size)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(
        nn.LayerNorm(size), nn.Linear(size, ADAPTER_UNITS), nn.GELU(), nn.Dropout(dropout), last
    )


def order_output(runtime: LanguageModelRuntime) -> OutputLayer:
    """Order the output layer so that opening pieces come first; all users of the language model share one copy."""
    ordered = runtime.ordered_output
    if ordered is None:
        openers = torch.from_numpy(SubwordTokenizer.of_runtime(runtime).openers)
        order = torch.cat([openers.nonzero().squeeze(1), (~openers).nonzero().squeeze(1)])
        columns = torch.empty_like(order)
        columns[order] = torch.arange(len(order))
        bias = None if runtime.output_bias is None else runtime.output_bias.detach()[order]
        weight = runtime.output_weight.detach()[order].float()
        ordered = OutputLayer(weight, bias, int(openers.sum()), columns)
        runtime.ordered_output = ordered
    return ordered
