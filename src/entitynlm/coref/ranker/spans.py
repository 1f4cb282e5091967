"""A span classifier that finds mentions in texts without syntax (LitBank, plain text).

A linear model over hashed features classifies every span of up to :data:`LONGEST_SPAN` words: by the words at its borders and
around it, its likely head and its length.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from entitynlm.coref.mention_table import choose_spans
from entitynlm.coref.ranker.hashing import Array, HashedColumns, LinearModel, hash_texts
from entitynlm.model.encoding.preprocessing import IntArray
from entitynlm.text.document import Document, Span
from entitynlm.text.english import AFTER_HEAD

LONGEST_SPAN = 25
FINDER_WEIGHTS = 1 << 20
FINDER_EPOCHS = 6
FINDER_RATE = 0.15
LIKELY = -1.0  # log-odds from which a span is a mention: on LitBank the best F1 of mentions
LEAST_DOUBT = 0.01  # of a span to learn from it
COUNTED = {
    "commas": frozenset(","),
    "marks": frozenset("“”‘’\"';:.!?()-—_") | {"--", "``", "''"},
    "prepositions": frozenset("of in on with at from to for by".split()),
    "conjunctions": frozenset(("and", "or")),
}
PLACES = ("before", "first", "head", "final", "after")
SPAN_TEMPLATES = (
    "length", *PLACES, *(f"{place} length" for place in PLACES),
    *(f"{name} {other}" for name in COUNTED for other in ("length", "first", "after")),
    "commas prepositions conjunctions", "first prepositions after", "marks head",
    *(" ".join(pair) for pair in combinations(PLACES, 2)),
    *(f"{place}.suffix" for place in PLACES), *(f"{place} head.suffix" for place in PLACES),
    "before.shape first.shape final.shape after.shape", "first.shape final.shape length", "first head.shape",
    "first head.suffix after", "final.suffix after", "final.shape after.shape", "marks first final",
    "first second", "first second length", "penultimate final", "to_end length",
    "marks before.shape after.shape", "first head length", "head.suffix length", "head.shape head",
)  # fmt: skip


class SpanFinder:
    """Classifies spans as mentions; trained on annotated documents."""

    def __init__(self, documents: Sequence[Document], *, seed: int) -> None:
        self.model = LinearModel(FINDER_WEIGHTS, FINDER_RATE, LEAST_DOUBT)
        examples = []
        for document in documents:
            spans, columns = list_spans(document)
            gold = {mention.span for mention in document.mentions}
            right = np.array([span in gold for span in spans], dtype=np.bool_)
            examples.append((columns, np.arange(len(spans) + 1), right))

        def index(example: tuple[HashedColumns, IntArray, Array]) -> tuple[Array, ...]:
            columns, offsets, right = example
            none = np.zeros((len(right), 0), dtype=np.uint32)
            return none, self.model.index(SPAN_TEMPLATES, columns), offsets, right

        self.model.learn(examples, index, np.zeros(3), epochs=FINDER_EPOCHS, seed=seed)

    def find(self, document: Document) -> list[Span]:
        """List the likely spans in text order; of crossing spans the more probable one."""
        spans, columns = list_spans(document)
        scores = self.model.score(SPAN_TEMPLATES, columns)
        first, end = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        return [spans[row] for row in choose_spans(first, end - 1, scores, LIKELY).tolist()]


def list_spans(document: Document) -> tuple[list[Span], HashedColumns]:
    """List all spans within sentences, and columns of their features."""
    size = len(document)
    ends = np.zeros(size, dtype=np.int64)
    for start, end in document.sentences:
        ends[start:end] = end
    reach = np.minimum(ends - np.arange(size), LONGEST_SPAN)
    starts = np.repeat(np.arange(size), reach)
    lasts = starts + np.arange(len(starts)) - np.repeat(np.cumsum(reach) - reach, reach)
    words = [token.lower() for token in document.tokens]
    # a head stands before the first of these
    stops = np.flatnonzero([*(word in AFTER_HEAD for word in words), True])
    heads = np.maximum(np.minimum(lasts, stops[np.searchsorted(stops, starts + 1)] - 1), starts)
    places = dict(zip(PLACES, (starts, starts + 1, heads + 1, lasts + 1, lasts + 2), strict=True))
    places |= {"second": starts + 2, "penultimate": lasts}
    columns: dict[str, IntArray] = {}
    for name, texts in (
        ("", words),
        (".suffix", [word[-3:] for word in words]),
        (".shape", [_find_shape(token) for token in document.tokens]),
    ):
        hashed = hash_texts(["", *texts, ""])
        columns |= {place + name: hashed[at] for place, at in places.items()}
    for name, wanted in COUNTED.items():
        running = np.cumsum([0, *(word in wanted for word in words)])
        columns[name] = np.minimum(running[lasts + 1] - running[starts], 3)
    columns["to_end"] = (lasts + 1 == ends[starts]).astype(np.int64)
    columns["length"] = np.minimum(lasts - starts, 9)
    return list(zip(starts.tolist(), (lasts + 1).tolist(), strict=True)), columns


def _find_shape(token: str) -> str:
    shapes = ("X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in token[:4])
    return "".join(shapes) + ("+" if len(token) > 4 else "")
