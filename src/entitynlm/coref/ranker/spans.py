"""A learned finder of mention spans, for texts without syntax (LitBank, plain text).

Every span of up to :data:`LONGEST_SPAN` words is a yes-or-no question to a linear model over hashed features: the words at its
borders, their shapes and endings, its likely head and its length.
"""

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from entitynlm.compilation import njit
from entitynlm.coref.ranker.hashing import (
    Array,
    Columns,
    add_weights,
    hash_texts,
    index_features,
    learn_choices,
)
from entitynlm.model.encoding.preprocessing import IntArray
from entitynlm.text.document import Document
from entitynlm.text.english import AFTER_HEAD

LONGEST_SPAN = 25
FINDER_WEIGHTS, FINDER_SEED = 1 << 20, 5000
FINDER_EPOCHS = 6
FINDER_RATE = 0.15
LIKELY = -1.0  # log-odds from which a span is a mention: on LitBank the best F1 of mentions
LEAST_DOUBT = 0.01  # of a span to learn from it
PREPOSITIONS = frozenset("of in on with at from to for by".split())

# columns of the first word, of the last word (l.), of the head (h.) and of the span
SPAN_TEMPLATES = (
    "word", "shape word", "before word", "word after", "before", "l.after", "l.word", "l.suffix", "l.word l.after",
    "l.suffix l.after", "l.shape l.after_shape", "word l.word", "word l.after", "before l.after", "length", "length word",
    "length shape l.shape", "length l.after", "length before", "h.word", "h.word word", "h.suffix word", "h.suffix length",
    "h.shape word", "h.word l.after", "h.word before", "h.suffix word l.after", "commas length", "prepositions length word",
    "conjunctions word", "commas prepositions conjunctions", "commas l.after", "conjunctions l.after", "prepositions l.after",
    "to_end length", "marks length", "marks before_shape l.after_shape", "marks word l.word", "shape l.shape before l.after",
    "before_shape shape l.after_shape", "l.before l.word", "word after length", "h.word word length", "h.word h.shape",
    "word prepositions l.after", "marks h.word",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class SpanFinder:
    weights: NDArray[np.float32]

    def find(self, document: Document) -> list[tuple[int, int, int]]:
        """List (start, end, head) of the likely spans, the likeliest first; of crossing ones the likelier."""
        starts, lasts, heads, columns = list_spans(document)
        scores = add_weights(
            self.weights, index_features(SPAN_TEMPLATES, columns, FINDER_WEIGHTS, FINDER_SEED)
        )
        likely = np.flatnonzero(scores > LIKELY)
        likely = likely[np.argsort(-scores[likely], kind="stable")]
        chosen = likely[drop_crossing(starts[likely], lasts[likely] + 1)]
        found = (starts[chosen], lasts[chosen] + 1, heads[chosen])
        return list(zip(*(column.tolist() for column in found), strict=True))


def train_span_finder(documents: Sequence[Document], *, seed: int = 0) -> SpanFinder:
    """Learn from the mentions of annotated documents; weights are averaged over the later epochs."""
    weights, squares, average = np.zeros(FINDER_WEIGHTS), np.ones(FINDER_WEIGHTS), np.zeros(FINDER_WEIGHTS)
    order, shuffler = list(documents), random.Random(seed)
    for epoch in range(FINDER_EPOCHS):
        shuffler.shuffle(order)
        for document in order:
            starts, lasts, _, columns = list_spans(document)
            gold = {(mention.start, mention.end - 1) for mention in document.mentions}
            right = np.array(
                [span in gold for span in zip(starts.tolist(), lasts.tolist(), strict=True)], dtype=np.bool_
            )
            features = index_features(SPAN_TEMPLATES, columns, FINDER_WEIGHTS, FINDER_SEED)
            offsets, nothing = np.arange(len(starts) + 1), np.zeros((len(starts), 0), dtype=np.uint32)
            learn_choices(
                weights, squares, nothing, features, offsets, right, np.zeros(3), FINDER_RATE, LEAST_DOUBT
            )
        if epoch >= FINDER_EPOCHS // 2:
            average += weights / (FINDER_EPOCHS - FINDER_EPOCHS // 2)
    return SpanFinder(average.astype(np.float32))


def list_spans(document: Document) -> tuple[IntArray, IntArray, IntArray, Columns]:
    """List first words, last words and likely heads of all spans within sentences, and columns of their features."""
    ends = np.zeros(len(document), dtype=np.int64)
    for start, end in document.sentences:
        ends[start:end] = end
    reach = np.minimum(ends - np.arange(len(document)), LONGEST_SPAN)
    starts = np.repeat(np.arange(len(document)), reach)
    lengths = np.arange(len(starts)) - np.repeat(np.cumsum(reach) - reach, reach)
    lasts = starts + lengths
    words = [token.lower() for token in document.tokens]
    stops = np.flatnonzero(
        [*(word in AFTER_HEAD for word in words), True]
    )  # a head stands before the first of these
    heads = np.maximum(np.minimum(lasts, stops[np.searchsorted(stops, starts + 1)] - 1), starts)
    code, suffix = hash_texts(words), hash_texts([word[-3:] for word in words])
    shape = hash_texts([_find_shape(token) for token in document.tokens])
    of_word = {
        "word": code,
        "suffix": suffix,
        "shape": shape,
        "before": np.roll(code, 1),
        "after": np.roll(code, -1),
    }
    of_word |= {"before_shape": np.roll(shape, 1), "after_shape": np.roll(shape, -1)}
    counted = {
        "commas": {","},
        "prepositions": PREPOSITIONS,
        "conjunctions": {"and", "or"},
        "marks": {word for word in set(words) if not word[0].isalnum()},
    }
    columns = {
        **{prefix + name: column[places] for prefix, places in (("", starts), ("l.", lasts), ("h.", heads))
           for name, column in of_word.items()},
        **{name: _count_within(words, wanted, starts, lasts) for name, wanted in counted.items()},
        "length": np.minimum(lengths, 9),
        "to_end": (lasts + 1 == ends[starts]).astype(np.int64),
    }  # fmt: skip
    return starts, lasts, heads, columns


def _count_within(
    words: Sequence[str], wanted: Collection[str], starts: IntArray, lasts: IntArray
) -> IntArray:
    running = np.cumsum([0, *(word in wanted for word in words)])
    return np.minimum(running[lasts + 1] - running[starts], 3)


def _find_shape(token: str) -> str:
    shapes = ("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in token[:4])
    return "".join(shapes) + ("+" if len(token) > 4 else "")


@njit()
def drop_crossing(starts: Array, ends: Array) -> Array:
    """Mark the spans that cross none of those before them that were marked."""
    kept = np.ones(len(starts), dtype=np.bool_)
    for i in range(len(starts)):
        for j in range(i):
            if kept[j] and (
                starts[i] < starts[j] < ends[i] < ends[j] or starts[j] < starts[i] < ends[j] < ends[i]
            ):
                kept[i] = False
                break
    return kept
