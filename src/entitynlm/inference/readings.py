"""Read a text with P and Q, chunk by chunk with a carry, and make the tables from which samplers compute.

A chunk is a run of words that a network reads at a time. Networks read from left to right and carry their state from chunk to
chunk, so the tables are those of the whole text.
"""

import dataclasses
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from entitynlm.errors import ConfigError
from entitynlm.model.backbones.base import Carry, HiddenStates
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.preprocessing import WordSequence
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.text.document import Document


@dataclass(frozen=True)
class WordTables:
    """What samplers need of each word t of one document (T words) that depends on its words alone.

    Particles differ in their entities; the contribution of a word (the logits of R, the query for E, the words' part of L, the
    gate and the state that updates an entity) is the same for all of them. P and its proposal have tables of the same shape, so
    that one compiled loop serves both. Arrays are NumPy's, of the network's precision.

    :param log_types: (T, 1 + mention types) log p(R_t) where R is free (eq. 3).
    :param queries: (T, D) hᵀ W_entity (eq. 4): the score of an entity is query · vector + w_dist · f.
    :param length_scores: (T, max_length) the words' part of length scores (eq. 5); the entity's part is ``length_weights @
        vector``.
    :param gates: (T, D) h_tᵀ W_δ, and :param states: (T, D) h_t, which update an entity (eq. 8).
    :param contexts: (T, D) the h from which words are predicted, in the backbone's size.
    :param words: the words, and :param piece_states: (P, D) the state before each of their pieces; in P only.
    :param length_weights: (max_length, D).
    :param distance: (4, W) the weight of each value of each distance (eq. 4's w_dist · f); larger values count as the largest.
    :param means: (1 + mention types, D) r of each type (eq. 7) and :param sigma: standard deviation of the noise around it; zero
        where new entities are zero vectors.
    """

    log_types: np.ndarray
    queries: np.ndarray
    length_scores: np.ndarray
    gates: np.ndarray
    states: np.ndarray
    contexts: np.ndarray
    length_weights: np.ndarray
    distance: np.ndarray
    means: np.ndarray
    sigma: float
    words: EncodedWords
    piece_states: np.ndarray

    @property
    def tokens(self) -> int:
        return len(self.queries)


@torch.no_grad()
def make_tables(network: EntityNetwork, reading: HiddenStates) -> WordTables:
    """Make the tables of one document from its hidden states."""
    config = network.config
    after = reading.table[torch.from_numpy(reading.after[0])]
    contexts = after
    if config.mode == "generative":
        contexts = reading.table[torch.from_numpy(reading.before[0])]
    d = config.hidden_size
    updating = network.project_update(after)
    shared = contexts is after and network.projection.shared
    choosing = updating if shared else network.project_state(contexts)
    length_scores = choosing @ network.W_length[:, :d].t()
    output = network.backbone.output_states
    features, noisy = network.feature_set, config.new_entity != "zero"
    distance = np.zeros(features.lookup.shape)
    distance[features.quantities] = _array(network.w_dist)[features.lookup[features.quantities]]
    return WordTables(
        log_types=_array(network.log_prob_types(choosing)),
        queries=_array(network.entity_query(choosing)),
        length_scores=_array(length_scores),
        gates=_array(network.gate_query(updating)),
        states=_array(updating),
        contexts=(whole := _array(output(contexts))),
        length_weights=_array(network.W_length[:, d:]),
        distance=distance,
        means=_array(network.type_embeddings * noisy),
        sigma=float(config.sigma) if noisy else 0.0,
        words=reading.words[0],
        piece_states=whole
        if reading.pieces is None
        else _array(output(reading.table[torch.from_numpy(reading.pieces[0])])),
    )


def make_row(network: EntityNetwork, h: Tensor) -> WordTables:
    """Make a table with one row, from the hidden state (D,) after a word, which updates entities and predicts the next word."""
    row = [np.zeros(1, dtype=np.int64)]
    return make_tables(
        network, HiddenStates([EncodedWords(np.zeros(1, np.int64), np.zeros(1, np.int64))], h[None], row, row)
    )


def _array(tensor: Tensor) -> np.ndarray:
    return np.ascontiguousarray(tensor.detach().cpu().numpy())


READ_AT_ONCE = 8_192
KEPT_WORDS = 8_192
"""Words whose tables are kept, about four times D numbers each: all of a story, a few chunks of a novel."""


@dataclass(frozen=True)
class Chunk:
    """The tables of the words ``start`` … ``stop`` - 1 under P and under Q (the same table twice where P is its own proposal)."""

    start: int
    stop: int
    model: WordTables
    proposal: WordTables

    def __len__(self) -> int:
        return self.stop - self.start

    def cut(self, start: int, stop: int) -> "Chunk":
        """Take the words ``start`` … ``stop`` - 1 of the text."""
        model, proposal = (
            slice_tables(tables, start - self.start, stop - self.start)
            for tables in (self.model, self.proposal)
        )
        return Chunk(start, stop, model, proposal)


