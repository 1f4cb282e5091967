"""Reading a text along a known analysis: who was to be expected at each mention, and how each entity's vector moved.

Given the words and the mentions before a place, equation 4 is a distribution over the entities so far and a newborn one. With
it come, at no further cost, what a reader expects of the next word,

    p(x_t | x_<t, r_<t, e_<t, l_<t) = Σ over r, e, l of p(r) p(e | r) p(l | e) p(x_t | e),

and the gate of equation 8 at every word of a mention. One pass, in chunks: memory grows with the number of entities and
not with the text. Nothing of the mention itself and nothing after it is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from entitynlm.errors import ConfigError
from entitynlm.inference.chunks import CHUNK, ChunkReader, cut
from entitynlm.inference.state_tables import tabulate_distances
from entitynlm.inference.weights import FloatArray, log_sum_exp
from entitynlm.inference.word_tables import WordTables
from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import FixedNoise, Noise
from entitynlm.prediction.expected_words import ExpectedWords

SHOWN = 5
"""How many of the likeliest referents are kept by name."""

CONTEXTS = 32
"""About how many states before mentions are kept, for questions about what an entity's vector says."""

NEW = 0
"""The number of "somebody new" among referents; entities count from 1."""


@dataclass(frozen=True)
class Referent:
    """A mention, and what was expected before its first word. Words are the model's words; probabilities are plain.

    :param expected: that a mention starts here at all.
    :param probability: of the true referent, given that a mention starts; all newborns count as one choice, "new".
    :param entropy: over referents, in nats.
    :param candidates: how many referents there were to choose from, "new" included.
    :param since: words, sentences and mentions since the entity's last mention (as the distance features count); None: new.
    :param ranked: the likeliest referents with their probabilities; :data:`NEW` stands for a new one.
    """

    start: int
    end: int
    entity: int
    mention_type: int
    is_new: bool
    expected: float
    probability: float
    entropy: float
    candidates: int
    since: tuple[int, int, int] | None
    ranked: tuple[tuple[int, float], ...]

    @property
    def surprisal(self) -> float:
        """In nats."""
        return max(0.0, -float(np.log(max(self.probability, 1e-300))))


@dataclass(frozen=True)
class Trace:
    """What reading a text of T words along its analysis brought to light.

    :param log_words: (T,) log p(x_t | all words and mentions before), in nats; nan where it was not asked for.
    :param mention_expected: (T,) probability, before the word, that it is in a mention (1 inside of one that goes on).
    :param gates: (T,) δ of equation 8, how much of the old vector stays, at words in mentions; nan elsewhere.
    :param moves: (T,) 1 - cosine of the entity's vector before and after the word; nan elsewhere.
    :param away: (T,) 1 - cosine of the entity's vector after the word and at its birth; nan elsewhere.
    :param vectors: (N, D) every entity's vector at the end, and :param after: (M, D) that of each mention's entity after it.
    :param contexts: (C, D) the hidden states before some of the mentions, from all over the text.
    """

    referents: tuple[Referent, ...]
    log_words: FloatArray
    mention_expected: FloatArray
    gates: FloatArray
    moves: FloatArray
    away: FloatArray
    vectors: np.ndarray
    after: np.ndarray
    contexts: np.ndarray


class EntityTable:
    """The entities so far: vectors in order of birth, and when each was mentioned last."""

    def __init__(self, size: int, dtype: np.dtype) -> None:
        self.count = 0
        self.mentions = 0
        self.vectors = np.zeros((64, size), dtype=dtype)
        self.new_entities = np.zeros((64, size), dtype=dtype)
        self.memory = np.zeros((5, 64), dtype=np.int64)  # kind, last word, last sentence, last mention, count

    def add(self, vector: np.ndarray, mention_type: int) -> None:
        if self.count == len(self.vectors):
            self.vectors = np.concatenate([self.vectors, np.zeros_like(self.vectors)])
            self.new_entities = np.concatenate([self.new_entities, np.zeros_like(self.new_entities)])
            self.memory = np.concatenate([self.memory, np.zeros_like(self.memory)], axis=1)
        self.vectors[self.count] = self.new_entities[self.count] = vector
        self.memory[0, self.count] = mention_type
        self.count += 1

    def measure(self, position: int, sentence: int) -> np.ndarray:
        """(4, N) words, sentences and mentions since each entity's last mention, and how often it was mentioned."""
        known = self.memory[:, : self.count]
        here = np.array([position, sentence, self.mentions + 1])[:, None]
        return np.concatenate([here - known[1:4], known[4:]])

    def start_mention(self, entity: int) -> None:
        self.mentions += 1
        self.memory[3, entity - 1] = self.mentions
        self.memory[4, entity - 1] += 1

    def update(self, entity: int, vector: np.ndarray, position: int, sentence: int) -> None:
        self.vectors[entity - 1] = vector
        self.memory[1:3, entity - 1] = position, sentence


