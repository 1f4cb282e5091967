"""Reading a text along a known analysis: who was expected at each mention, and how each entity's vector moved.

Given the words and the mentions before a place, equation 4 is a distribution over the entities so far and a new one. With it
comes what a reader expects of the next word,

    p(x_t | x_<t, r_<t, e_<t, l_<t) = Σ over r, e, l of p(r) p(e | r) p(l | e) p(x_t | e),

and the gate of equation 8 at every word of a mention. Nothing of the mention itself and nothing after it is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from entitynlm.errors import ConfigError
from entitynlm.inference.readings import CHUNK, Readings
from entitynlm.inference.story_state import Expectation, ReadingStep, read_along
from entitynlm.inference.weights import FloatArray
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.model.noise import Noise
from entitynlm.prediction.expected_words import ExpectedWords

SHOWN = 5
"""How many of the likeliest referents are kept by name."""

CONTEXTS = 32
"""About how many states before mentions are kept, for questions about what an entity's vector says."""

NEW = 0
"""The number of a new entity among referents; entities count from 1."""


@dataclass(frozen=True)
class Referent:
    """A mention, and what was expected before its first word. Words are the model's words; probabilities are plain.

    :param expected: that a mention starts here at all.
    :param probability: of the true referent, given that a mention starts; all new entities count as one choice.
    :param entropy: over referents, in nats.
    :param candidates: how many referents there were to choose from, a new one included.
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
    """What was found while a text of T words was read along its analysis.

    :param log_words: (T,) log p(x_t | all words and mentions before), in nats; nan where it was not asked for.
    :param mention_expected: (T,) probability, before the word, that it is in a mention (1 inside of one that goes on).
    :param gates: (T,) δ of equation 8, how much of the old vector stays, at words in mentions; nan elsewhere.
    :param moves: (T,) 1 - cosine of the entity's vector before and after the word; nan elsewhere.
    :param away: (T,) 1 - cosine of the entity's vector after the word and when it was new; nan elsewhere.
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


class _Tracer:
    """Collects what is asked for at each word."""

    def __init__(
        self, network: EntityNetwork, document: EncodedDocument, *, with_words: bool, shown: int | None
    ) -> None:
        self.document, self.shown = document, shown
        self.referents: list[Referent] = []
        self.words = ExpectedWords(network, document.x) if with_words else None
        length = len(document)
        self.mention_expected = np.ones(length)
        self.gates, self.moves, self.away = (np.full(length, np.nan) for _ in range(3))
        self.first: list[np.ndarray] = []  # each entity's vector when it was new
        self.after: list[np.ndarray] = []
        self.contexts: list[np.ndarray] = []
        self.every = max(1, int((document.r > 0).sum()) // CONTEXTS)  # mentions between two kept contexts

    def visit(self, step: ReadingStep) -> None:
        before, tables, at = step.before, step.tables, step.at
        t = before.history.position
        if not before.history.remaining:
            self.mention_expected[t] = -np.expm1(np.float64(tables.log_types[at, 0]))
            if self.document.r[t] or self.words is not None:
                expected = before.expect(tables, at, step.new_entities)
                if self.words is not None:
                    self.words.expect(expected, t)
                if self.document.r[t]:
                    self._start_mention(expected, t)
        elif self.words is not None:
            self.words.expect_within(before, tables, at, t)
        if self.document.r[t]:
            self._follow_vector(step, t)

    def _start_mention(self, expected: Expectation, t: int) -> None:
        if len(self.referents) % self.every == 0:
            self.contexts.append(expected.tables.contexts[expected.at].copy())
        entity, mention_type = int(self.document.e[t]), int(self.document.r[t])
        is_new = entity > expected.known
        if is_new:
            self.first.append(expected.new_entities[mention_type - 1].copy())
        probs = expected.referents()
        positive = probs[probs > 0]
        order = np.argsort(-probs, kind="stable")[: self.shown].tolist()
        self.referents.append(
            Referent(
                start=t,
                end=min(t + int(self.document.l[t]), len(self.document)),
                entity=entity,
                mention_type=mention_type,
                is_new=is_new,
                expected=float(self.mention_expected[t]),
                probability=float(probs[NEW if is_new else entity]),
                entropy=max(0.0, float(-(positive * np.log(positive)).sum())),
                candidates=len(probs),
                since=None if is_new else tuple(expected.distances[:3, entity - 1].tolist()),
                ranked=tuple((number, float(probs[number])) for number in order),
            )
        )

    def _follow_vector(self, step: ReadingStep, t: int) -> None:
        entity = int(self.document.e[t])
        first = self.first[entity - 1]
        known = entity <= len(step.before.rows)
        old = step.before.states.rows.vectors[step.before.rows[entity - 1]] if known else first
        new = step.after.e_current
        self.gates[t] = step.after.gate
        self.moves[t] = 1 - _cosine(old, new)
        self.away[t] = 1 - _cosine(first, new)
        if not step.after.history.remaining or t == len(self.document) - 1:
            self.after.append(new.copy())

    def finish(self, vectors: np.ndarray) -> Trace:
        log_words = self.words.finish() if self.words else np.full(len(self.document), np.nan)
        return Trace(
            referents=tuple(self.referents),
            log_words=log_words,
            mention_expected=self.mention_expected,
            gates=self.gates,
            moves=self.moves,
            away=self.away,
            vectors=vectors,
            after=np.array(self.after, dtype=vectors.dtype).reshape(-1, vectors.shape[1]),
            contexts=np.array(self.contexts, dtype=vectors.dtype),
        )


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
    readings: Readings | None = None,
    chunk: int = CHUNK,
) -> Trace:
    """Read a document along its analysis.

    :param noise: of new entities; by default the fixed one, so that the figures are those of ``score_document``.
    :param with_words: also what was expected of each word (most of the time goes there).
    :param shown: how many of the likeliest referents are kept with each mention (None: all).
    :param readings: of the same words, where they were read before.
    """
    if network.config.mode != "generative":
        raise ConfigError("referents are expected by the generative part, which has not seen the word")
    network.eval()
    tracer = _Tracer(network, document, with_words=with_words, shown=shown)
    chunks = (readings or Readings(document)).read(network, size=chunk)
    vectors = np.zeros((0, network.config.entity_dim), dtype=np.float32)
    for step in read_along(network, document, chunks, noise=noise, starts_only=not with_words):
        tracer.visit(step)
        state = step.after
    return tracer.finish(state.vectors if len(document) else vectors)
