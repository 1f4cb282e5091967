"""A causal language model of ``transformers`` that reads texts of any length and can be stopped and continued anywhere.

The rule for long texts: the sequence of a document is the start piece and then its pieces. It is cut into chunks of H pieces,
half a window each, at multiples of H, wherever calls of :meth:`LanguageModelRuntime.read` begin and end. The first two chunks
attend to all before them. Each later chunk attends to the start piece, to the chunk before it and to itself, so that every piece
past the first half-window has at least half a window behind it, and a state depends on nothing but the pieces before it.

- Rotary positions are relative. They go on through the text, the keys and values of the chunk before are kept, and nothing is
  read twice. The start piece stands right before that chunk: without it, attention has no place to rest and the model loses its
  way (the "attention sinks" of Xiao et al., 2024).
- Other positions (learned ones, ALiBi) begin again with each chunk: start piece and the chunk before are read once more.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from entitynlm.errors import ModelError
from entitynlm.model.backbones.base import OutputLayer
from entitynlm.model.backbones.huggingface.architecture import (
    ATTENTION_WINDOW,
    LayerStack,
    Tensors,
    find_context,
    find_start,
    has_bfloat16,
    has_static_rotation,
)
from entitynlm.model.products import ExactProducts, apply_linear

TILE = 16
"""Pieces are read in multiples of these, so that products of matrices go by whole tiles and round alike in a text and in its
beginning."""


@dataclass(frozen=True, eq=False)
class Past:
    """The state of a text after some pieces; it is never changed in place, so that several continuations can share it.

    :param position: number of pieces read, the start piece included.
    :param keys: per layer that is run, (1, heads, kept, size) keys of the pieces that can still be attended to.
    :param values: per layer that is run, their values.
    :param states: (1, layers asked for · D) states after the last piece.
    :param pieces: (1, up to a window) last pieces, for models that read them again.
    """

    position: int
    keys: Tensors
    values: Tensors
    states: Tensor
    pieces: Tensor


Pasts = tuple[Past, ...]
StatesAndPasts = tuple[list[Tensor], Pasts | None]
"""States per document, and the carry: the past of each."""


class LanguageModelRuntime:
    """A pretrained language model, ready to read; all parts of a model share one.

    :param model: causal model of ``transformers``; it is set to evaluation mode and frozen.
    :param tokenizer: its fast tokenizer.
    :param name: name that the user gave.
    :param digest: digest of its files, by which it is recognised.
    :param window: largest number of pieces that a piece attends to, besides the start piece; None: 1,024 or the model's context.
    :param start: piece before the first one of every text; None: the separator of documents in its training data.
    :ivar width: D, the size of a state.
    :ivar layers: n, the number of layers; layer n is the normalised state that predicts.
    :ivar pieces: V, the number of pieces in the output layer.
    :ivar context: number of pieces that the model was made for.
    :ivar half: H, the length of a chunk.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> "LanguageModelRuntime":
        return self

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        name: str = "",
        digest: str = "",
        window: int | None = None,
        start: int | None = None,
    ) -> None:
        self.model = model.eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self.name, self.digest = name, digest
        config = model.config.get_text_config()
        self.width, self.layers = int(config.hidden_size), int(config.num_hidden_layers)
        self.context = find_context(config)
        self.half = min(window or ATTENTION_WINDOW, self.context - 1) // 2
        if self.half < 1:
            raise ModelError(f"{name}: a window of {window} pieces is too short; take at least 2")
        self.start = find_start(config, tokenizer) if start is None else start
        self._take_output()
        self.pieces = len(self.output_weight)
        self.rereads = not has_static_rotation(model.base_model)
        self.ordered_output: OutputLayer | None = None  # see backbone.order_output
        self._stacks: dict[int, LayerStack] = {}
        self._sinks: dict[tuple[int, int], tuple[Tensors, Tensors]] = {}
        self._start: tuple[Tensors, ...] = ()
        self._reduced = False
        self._latest: tuple[object, Pasts | None, StatesAndPasts] | None = None

    def check(self) -> None:
        """Refuse models that break the assumptions of this module, by running them, whatever their configuration says."""
        top = (self.layers,)
        pairs = torch.tensor([[self.start, piece] for piece in (0, min(1, self.pieces - 1))]).to(self.device)
        (past, (states,)), (_, (others,)) = (self._run(self._begin(top), pair[None], top) for pair in pairs)
        with torch.no_grad():
            logits = self.model(input_ids=pairs[:1]).logits[0]
        if not torch.allclose(states[0], others[0], rtol=1e-3, atol=1e-3):
            raise ModelError(
                f"{self.name}: states depend on later words: this is not a causal language model"
            )
        if not past.keys:
            raise ModelError(
                f"{self.name}: a model without attention keys and values can't continue a text, and is not supported"
            )
        if not torch.allclose(self.logits(states), logits, rtol=1e-3, atol=1e-3):
            raise ModelError(
                f"{self.name}: its output layer is not a single matrix product, and is not supported"
            )

    @cached_property
    def reduced(self) -> "LanguageModelRuntime":
        """The language model with linear layers in bfloat16, if the processor has it: half as expensive, less exact."""
        if self.device.type != "cpu" or not has_bfloat16():
            return self
        other = copy(self)
        other._reduced, other._stacks, other._sinks, other._latest = True, {}, {}, None
        return other

    @property
    def device(self) -> torch.device:
        return self.output_weight.device

    def _take_output(self) -> None:
        output = self.model.get_output_embeddings()
        self.output_weight: Tensor = output.weight
        self.output_bias: Tensor | None = getattr(output, "bias", None)

    def move(self, device: torch.device) -> None:
        """Move the language model to a device, and drop states computed elsewhere."""
        if device != self.device:
            self.model.to(device)
            self._take_output()
            self.__dict__.pop("reduced", None)
            self.forget()
            self._sinks.clear()
            self._start = ()
            self.ordered_output = None

    def logits(self, states: Tensor) -> Tensor:
        """(…, V) unnormalised log-probabilities of the next piece, from states (…, D) of the last layer."""
        return apply_linear(states, self.output_weight, self.output_bias)

    def read(
        self,
        documents: Sequence[np.ndarray],
        layers: Sequence[int],
        carry: Pasts | None = None,
        *,
        keep: bool = True,
    ) -> StatesAndPasts:
        """Read documents, or the next chunk of each: their states, and a carry to read on from.

        The latest reading is cached, because P and Q ask for the same chunk one after the other.

        :param documents: piece ids of each.
        :param layers: layers whose states are wanted; layers above the highest one are not run.
        :param carry: carry of the chunk before; None at the beginning.
        :param keep: whether to return a carry (of a window of keys and values per document) at all.
        :return: per document (P + 1, layers · D), row 0 before its first piece and row i after piece i; and the carry.
        """
        key = (tuple(layers), [document.tobytes() for document in documents])
        if self._latest is not None:
            known, past, found = self._latest
            if known == key and past is carry and (found[1] is not None or not keep):
                return found
        pasts = [self._begin(tuple(layers))] * len(documents) if carry is None else carry
        read = [self._read_on(*pair, tuple(layers)) for pair in zip(pasts, documents, strict=True)]
        found = [states for states, _ in read], tuple(past for _, past in read) if keep else None
        if not self._reduced:
            self._latest = (key, carry, found)
        return found

    @torch.no_grad()
    def read_short(self, documents: Sequence[np.ndarray], layer: int) -> list[Tensor]:
        """Read documents that fit into a window in one batch: per document (P + 1, D), as :meth:`read` gives them.

        Shorter documents are padded behind with start pieces, which no earlier piece attends to.
        """
        if max(map(len, documents)) >= self.half:
            return [self.read([document], (layer,), keep=False)[0][0] for document in documents]
        rows = [torch.from_numpy(np.append(self.start, document)) for document in documents]
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.start).to(self.device)
        found = self._find_stack(layer).run(ids, 0, (), (), {layer})[0][layer]
        return [own[: len(row)] for own, row in zip(found, rows, strict=True)]

    def find_border(self, pieces: int) -> int:
        """Return the number of pieces of a document up to the end of the chunk in which these end.

        Who reads on from there reads whole chunks, for which the matrix products are prepared once.
        """
        return (pieces // self.half + 1) * self.half - 1

    def forget(self) -> None:
        """Drop the latest reading."""
        self._latest = None

    @torch.no_grad()
    def step(self, carry: Pasts, pieces: Tensor, layers: tuple[int, ...]) -> Pasts:
        """Read one more piece (B,) of each document, all together: the keys of shorter pasts are padded in front."""
        ids, pasts = pieces.to(self.device)[:, None], [self._slide(past, layers) for past in carry]
        if len(pasts) == 1:
            return (self._run(pasts[0], ids, layers, surplus=0)[0],)
        kept = [past.keys[0].shape[2] for past in pasts]
        longest = max(kept)

        def join(tensors: tuple[Tensor, ...]) -> Tensor:
            return torch.cat([nn.functional.pad(own, (0, 0, longest - own.shape[2], 0)) for own in tensors])

        keys = tuple(map(join, zip(*(past.keys for past in pasts), strict=True)))
        values = tuple(map(join, zip(*(past.values for past in pasts), strict=True)))
        counts = torch.tensor(kept, device=self.device)[:, None]
        mask = (torch.arange(longest + 1, device=self.device) >= longest - counts).long()
        positions = torch.tensor([[past.position] for past in pasts], device=self.device)
        captured, keys, values = self._find_stack(max(layers)).run(
            ids, counts if self.rereads else positions, keys, values, set(layers), mask=mask
        )
        states = torch.cat([captured[layer][:, -1] for layer in layers], dim=-1)
        after = []
        for row, past in enumerate(pasts):
            own = slice(row, row + 1), slice(None), slice(longest - kept[row], None)
            read = torch.cat([past.pieces, ids[row : row + 1]], dim=1)[:, -self.half :]
            left = tuple(k[own] for k in keys), tuple(v[own] for v in values)
            after.append(Past(past.position + 1, *left, states[row : row + 1], read))
        return tuple(after)

    def _read_on(self, past: Past, document: np.ndarray, layers: tuple[int, ...]) -> tuple[Tensor, Past]:
        """Read a document from one border of chunks to the next: its states, and the remaining pieces."""
        if not past.position and self.layers in layers:
            past = self._find_start(layers)
        first = [] if past.position else [self.start]
        ids = torch.tensor([[*first, *document.tolist()]], dtype=torch.long, device=self.device)
        states, done = [past.states] if past.position else [], 0
        while done < ids.shape[1]:
            past = self._slide(past, layers)
            count = min(self.half - past.position % self.half, ids.shape[1] - done)
            past, found = self._run(past, ids[:, done : done + count], layers)
            states.append(found[0])
            done += count
        return torch.cat(states), past

    @torch.no_grad()
    def _find_start(self, layers: tuple[int, ...]) -> Past:
        """Find the past after the start piece. Some of its numbers are so large that rounding them changes the first word's
        surprisal by 3e-4 bits and that of later words by 1e-4: its states are those of ``transformers``, its keys and values
        are computed in double precision.
        """
        ids = torch.full((1, TILE), self.start, device=self.device)
        if not self._start:
            found = self.model.base_model(input_ids=ids, output_hidden_states=True)
            with ExactProducts():
                cache = self.model.base_model(input_ids=ids[:, :1], use_cache=True).past_key_values.layers
            states = *found.hidden_states[:-1], found.last_hidden_state
            self._start = states, tuple(own.keys for own in cache), tuple(own.values for own in cache)
        states, keys, values = self._start
        own = torch.cat([states[layer][:, 0] for layer in layers], dim=-1)
        return Past(1, keys, values, own, ids[:, :1])

    def _begin(self, layers: tuple[int, ...]) -> Past:
        none = torch.empty(1, 0, dtype=torch.long, device=self.device)
        return Past(0, (), (), torch.empty(1, self.width * len(layers), device=self.device), none)

    def _slide(self, past: Past, layers: tuple[int, ...]) -> Past:
        """At the border of a chunk, drop all but the start piece and the chunk before."""
        position, half = past.position, self.half
        if position < 2 * half or position % half:
            return past
        if self.rereads:
            ids = nn.functional.pad(past.pieces, (1, 0), value=self.start)
            again = self._run(self._begin(layers), ids, layers)[0]
            return replace(past, keys=again.keys, values=again.values)
        sink_keys, sink_values = self._find_sink(position - half - 1, max(layers))

        def keep(own: Tensor, first: Tensor) -> Tensor:
            return torch.cat([first, own[:, :, -half:]], dim=2)

        keys, values = map(keep, past.keys, sink_keys), map(keep, past.values, sink_values)
        return replace(past, keys=tuple(keys), values=tuple(values))

    @torch.no_grad()
    def _find_sink(self, position: int, top: int) -> tuple[Tensors, Tensors]:
        """Return keys and values of the start piece alone at a position, computed for many borders of chunks at a time."""
        if (position, top) not in self._sinks:
            ids = torch.full((TILE, 1), self.start, device=self.device)
            places = position + self.half * torch.arange(TILE, device=self.device)[:, None]
            _, *found = self._find_stack(top).run(ids, places, (), (), set())
            for row, place in enumerate(places.flatten().tolist()):
                own = (tuple(of_layer[row : row + 1] for of_layer in part) for part in found)
                self._sinks[place, top] = (next(own), next(own))
        return self._sinks[position, top]

    @torch.no_grad()
    def _run(
        self, past: Past, ids: Tensor, layers: tuple[int, ...], *, surplus: int | None = None
    ) -> tuple[Past, Tensor]:
        """Run the model over the next pieces (1, n) of a document; returns the carry, and the states (1, n, layers · D).

        :param surplus: number of further pieces that are read and discarded; None: up to a multiple of :data:`TILE`.
        """
        first = past.keys[0].shape[2] if self.rereads and past.keys else past.position
        surplus = -ids.shape[1] % TILE if surplus is None else surplus
        captured, keys, values = self._find_stack(max(layers)).run(
            ids, first, past.keys, past.values, set(layers), surplus=surplus
        )
        states = torch.cat([captured[layer] for layer in layers], dim=-1)
        pieces = torch.cat([past.pieces, ids], dim=1)[:, -self.half :]
        return Past(past.position + ids.shape[1], keys, values, states[:, -1], pieces), states

    def _find_stack(self, top: int) -> LayerStack:
        if top not in self._stacks:
            base, count = self.model.base_model, self.layers
            self._stacks[top] = LayerStack(base, count, top, reduced=self._reduced)
        return self._stacks[top]