class Tracer:
    """One pass over one text."""

    def __init__(
        self,
        network: EntityNetwork,
        document: EncodedDocument,
        *,
        noise: Noise,
        with_words: bool,
        shown: int | None,
    ) -> None:
        size = network.config.entity_dim
        precision = network.W_r.detach().cpu().numpy().dtype
        self.network, self.document, self.noise = network, document, noise
        self.shown = shown
        self.table_of_entities = EntityTable(size, precision)
        self.referents: list[Referent] = []
        self.words = ExpectedWords(network, document.x, document.e) if with_words else None
        self.distance: tuple[np.ndarray, np.ndarray] | None = None
        self.e_current = np.zeros(size, dtype=precision)
        self.remaining = 0
        length = len(document)
        self.mention_expected = np.ones(length)
        self.gates, self.moves, self.away = (np.full(length, np.nan) for _ in range(3))
        self.after: list[np.ndarray] = []
        self.contexts: list[np.ndarray] = []
        self.every = max(
            1, int((document.r > 0).sum()) // CONTEXTS
        )  # mentions between two kept contexts, at least

    def read(self, tables: WordTables, start: int, stop: int) -> None:
        """Go through the words of one chunk."""
        self.distance = tabulate_distances(self.network.feature_set, tables.distance_weights)
        r, e, l = (
            values[start:stop].tolist() for values in (self.document.r, self.document.e, self.document.l)
        )
        sentences = self.document.sentence[start:stop].tolist()
        noise = self.noise.draw(np.arange(start, stop), self.network.config.entity_dim).numpy()
        for at, (mention_type, entity, length) in enumerate(zip(r, e, l, strict=True)):
            free = self.remaining == 0
            if free:
                new_entities = create_entities(tables, noise[at])
                referents = self._expect(tables, at, start + at, sentences[at], new_entities)
                if self.words is not None:
                    self.words.expect(tables, at, start + at, self.e_current, referents)
                if mention_type:
                    if len(self.referents) % self.every == 0:
                        self.contexts.append(tables.contexts[at].copy())
                    self._start_mention(referents, start + at, entity, mention_type, length, new_entities)
            elif self.words is not None:
                self.words.expect_within(tables, at, start + at, self.e_current, mention_type, length)
            if mention_type:
                self._update(tables, at, start + at, sentences[at], entity)
        if self.words is not None:
            self.words.flush()

    def _expect(
        self, tables: WordTables, at: int, position: int, sentence: int, new_entities: np.ndarray
    ) -> Expectation:
        """Equations 3 and 4 before a word: the probability of every referent, known ones first, then a newborn per kind."""
        assert self.distance is not None
        table_of_entities = self.table_of_entities
        measured = table_of_entities.measure(position, sentence)
        table, limit = self.distance
        bounded = np.minimum(measured, limit[:, None])
        mention_types = np.concatenate(
            [table_of_entities.memory[0, : table_of_entities.count], np.arange(1, len(new_entities) + 1)]
        )
        vectors = np.concatenate([table_of_entities.vectors[: table_of_entities.count], new_entities])
        scores = (vectors @ tables.queries[at]).astype(np.float64)
        scores[: table_of_entities.count] += table[np.arange(4)[:, None], bounded].sum(0)
        log_types = tables.log_types[at].astype(np.float64)
        log_probs = log_types[mention_types] + _normalise_types(scores, mention_types)
        self.mention_expected[position] = -np.expm1(log_types[0])
        return Expectation(
            log_probs, float(log_types[0]), vectors, mention_types, table_of_entities.count, measured
        )

    def _start_mention(
        self,
        found: Expectation,
        position: int,
        entity: int,
        mention_type: int,
        length: int,
        new_entities: np.ndarray,
    ) -> None:
        is_new = entity > found.known
        probs = found.choices()
        if is_new:
            self.table_of_entities.add(new_entities[mention_type - 1], mention_type)
        true = NEW if is_new else entity
        order = np.argsort(-probs, kind="stable")[: self.shown].tolist()
        positive = probs[probs > 0]
        self.referents.append(
            Referent(
                start=position,
                end=min(position + length, len(self.document)),
                entity=entity,
                mention_type=mention_type,
                is_new=is_new,
                expected=float(self.mention_expected[position]),
                probability=float(probs[true]),
                entropy=max(0.0, float(-(positive * np.log(positive)).sum())),
                candidates=len(probs),
                since=None if is_new else tuple(found.measured[:3, entity - 1].tolist()),
                ranked=tuple((number, float(probs[number])) for number in order),
            )
        )
        self.table_of_entities.start_mention(entity)
        self.remaining = length
        self.e_current = self.table_of_entities.vectors[entity - 1]

    def _update(self, tables: WordTables, at: int, position: int, sentence: int, entity: int) -> None:
        """Equation 8."""
        old, h = self.table_of_entities.vectors[entity - 1].copy(), tables.states[at]
        gate = 1 / (1 + np.exp(-float(tables.gates[at] @ old)))
        new = gate * old + (1 - gate) * h
        new = (new / max(float(np.linalg.norm(new)), SMALLEST_NORM)).astype(old.dtype)
        self.table_of_entities.update(entity, new, position, sentence)
        self.gates[position] = gate
        self.moves[position] = 1 - _cosine(old, new)
        self.away[position] = 1 - _cosine(self.table_of_entities.new_entities[entity - 1], new)
        self.e_current = new
        self.remaining -= 1
        if self.remaining == 0 or position == len(self.document) - 1:
            self.after.append(new)

    def finish(self) -> Trace:
        log_words = self.words.log_probs if self.words else np.full(len(self.document), np.nan)
        vectors = self.table_of_entities.vectors[: self.table_of_entities.count].copy()
        after, contexts = (
            np.array(rows).reshape(-1, vectors.shape[1]) for rows in (self.after, self.contexts)
        )
        return Trace(
            referents=tuple(self.referents),
            log_words=log_words,
            mention_expected=self.mention_expected,
            gates=self.gates,
            moves=self.moves,
            away=self.away,
            vectors=vectors,
            after=after.astype(vectors.dtype),
            contexts=contexts.astype(vectors.dtype),
        )


