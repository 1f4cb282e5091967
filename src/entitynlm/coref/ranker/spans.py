"""A learned finder of mention spans, for texts without syntax (LitBank, plain text).

Every span of up to :data:`LONGEST` words is a yes-or-no question to a linear model over hashed features:
the words at its borders, their shapes and endings, its likely head and its length.
"""

import random
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from entitynlm.compilation import njit
from entitynlm.coref.ranker.attributes import hash_text
from entitynlm.coref.ranker.kernels import Array, score_features, update_features
from entitynlm.coref.ranker.mentions import CandidateMention
from entitynlm.coref.ranker.templates import compile_templates, read_templates
from entitynlm.text.document import Document, Span
from entitynlm.text.english import AFTER_HEAD

LONGEST = 25
BITS = 20
EPOCHS = 6
RATE = 0.15
_SEED = np.uint64(5000)

# Attributes of a token, and of a span.
BORDER = ("word", "shape", "suffix", "before", "after", "before_shape", "after_shape", "second")
INSIDE = ("length", "head", "head_suffix", "head_shape", "comma", "preposition", "conjunction", "to_end", "pure")  # fmt: skip
TEMPLATES = compile_templates(read_templates("span"), BORDER, INSIDE)
PREPOSITIONS = frozenset("of in on with at from to for by".split())


class _Spans(NamedTuple):
    """All spans of a document: numbers of their first and last tokens, attributes of tokens and of spans."""

    starts: NDArray[np.int64]
    lasts: NDArray[np.int64]
    tokens: NDArray[np.int64]
    inside: NDArray[np.int64]
    heads: NDArray[np.int64]


class SpanFinder:
    def __init__(self, weights: NDArray[np.float32]) -> None:
        self.weights = weights

    def find(self, document: Document, *, threshold: float = 0.0) -> list[CandidateMention]:
        found = [mention for mention, _ in self.find_scored(document, threshold=threshold)]
        return sorted(found, key=lambda mention: mention.span)

    def find_scored(self, document: Document, *, threshold: float) -> list[tuple[CandidateMention, float]]:
        """Spans and their log-odds, the likeliest first, so that a higher threshold would find the beginning; none cross."""
        spans = _list_spans(document)
        scores = _score_spans(self.weights, spans, TEMPLATES)
        likely = np.flatnonzero(scores > threshold)
        likely = likely[np.argsort(-scores[likely], kind="stable")]
        chosen = likely[drop_crossing(spans.starts[likely], spans.lasts[likely] + 1)]
        bounds = (spans.starts[chosen], spans.lasts[chosen] + 1, spans.heads[chosen])
        mentions = [CandidateMention(*values) for values in np.stack(bounds, axis=1).tolist()]
        return list(zip(mentions, scores[chosen].tolist(), strict=True))


