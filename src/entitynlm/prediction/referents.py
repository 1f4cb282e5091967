"""Reading a text along a known analysis: the expected referent at each mention, and the movement of each entity's vector.

Given the words and the mentions before a place, equation 4 is a distribution over the entities so far and a new one. Also
computed are the probability of the next word,

    p(x_t | x_<t, r_<t, e_<t, l_<t) = Σ over r, e, l of p(r) p(e | r) p(l | e) p(x_t | e),

and the gate of equation 8 at every word of a mention. Neither uses the mention itself or later text. Nearly all of the sum lies
on a few continuations (*ways*), so improbable ones are left out and the others are scaled up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from entitynlm.errors import ConfigError
from entitynlm.inference.readings import Readings, WordTables
from entitynlm.inference.story_state import Expectation, StoryState, read_along
from entitynlm.inference.weights import FloatArray
from entitynlm.inference.words.word_scorer import score_words
from entitynlm.model.additions import find_mention_positions
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.results import Result

NEGLECTED = 0.002  # prior probability of all the ways to go on that are left out, at most …

MOST_WAYS = 48  # … unless there would be more of them than these

WORDS_AT_ONCE = 256


class Ways(NamedTuple):
    """The n ways to continue at one word, which has a row in the tables."""

    position: int
    row: int
    log_probs: FloatArray  # (n,)
    places: np.ndarray  # (n,)
    vectors: np.ndarray  # (n, d) e_current


Observer = Callable[[WordTables, Ways], None]
"""A function that receives the ways to continue at each word."""


def keep_likely(probs: FloatArray) -> np.ndarray:
    """List the likeliest ways, in order: all but ``NEGLECTED`` of the probability, and ``MOST_WAYS`` at most."""
    order = np.argsort(-probs, kind="stable")[:MOST_WAYS]
    return order[: 1 + int(np.searchsorted(np.cumsum(probs[order]), 1 - NEGLECTED))]


class ExpectedWords:
    """Collects the ways to continue, word by word, and scores them in batches."""

    def __init__(self, network: EntityNetwork, x: np.ndarray, observer: Observer | None = None) -> None:
        self.network, self.x, self._observer = network, x, observer
        self.log_probs = np.full(len(x), np.nan)
        self._waiting: list[Ways] = []  # all of them in the same tables
        self._tables: WordTables | None = None
        config = network.config
        self._lengths = max(1, config.mention_positions)  # that are told apart
        types, lengths = np.indices((config.mention_types + 1, self._lengths))
        first = np.ones(types.shape, dtype=bool)
        self._first_places = find_mention_positions(config, types, lengths + 1, first)  # (1 + K, lengths)

    def expect(self, expected: Expectation) -> None:
        """Collect the ways to continue at a word where R is free."""
        probs, places, owners = self._list_ways(expected)
        kept = keep_likely(probs)
        owners = owners[kept]
        vectors = expected.gather_vectors(np.maximum(owners - 1, 0))
        vectors[owners == 0] = expected.state.e_current
        log_probs = np.log(probs[kept] / probs[kept].sum())
        self._add(expected.state, expected.tables, expected.at, log_probs, places[kept], vectors)

    def expect_within(self, state: StoryState, tables: WordTables, at: int) -> None:
        """Collect the only way to continue inside a mention, where only the word is open."""
        mention = np.array([state.open_type]), np.array([state.history.remaining]), np.array([False])
        place = find_mention_positions(self.network.config, *mention)
        self._add(state, tables, at, np.zeros(1), place, state.e_current[None].copy())

    def _list_ways(self, expected: Expectation) -> tuple[FloatArray, np.ndarray, np.ndarray]:
        """List probability, mention position and owner of each way: no mention (owner 0), or a mention of candidate 1, 2, …"""
        probs = np.exp(expected.log_probs)
        likely = np.argsort(-probs, kind="stable")[:MOST_WAYS]
        enough = np.searchsorted(np.cumsum(probs[likely]), probs.sum() - NEGLECTED / 2)
        likely = likely[: 1 + int(enough)]
        by_length = probs[likely, None]
        if self.network.config.mention_positions:
            lengths = np.exp(expected.log_lengths(likely))
            longest = lengths[:, self._lengths - 1 :].sum(axis=1, keepdims=True)
            by_length = by_length * np.hstack([lengths[:, : self._lengths - 1], longest])
        return (
            np.append(np.exp(expected.log_types[0]), by_length),
            np.append(0, self._first_places[expected.types[likely]]),
            np.append(0, np.repeat(1 + likely, self._lengths)),
        )

    def _add(
        self, state: StoryState, tables: WordTables, at: int,
        log_probs: FloatArray, places: np.ndarray, vectors: np.ndarray,
    ) -> None:  # fmt: skip
        if tables is not self._tables or len(self._waiting) >= WORDS_AT_ONCE:
            self.finish()
            self._tables = tables
        self._waiting.append(Ways(state.history.position, at, log_probs, places, vectors))
        if self._observer is not None:
            self._observer(tables, self._waiting[-1])

    def finish(self) -> FloatArray:
        """Score the collected ways: (T,) log p of every word that was asked for."""
        if self._waiting and self._tables is not None:
            positions, rows, *columns = zip(*self._waiting, strict=True)
            sizes = [len(ways.places) for ways in self._waiting]
            log_probs, places, vectors = map(np.concatenate, columns)
            words = np.repeat(rows, sizes)
            log_probs = log_probs + score_words(self.network, self._tables, words, vectors, places)
            self.log_probs[list(positions)] = np.logaddexp.reduceat(log_probs, np.cumsum([0, *sizes[:-1]]))
            self._waiting.clear()
        return self.log_probs


RANKED_REFERENTS = 5  # how many of the likeliest referents are kept by name

NEW_REFERENT = 0  # the number of a new entity among referents; entities count from 1


@dataclass(frozen=True)
class Referent:
    """A mention, and the distribution over its referent before its first word. Words are P's words; no value is a logarithm."""

    start: int
    end: int
    entity: int
    mention_type: int
    is_new: bool
    expected: float  # that a mention starts here at all
    probability: float  # of the true referent, given that a mention starts; new entities are one choice
    entropy: float  # over referents, in nats
    candidates: int  # how many referents there were to choose from, a new one included
    since: tuple[int, int, int] | None  # words, sentences, mentions since its last mention; None: new
    # the likeliest, with their probabilities; NEW_REFERENT is a new one
    ranked: tuple[tuple[int, float], ...]

    @property
    def surprisal(self) -> float:
        return max(0.0, -float(np.log(max(self.probability, 1e-300))))


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Result):
    """Expectations and entity vectors along a text of T words, read with its analysis."""

    referents: tuple[Referent, ...]
    log_words: FloatArray  # (T,) log p(x_t | all that is before), in nats; nan where not asked for
    mention_expected: FloatArray  # (T,) probability, before the word, that it is in a mention (1 within one)
    gates: FloatArray  # (T,) δ of equation 8 at words in mentions, how much of the old vector stays; else nan
    away: FloatArray  # (T,) 1 - cosine of the entity's vector after the word and when it was new; else nan
    after: np.ndarray  # (M, D) the vector of each mention's entity after the mention

    @classmethod
    def empty(cls, document: EncodedDocument) -> "Trace":
        """Return the trace of a text without mentions."""
        unknown = np.full(len(document), np.nan)
        return cls((), unknown, unknown, unknown, unknown, np.zeros((0, 0)))


