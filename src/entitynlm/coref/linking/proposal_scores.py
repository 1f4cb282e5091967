"""Equation 4 of a proposal along a path that others decide: how likely is each entity, given the mentions linked so far?

The states of entities are those of the path (equation 8), so the proposal's advice about a mention takes account of all links
before it, whoever chose them. A proposal's own comparison of words (``echo``) is left out: the linker has better eyes for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from entitynlm.coref.linking.entity_memory import NEW_ENTITY
from entitynlm.inference.chunks import CHUNK, ChunkReader, cut
from entitynlm.inference.word_tables import WordTables
from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.features import QUANTITIES, find_bucket

WordSpan = tuple[int, int, int]
"""First word, end and kind of a mention, in the model's words."""


class ProposalScorer:
    """Asked about a mention, then told whose it was; mentions without a place among the model's words are passed over.

    :param spans: per mention, where it stands among the model's words (None: it does not).
    """

    def __init__(
        self, proposal: EntityNetwork, document: EncodedDocument, spans: Sequence[WordSpan | None]
    ) -> None:
        self._network = proposal
        self._document = document
        self._spans = spans
        self._tables = self._read()
        self._start, self._chunk = next(self._tables)
        self._vectors: dict[int, np.ndarray] = {}
        self._last: dict[int, tuple[int, int, int]] = {}  # entity → last word, sentence, mention
        self._counts: dict[int, int] = {}
        self._mentions = 0

    def _read(self) -> Iterator[tuple[int, WordTables]]:
        reader = ChunkReader(self._network)
        aligned = self._network.config.restart_sentences
        for start, stop in cut(self._document.sentence, CHUNK, aligned=aligned):
            yield start, reader.read(self._document.words, start, stop)

    def score_entities(self, number: int, candidates: Sequence[int]) -> np.ndarray:
        """log Q of each candidate (:data:`NEW_ENTITY`: a new entity); zeros where the proposal has nothing to say."""
        span = self._spans[number]
        if span is None:
            return np.zeros(len(candidates))
        word, _, mention_type = span
        query = self._row("queries", word)
        scores = np.array([self._score(query, entity, word, mention_type) for entity in candidates])
        result: np.ndarray = scores - np.logaddexp.reduce(scores)
        return result

    def _score(self, query: np.ndarray, entity: int, word: int, mention_type: int) -> float:
        if entity == NEW_ENTITY:
            return float(query @ self._create_entity(mention_type))
        if entity not in self._vectors:  # known from mentions that the proposal does not see
            return float(query @ self._create_entity(mention_type))
        last_word, last_sentence, last_mention = self._last[entity]
        values = {
            "token": word - last_word,
            "sentence": int(self._document.sentence[word]) - last_sentence,
            "mention": self._mentions + 1 - last_mention,
            "count": self._counts[entity],
        }
        features, weights = self._network.feature_set, self._chunk.distance_weights
        hot = [
            int(offset) + find_bucket(quantity, max(values[quantity], int(quantity != "sentence")))
            for quantity, offset in zip(QUANTITIES, features.offsets, strict=True)
            if offset >= 0
        ]
        return float(query @ self._vectors[entity]) + float(weights[hot].sum())

    def add_mention(self, number: int, entity: int) -> None:
        """The mention's words change its entity (equation 8)."""
        span = self._spans[number]
        if span is None:
            return
        start, end, mention_type = span
        self._mentions += 1
        vector = self._vectors.get(entity)
        if vector is None:
            vector = self._create_entity(mention_type)
        for word in range(start, end):
            gate = 1 / (1 + np.exp(-float(self._row("gates", word) @ vector)))
            vector = gate * vector + (1 - gate) * self._row("states", word)
            vector = vector / max(float(np.linalg.norm(vector)), SMALLEST_NORM)
        self._vectors[entity] = vector
        self._last[entity] = (end - 1, int(self._document.sentence[end - 1]), self._mentions)
        self._counts[entity] = self._counts.get(entity, 0) + 1

    def _create_entity(self, mention_type: int) -> np.ndarray:
        mean: np.ndarray = self._chunk.means[mention_type]
        if self._chunk.zero_new_entities:
            return np.zeros_like(mean)
        born: np.ndarray = mean / max(float(np.linalg.norm(mean)), SMALLEST_NORM)
        return born

    def _row(self, name: str, word: int) -> np.ndarray:
        while word >= self._start + self._chunk.tokens:
            self._start, self._chunk = next(self._tables)
        row: np.ndarray = getattr(self._chunk, name)[word - self._start]
        return row
