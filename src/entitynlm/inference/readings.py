"""A document's word tables, chunk by chunk, so that memory does not grow with the text.

Networks that read from left to right carry their LSTM's state from chunk to chunk: the tables are the same as those
of the whole text. The look-ahead proposal reads each chunk with a margin of words on both sides; for texts longer
than a chunk that is a slightly different proposal than one reading of the whole, and as good a one: any distribution
over analyses will do, and this one is a function of the words alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from entitynlm.errors import ConfigError
from entitynlm.inference.words.word_tables import WordTables, make_tables
from entitynlm.model.backbones.base import Carry, HiddenStates
from entitynlm.model.encoding.encoder import EncodedDocument, Encoder
from entitynlm.model.encoding.preprocessing import WordSequence
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.text.document import Document

CHUNK = 8_192
MARGIN = 512
SHORTEST, LONGEST = 32, 512  # chunks of a steady reading


@dataclass(frozen=True)
class Chunk:
    """The tables of the words ``start`` … ``stop`` - 1."""

    start: int
    stop: int
    model: WordTables
    proposal: WordTables


class ChunkReader:
    """Tables of one network for consecutive chunks of one text."""

    def __init__(self, network: EntityNetwork) -> None:
        if network.training:
            raise ConfigError(
                "a network that is used for inference must be in evaluation mode (network.eval())"
            )
        self.network = network
        self.carry: Carry | None = None

    @torch.no_grad()
    def read(self, words: EncodedWords, start: int, stop: int) -> WordTables:
        """Tables of ``words[start:stop]``; each call goes on where the last one ended."""
        if self.network.config.mode == "lookahead":
            return self._look_around(words, start, stop)
        reading = self.network.backbone.read([words[start:stop]], self.carry)
        self.carry = reading.carry
        return make_tables(self.network, reading)

    def _look_around(self, words: EncodedWords, start: int, stop: int) -> WordTables:
        low = max(0, start - MARGIN)
        # A span may end max_length - 1 words after the chunk.
        high = min(len(words), stop + max(MARGIN, self.network.config.max_length))
        tables = make_tables(self.network, self.network.backbone.read([words[low:high]]))
        return slice_tables(tables, start - low, stop - low)


def slice_tables(tables: WordTables, start: int, stop: int) -> WordTables:
    """The tables of some of the words."""
    if start == 0 and stop == tables.tokens:
        return tables
    per_word = ("log_types", "queries", "length_scores", "gates", "states", "contexts", "words")
    bounds = tables.words.piece_bounds
    first, last = (start, stop) if bounds is None else (int(bounds[start]), int(bounds[stop]))
    parts = {name: getattr(tables, name)[start:stop] for name in per_word}
    return dataclasses.replace(tables, **parts, piece_states=tables.piece_states[first:last])


class Readings:
    """What networks make of the words of one text: read once per network, and kept where the text is not too long.

    Tables have about four times D numbers per word, so those of a novel would fill the memory: a text of more than ``keep``
    words is read again, chunk by chunk, by everybody who asks.
    """

    def __init__(self, document: EncodedDocument, *, keep: int = 0) -> None:
        self._words = document.words
        self._keep = keep
        self._kept: dict[EntityNetwork, WordTables] = {}

    def read(self, network: EntityNetwork, *, size: int = CHUNK) -> Iterator[tuple[int, int, WordTables]]:
        """The tables of the words from … to …, chunk by chunk."""
        for chunk in self.read_both(network, network, size=size):
            yield chunk.start, chunk.stop, chunk.model

    def read_both(
        self, model: EntityNetwork, proposal: EntityNetwork, *, size: int = CHUNK
    ) -> Iterator[Chunk]:
        """The same under two networks, which may be one."""
        readers = [self._open(network) for network in dict.fromkeys((model, proposal))]
        size = min(size, model.backbone.chunk_words, proposal.backbone.chunk_words)
        for start, stop in cut(self._words.sentence, size, aligned=False):
            tables = [read(self._words, start, stop) for read in readers]
            yield Chunk(start, stop, tables[0], tables[-1])

    def _open(self, network: EntityNetwork) -> Callable[[EncodedWords, int, int], WordTables]:
        reader = ChunkReader(network)
        if not 0 < len(self._words) <= self._keep:
            return reader.read
        if network not in self._kept:
            self._kept[network] = reader.read(self._words, 0, len(self._words))
        tables = self._kept[network]
        return lambda words, start, stop: slice_tables(tables, start, stop)


class SteadyReadings(Readings):
    """Readings in which no word to come changes a number, not even its last digit.

    The last digits of a matrix product depend on its size. So the borders of chunks are fixed, whatever the length of the text,
    and the last chunk is filled up with words that nobody looks at. A pretrained language model, whose states depend on nothing
    to come (``backbones.huggingface``), reads as many words at once as it likes; only what is made of its states is filled up.
    """

    def __init__(self, document: EncodedDocument, *, keep: int = 0) -> None:
        super().__init__(document, keep=keep)
        self._chunks: dict[EntityNetwork, list[WordTables]] = {}

    def read_both(
        self, model: EntityNetwork, proposal: EntityNetwork, *, size: int = CHUNK
    ) -> Iterator[Chunk]:
        tables = [self._read_steadily(network) for network in dict.fromkeys((model, proposal))]
        for (start, stop, _), *both in zip(cut_steadily(len(self._words)), *tables, strict=True):
            yield Chunk(start, stop, both[0], both[-1])

    def _read_steadily(self, network: EntityNetwork) -> Iterator[WordTables]:
        if network in self._chunks:
            yield from self._chunks[network]
            return
        reader, kept = ChunkReader(network), []
        on_pieces = self._words.pieces is not None and network.config.mode != "lookahead"
        for tables in self._read_pieces(reader) if on_pieces else self._read_words(reader):
            if len(self._words) <= self._keep:
                kept.append(tables)
            yield tables
        if kept:
            self._chunks[network] = kept

    def _read_words(self, reader: ChunkReader) -> Iterator[WordTables]:
        for start, stop, full in cut_steadily(len(self._words)):
            words = fill_up(self._words[start:stop], full - start)
            yield slice_tables(reader.read(words, 0, len(words)), 0, stop - start)

    @torch.no_grad()
    def _read_pieces(self, reader: ChunkReader) -> Iterator[WordTables]:
        backbone, begin, end = reader.network.backbone, 0, 0
        for start, stop, full in cut_steadily(len(self._words)):
            if start == end:
                begin, end = end, min(end + backbone.chunk_words, len(self._words))
                reading = backbone.read([self._words[begin:end]], reader.carry)
                reader.carry = reading.carry
            some = take_words(reading, start - begin, stop - begin, full - start)
            yield slice_tables(make_tables(reader.network, some), 0, stop - start)


def cut_steadily(length: int) -> Iterator[tuple[int, int, int]]:
    """Chunks as (start, stop, where it would stop in a longer text): short ones first, so that a sentence is read quickly."""
    start, full = 0, SHORTEST
    while start < length:
        yield start, min(full, length), full
        start, full = full, full + min(full, LONGEST)


def fill_up(words: EncodedWords, size: int) -> EncodedWords:
    """The words, and the last one again until there are ``size`` of them; pieces of a pretrained language model are as they are.

    (Word 0 opens a text and is never predicted, so that it has no place in the tables of a class-factored softmax.)
    """
    missing = size - len(words)
    if not missing or words.pieces is not None:
        return words
    return EncodedWords(*(np.pad(some, (0, missing), mode="edge") for some in (words.x, words.sentence)))


def take_words(reading: HiddenStates, start: int, stop: int, size: int) -> HiddenStates:
    """Some words of a reading of one document, with the rows of ``size`` words: the last one fills them up."""
    words, pieces = reading.words[0][start:stop], reading.piece_rows[0]
    assert words.piece_bounds is not None and reading.words[0].piece_bounds is not None
    first, last = reading.words[0].piece_bounds[[start, stop]]
    before, after = (
        [np.pad(rows[0][start:stop], (0, size - (stop - start)), mode="edge")]
        for rows in (reading.before, reading.after)
    )
    return HiddenStates([words], reading.table, before, after, None, [pieces[first:last]])


class ReadText:
    """A document on its way through a command: encoded once, read once by each network.

    :param words: the model's words, :param encoded: the same as numbers, with the document's mentions, and
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
        self.readings = readings or Readings(self.encoded, keep=CHUNK)

    def with_mentions(self, document: Document, *, keep_singletons: bool = False) -> ReadText:
        """The same text with other mentions, and (unless its words depend on mentions) with the same readings."""
        singletons = "keep" if keep_singletons else self.encoder.singletons
        encoder = dataclasses.replace(self.encoder, singletons=singletons)
        if encoder.recipe.punctuation == "paper":
            return ReadText(encoder, document)
        return ReadText(encoder, document, words=self.words, readings=self.readings)


def cut(sentence: np.ndarray, size: int, *, aligned: bool) -> list[tuple[int, int]]:
    """Where to cut a text into chunks of about ``size`` words; ``aligned`` cuts only between sentences."""
    length = len(sentence)
    allowed = np.flatnonzero(np.diff(sentence)) + 1 if aligned else np.arange(1, length)
    bounds = [0]
    while length - bounds[-1] > size:
        later = allowed[allowed > bounds[-1]]
        if not len(later):
            break
        within = later[later <= bounds[-1] + size]
        bounds.append(int(within[-1]) if len(within) else int(later[0]))
    bounds.append(length)
    return [(low, high) for low, high in pairwise(bounds) if low < high]