def trace_referents(
    network: EntityNetwork,
    document: EncodedDocument,
    *,
    with_words: bool = True,
    readings: Readings | None = None,
    observer: Observer | None = None,
) -> Trace:
    """Read a document along its analysis, with the fixed noise of ``score_document``; ``with_words`` takes most of the time."""
    if network.config.mode != "generative":
        raise ConfigError(
            "only the generative part predicts referents; other parts have read the word already"
        )
    network.eval()
    words = ExpectedWords(network, document.x, observer)
    referents: list[Referent] = []
    mention_expected = np.ones(len(document))
    gates, away = np.full((2, len(document)), np.nan)
    first: list[np.ndarray] = []  # each entity's vector when it was new
    after: list[np.ndarray] = []
    chunks = (readings or Readings(document)).read(network)
    for step in read_along(network, document, chunks, starts_only=not with_words):
        t = step.before.history.position
        is_mention = document.r[t] > 0
        if step.before.history.remaining:
            if with_words:
                words.expect_within(step.before, step.tables, step.at)
        else:
            mention_expected[t] = -np.expm1(np.float64(step.tables.log_types[step.at, 0]))
            if with_words or is_mention:
                expected = step.before.expect(step.tables, step.at, step.new_entities)
            if with_words:
                words.expect(expected)
            if is_mention:
                referents.append(_describe_referent(document, expected, float(mention_expected[t])))
                if referents[-1].is_new:
                    first.append(step.new_entities[document.r[t] - 1].copy())
        if is_mention:
            vector = step.after.e_current
            gates[t] = step.after.gate
            away[t] = 1 - find_cosine(first[document.e[t] - 1], vector)
            if not step.after.history.remaining or t == len(document) - 1:
                after.append(vector.copy())
    return Trace(
        tuple(referents),
        words.finish(),
        mention_expected,
        gates,
        away,
        np.array(after).reshape(-1, network.config.hidden_size),
    )


def _describe_referent(document: EncodedDocument, expected: Expectation, mention_expected: float) -> Referent:
    t = expected.state.history.position
    entity = int(document.e[t])
    is_new = entity > expected.known
    probs = expected.referents()
    positive = probs[probs > 0]
    order = np.argsort(-probs, kind="stable")[:RANKED_REFERENTS].tolist()
    return Referent(
        start=t,
        end=min(t + int(document.l[t]), len(document)),
        entity=entity,
        mention_type=int(document.r[t]),
        is_new=is_new,
        expected=mention_expected,
        probability=float(probs[NEW_REFERENT if is_new else entity]),
        entropy=max(0.0, float(-(positive * np.log(positive)).sum())),
        candidates=len(probs),
        since=None if is_new else tuple(expected.distances[:3, entity - 1].tolist()),
        ranked=tuple((number, float(probs[number])) for number in order),
    )


def find_cosine(a: np.ndarray, b: np.ndarray) -> float:
    """Return the cosine of two vectors; 0 if one is zero."""
    norm = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / norm if norm > 0 else 0.0