@dataclass(frozen=True)
class Expectation:
    """All that may come next: N known entities, then a newborn of each kind.

    :param log_probs: log p(R = its kind, E = it).  :param log_none: log p(R = 0).
    :param vectors: (N + K, D).  :param kinds: (N + K,).  :param known: N.  :param measured: (4, N) distances.
    """

    log_probs: FloatArray
    log_none: float
    vectors: np.ndarray
    mention_types: np.ndarray
    known: int
    measured: np.ndarray

    def choices(self) -> FloatArray:
        """(1 + N,) p(referent | a mention starts): new ones, of whatever kind, are choice 0."""
        log_probs = self.log_probs - log_sum_exp(self.log_probs)
        probs = np.exp(log_probs)
        return np.concatenate([[probs[self.known :].sum()], probs[: self.known]])


def create_entities(tables: WordTables, noise: np.ndarray) -> np.ndarray:
    """(K, D) a newborn of each kind (equation 7)."""
    means = tables.means[1:]
    if tables.zero_new_entities:
        return np.zeros_like(means)
    u = means + (tables.sigma * noise).astype(means.dtype)
    norms = np.linalg.norm(u, axis=1, keepdims=True)
    new_entities: np.ndarray = u / np.maximum(norms, SMALLEST_NORM)
    return new_entities


def _normalise_types(scores: FloatArray, mention_types: np.ndarray) -> FloatArray:
    """log softmax among the candidates of each kind; every kind has its newborn."""
    shifted = scores - scores.max()
    totals = np.bincount(mention_types, weights=np.exp(shifted))[1:]
    if (totals > 1e-200).all():
        log_probs: FloatArray = shifted - np.log(totals)[mention_types - 1]
        return log_probs
    log_totals = np.array(
        [log_sum_exp(scores[mention_types == mention_type]) for mention_type in range(1, len(totals) + 1)]
    )
    return np.asarray(scores - log_totals[mention_types - 1])


def _cosine(a: np.ndarray, b: np.ndarray) -> float:
    norm = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / norm if norm > 0 else 0.0


def trace_referents(
    network: EntityNetwork,
    document: EncodedDocument,
    *,
    noise: Noise | None = None,
    with_words: bool = True,
    shown: int | None = SHOWN,
    chunk: int = CHUNK,
) -> Trace:
    """Read a document along its analysis.

    :param noise: of births; by default the fixed one, so that the figures are those of ``score_document``.
    :param with_words: also what was expected of each word (most of the time goes there).
    :param shown: how many of the likeliest referents are kept with each mention (None: all).
    """
    if network.config.mode != "generative":
        raise ConfigError("referents are expected by the generative part, which has not seen the word")
    network.eval()
    tracer = Tracer(network, document, noise=noise or FixedNoise(), with_words=with_words, shown=shown)
    reader = ChunkReader(network)
    for start, stop in cut(document.sentence, chunk, aligned=network.config.restart_sentences):
        tracer.read(reader.read(document.words, start, stop), start, stop)
    return tracer.finish()