@dataclass
class _Progress:
    """One network's place in the text: its carry before some chunks, by their first words, and the cached tables."""

    carries: dict[int, Carry | None] = field(default_factory=lambda: {0: None})
    kept: OrderedDict[int, WordTables] = field(default_factory=OrderedDict)


class Readings:
    """Tables of the words of one text under any network; each network reads a chunk once, unless the text is too long to cache.

    :param size: words per chunk; a backbone that must bound its memory takes fewer (``Backbone.chunk_words``).
    :param revisit: keep the carry before every chunk, so that a dropped chunk can be read again alone. A language model's carry
        contains the keys and values of a window.
    """

    def __init__(self, document: EncodedDocument, *, size: int = READ_AT_ONCE, revisit: bool = False) -> None:
        self._words, self._size, self._revisit = document.words, size, revisit
        self._progress: dict[EntityNetwork, _Progress] = {}

    def read(self, model: EntityNetwork, proposal: EntityNetwork | None = None) -> Iterator[Chunk]:
        """Yield all chunks in order, under P and Q or under one network."""
        for start in range(0, len(self._words), self._choose_size(model, proposal)):
            yield self.find(start, model, proposal)

    def find(self, t: int, model: EntityNetwork, proposal: EntityNetwork | None = None) -> Chunk:
        """Return the chunk that contains word t."""
        size = self._choose_size(model, proposal)
        start = t - t % size
        networks = dict.fromkeys((model, proposal or model))
        tables = [self._get(network, start, size) for network in networks]
        return Chunk(start, min(start + size, len(self._words)), tables[0], tables[-1])

    def get_carry(self, network: EntityNetwork) -> Carry | None:
        """Return the carry after all words that a network has read."""
        carries = self._progress[network].carries
        return carries[max(carries)]

    def _choose_size(self, model: EntityNetwork, proposal: EntityNetwork | None) -> int:
        return min(self._size, *(network.backbone.chunk_words for network in (model, proposal or model)))

    def _get(self, network: EntityNetwork, start: int, size: int) -> WordTables:
        """Return the tables of the chunk that begins at a word, from the cache or by reading it."""
        if network.training:
            raise ConfigError(
                "a network that is used for inference must be in evaluation mode (network.eval())"
            )
        progress = self._progress.setdefault(network, _Progress())
        if start not in progress.kept:
            progress.kept[start] = self._read_on(network, start, size)
            while len(progress.kept) > max(1, KEPT_WORDS // size):
                progress.kept.popitem(last=False)
        progress.kept.move_to_end(start)
        return progress.kept[start]

    @torch.no_grad()
    def _read_on(self, network: EntityNetwork, start: int, size: int) -> WordTables:
        """Read a chunk, starting from the nearest earlier carry that is kept."""
        carries = self._progress[network].carries
        for place in range(max(place for place in carries if place <= start), start + 1, size):
            reading = network.backbone.read([self._words[place : place + size]], carries[place])
            if place and not self._revisit:
                del carries[place]
            carries[place + size] = reading.carry
        return make_tables(network, reading)


def slice_tables(tables: WordTables, start: int, stop: int) -> WordTables:
    """Return the tables of a range of words."""
    if start == 0 and stop == tables.tokens:
        return tables
    per_word = ("log_types", "queries", "length_scores", "gates", "states", "contexts", "words")
    bounds = tables.words.piece_bounds
    first, last = (start, stop) if bounds is None else (int(bounds[start]), int(bounds[stop]))
    parts = {name: getattr(tables, name)[start:stop] for name in per_word}
    return dataclasses.replace(tables, **parts, piece_states=tables.piece_states[first:last])


class ReadText:
    """A document in the course of a command: encoded once, read once by each network.

    :param words: the model's words.  :param encoded: their numbers, with the document's mentions.
    :param originals: the document's mention behind each span.
    """

    def __init__(
        self,
        encoder: Encoder,
        document: Document,
        *,
        words: WordSequence | None = None,
        readings: Readings | None = None,
    ) -> None:
        self.encoder, self.document = encoder, document
        self.words = words or encoder.prepare(document)
        self.encoded, _, self.originals = encoder.encode_with_report(document, self.words)
        self.readings = readings or Readings(self.encoded)

    def with_mentions(self, document: Document) -> "ReadText":
        """Replace the mentions of the text; its words and readings stay."""
        return ReadText(self.encoder, document, words=self.words, readings=self.readings)