def train_span_finder(documents: Sequence[Document], *, epochs: int = EPOCHS, seed: int = 0) -> SpanFinder:
    """Learn from the mentions of annotated documents; weights are averaged over the later epochs."""
    weights, squares, average = np.zeros(1 << BITS), np.ones(1 << BITS), np.zeros(1 << BITS)
    prepared = [(spans := _list_spans(document), _mark_gold(document, spans)) for document in documents]
    order = random.Random(seed)
    for epoch in range(epochs):
        order.shuffle(prepared)
        for spans, gold in prepared:
            _learn_spans(weights, squares, spans, gold, TEMPLATES, RATE)
        if epoch >= epochs // 2:
            average += weights / (epochs - epochs // 2)
    return SpanFinder(average.astype(np.float32))


def _mark_gold(document: Document, spans: _Spans) -> NDArray[np.bool_]:
    gold: set[Span] = {mention.span for mention in document.mentions}
    pairs = zip(spans.starts.tolist(), spans.lasts.tolist(), strict=True)
    return np.array([(start, last + 1) in gold for start, last in pairs], dtype=bool)


def _list_spans(document: Document) -> _Spans:
    size = len(document)
    ends = np.zeros(size, dtype=np.int64)
    for start, end in document.sentences:
        ends[start:end] = end
    reach = np.minimum(ends - np.arange(size), LONGEST)
    starts = np.repeat(np.arange(size), reach)
    steps = np.arange(len(starts)) - np.repeat(np.cumsum(reach) - reach, reach)
    lasts = starts + steps
    words = [token.lower() for token in document.tokens]
    heads = _find_heads(words, starts, lasts)
    codes = np.array([hash_text(word) for word in words], dtype=np.int64)
    suffixes = np.array([hash_text(word[-3:]) for word in words], dtype=np.int64)
    shapes = np.array([hash_text(_shape(token)) for token in document.tokens], dtype=np.int64)
    after = np.concatenate([codes[1:], [0]]) if size else codes
    before = np.concatenate([[0], codes[:-1]]) if size else codes
    tokens = np.stack(
        [codes, shapes, suffixes, before, after, np.roll(shapes, 1), np.roll(shapes, -1), after], axis=1
    )
    inside = np.stack(
        [
            np.minimum(steps, 9),
            codes[heads],
            suffixes[heads],
            shapes[heads],
            _count_inside(words, {","}, starts, lasts),
            _count_inside(words, PREPOSITIONS, starts, lasts),
            _count_inside(words, {"and", "or"}, starts, lasts),
            (lasts + 1 == ends[starts]).astype(np.int64),
            _count_inside(words, {w for w in set(words) if not w[0].isalnum()}, starts, lasts),
        ],
        axis=1,
    )
    return _Spans(starts, lasts, tokens, inside, heads)


def _find_heads(
    words: Sequence[str], starts: NDArray[np.int64], lasts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The last word before a preposition and the like, as ``syntax.guess_head`` has it, for all spans at once."""
    size = len(words)
    stop = np.full(size + 1, size, dtype=np.int64)
    for index in range(size - 1, -1, -1):
        stop[index] = index if words[index] in AFTER_HEAD else stop[index + 1]
    following = stop[np.minimum(starts + 1, size)]
    return np.maximum(np.minimum(lasts, following - 1), starts)


def _count_inside(
    words: Sequence[str], wanted: Collection[str], starts: NDArray[np.int64], lasts: NDArray[np.int64]
) -> NDArray[np.int64]:
    running = np.cumsum([0, *(word in wanted for word in words)])
    return np.minimum(running[lasts + 1] - running[starts], 3)


def _shape(token: str) -> str:
    shapes = ("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in token[:4])
    return "".join(shapes) + ("+" if len(token) > 4 else "")


@njit()
def drop_crossing(starts: Array, ends: Array) -> Array:
    """Which of the spans cross none of those before them that were kept."""
    kept = np.ones(len(starts), dtype=np.bool_)
    for i in range(len(starts)):
        for j in range(i):
            if kept[j] and (
                starts[i] < starts[j] < ends[i] < ends[j] or starts[j] < starts[i] < ends[j] < ends[i]
            ):
                kept[i] = False
                break
    return kept


@njit()
def _score_spans(weights: Array, spans: _Spans, table: Array) -> Array:
    scores = np.zeros(len(spans.starts))
    for i in range(len(scores)):
        first, last = spans.tokens[spans.starts[i]], spans.tokens[spans.lasts[i]]
        scores[i] = score_features(weights, table, _SEED, first, last, spans.inside[i])
    return scores


@njit()
def _learn_spans(
    weights: Array, squares: Array, spans: _Spans, gold: Array, table: Array, rate: float
) -> None:
    """Logistic regression, one step of AdaGrad for each span whose probability is not settled."""
    for i in range(len(gold)):
        first, last, inside = spans.tokens[spans.starts[i]], spans.tokens[spans.lasts[i]], spans.inside[i]
        score = score_features(weights, table, _SEED, first, last, inside)
        gradient = 1.0 / (1.0 + np.exp(-score)) - (1.0 if gold[i] else 0.0)
        if abs(gradient) > 0.01:
            update_features(weights, squares, table, _SEED, first, last, inside, gradient, rate)
