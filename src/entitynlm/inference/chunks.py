"""A document's word tables, chunk by chunk, so that memory does not grow with the text.

Networks that read from left to right carry their LSTM's state from chunk to chunk: the tables are the same as those
of the whole text. The look-ahead proposal reads each chunk with a margin of words on both sides; for texts longer
than a chunk that is a slightly different proposal than one reading of the whole, and as good a one: any distribution
over analyses will do, and this one is a function of the words alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from entitynlm.errors import ConfigError
from entitynlm.inference.word_tables import WordTables, make_tables
from entitynlm.model.backbones.base import Carry
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.encoding.tokenizer import EncodedWords
from entitynlm.model.entitynlm import EntityNetwork

CHUNK = 8_192
MARGIN = 512


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
        self._carry: Carry | None = None

    @torch.no_grad()
    def read(self, words: EncodedWords, start: int, stop: int) -> WordTables:
        """Tables of ``words[start:stop]``; each call goes on where the last one ended."""
        if self.network.config.mode == "lookahead":
            return self._look_around(words, start, stop)
        reading = self.network.backbone.read([words[start:stop]], self._carry)
        self._carry = reading.carry
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
    return dataclasses.replace(tables, **{name: getattr(tables, name)[start:stop] for name in per_word})


def read_chunks(
    model: EntityNetwork, proposal: EntityNetwork, document: EncodedDocument, *, size: int = CHUNK
) -> Iterator[Chunk]:
    """The document's tables under both networks."""
    readers = ChunkReader(model), ChunkReader(proposal)
    aligned = model.config.restart_sentences or proposal.config.restart_sentences
    for start, stop in cut(document.sentence, size, aligned=aligned):
        tables = [reader.read(document.words, start, stop) for reader in readers]
        yield Chunk(start, stop, *tables)


def cut(sentence: np.ndarray, size: int, *, aligned: bool) -> list[tuple[int, int]]:
    """Where to cut a text into chunks of about ``size`` words; ``aligned`` cuts only between sentences."""
    length = len(sentence)
    if length <= size:
        return [(0, length)] if length else []
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
