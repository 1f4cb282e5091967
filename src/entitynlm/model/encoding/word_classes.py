"""Word classes for the class-factored softmax: p(word) = p(class) · p(word | class).

About √V classes make both sums short (docs/decisions/006-word-classes.md). They are made by distribution: words that follow the
same words get one class, so that the class is easy to predict.

The exchange algorithm moves words between classes as long as the training text becomes more probable. Its model is
p(word | previous) = p(class | previous) · p(word | class), which is the class-factored softmax with a history of one word. With
N(v, c) how often class c follows word v and N(c) how often it occurs, the log-likelihood of the training text is, up to a
constant, Σ_vc N(v, c) log N(v, c) - Σ_c N(c) log N(c). Moving a word changes two columns of N only, at the rows of the words that
it follows. Compiled, it takes seconds for tens of thousands of words.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from entitynlm.compilation import njit
from entitynlm.errors import ConfigError, DataError
from entitynlm.model.encoding.preprocessing import IntArray

START_ID = 0  # <s> has the first id in every vocabulary; it is read, never predicted, and has no class
LARGEST_CLASS = 4.0  # no class has more than this many times the mean number of words
EXCHANGE_ROUNDS = 20  # passes over the vocabulary at most
SETTLED = 1e-3  # the algorithm ends when a pass moves less than this part of the words


@dataclass(frozen=True, eq=False)
class WordClasses:
    """(V,) the class of each word: -1 for ``<s>``, which is never predicted, else 0, …, C - 1, none empty."""

    class_of: IntArray

    def __post_init__(self) -> None:
        class_of = np.asarray(self.class_of, dtype=np.int64)
        object.__setattr__(self, "class_of", class_of)
        if class_of.ndim != 1 or len(class_of) < 2 or class_of[START_ID] != -1 or (class_of[1:] < 0).any():
            raise DataError("word classes: every word but the first, <s>, has a class from 0 on")
        if class_of.max() >= len(class_of) or (np.bincount(class_of[1:]) == 0).any():
            raise DataError("word classes: a class is empty")

    def to_dict(self) -> dict[str, Any]:
        return {"class_of": self.class_of.tolist()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "WordClasses":
        try:
            return cls(np.array(values["class_of"], dtype=np.int64))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"word classes: this is not what was stored ({error!r})") from error


def assign_classes(sequences: Iterable[IntArray], size: int, *, classes: int | None = None) -> WordClasses:
    """Make classes for a vocabulary of ``size`` words from the word ids of the training documents.

    It starts from the words dealt out by frequency, and is deterministic.

    :param classes: how many; about √V if not given.
    """
    texts = [np.zeros(0, dtype=np.int64), *sequences]
    words = np.concatenate(texts)
    before = np.concatenate([np.concatenate([[START_ID], text[:-1]])[: len(text)] for text in texts])
    pairs, times = np.unique(words * size + before.astype(np.int64), return_counts=True)
    followers, previous = np.divmod(pairs, size)
    counts = np.bincount(words, minlength=size)
    if size < 2:
        raise DataError("word classes need a vocabulary with words in it")
    classes = max(1, round(math.sqrt(size - 1))) if classes is None else classes
    if not 1 <= classes < size:
        raise ConfigError(f"{size - 1} words can have between 1 and {size - 1} classes, not {classes}")
    order = np.argsort(-counts[1:], kind="stable") + 1
    class_of = np.full(size, -1, dtype=np.int64)
    class_of[order] = np.arange(size - 1) % classes
    following = np.zeros((size, classes), dtype=np.int64)  # N(v, c)
    np.add.at(following, (previous, class_of[followers]), times)
    total = np.bincount(class_of[order], weights=counts[order], minlength=classes).astype(np.int64)  # N(c)
    sizes = np.bincount(class_of[order], minlength=classes)
    pointers = np.searchsorted(followers, np.arange(size + 1))
    largest = math.ceil(LARGEST_CLASS * (size - 1) / classes)
    table = np.arange(min(int(counts.max()), 1 << 16) + 1, dtype=np.float64)
    table[1:] *= np.log(table[1:])
    for _ in range(EXCHANGE_ROUNDS):
        moved = _move_words(
            pointers, previous, times, counts, order, class_of, following, total, sizes, largest, table
        )
        if moved <= SETTLED * len(order):
            break
    return WordClasses(class_of)


@njit(inline="always")
def _x_log_x(x, table):  # type: ignore[no-untyped-def]
    return table[x] if x < len(table) else x * math.log(x)


@njit()
def _move_words(  # type: ignore[no-untyped-def]
    pointers, previous, times, counts, order, class_of, following, total, sizes, largest, table
):
    """Put each word into the class where it raises the likelihood most; returns how many words moved."""
    classes = len(total)
    gain = np.empty(classes)
    moved = 0
    for word in order:
        old = class_of[word]
        first, last = pointers[word], pointers[word + 1]
        if sizes[old] == 1 or first == last:
            continue
        count = counts[word]
        stay = _x_log_x(total[old], table) - _x_log_x(total[old] - count, table)
        for c in range(classes):
            gain[c] = _x_log_x(total[c], table) - _x_log_x(total[c] + count, table)
        for entry in range(first, last):
            row = following[previous[entry]]
            n = times[entry]
            alone = _x_log_x(n, table)
            stay += _x_log_x(row[old] - n, table) - _x_log_x(row[old], table)
            for c in range(classes):
                if row[c] == 0:
                    gain[c] += alone
                else:
                    gain[c] += _x_log_x(row[c] + n, table) - _x_log_x(row[c], table)
        best, best_gain = old, 1e-9
        for c in range(classes):
            if c != old and sizes[c] < largest and stay + gain[c] > best_gain:
                best, best_gain = c, stay + gain[c]
        if best != old:
            for entry in range(first, last):
                following[previous[entry], old] -= times[entry]
                following[previous[entry], best] += times[entry]
            total[old] -= count
            total[best] += count
            sizes[old] -= 1
            sizes[best] += 1
            class_of[word] = best
            moved += 1
    return moved
