"""Word classes for the class-factored softmax: p(word) = p(class) · p(word | class).

Classes by frequency make the sum over a class short for frequent words. Classes by distribution put words
together that follow the same words, so that the class is easy to predict; they cost a little more time and
give a better model. About √V classes make both sums short. See ``docs/decisions/006-word-classes.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from entitynlm.errors import ConfigError, DataError
from entitynlm.model.encoding.preprocessing import IntArray

if TYPE_CHECKING:  # stored models have their classes, so that few need scipy
    from scipy import sparse

Method = Literal["frequency", "clustering"]

START_ID = 0  # <s> has the first id in every vocabulary; it is read, never predicted, and has no class
LARGEST = 4.0  # no class has more than this many times the mean number of words


@dataclass(frozen=True, eq=False)
class WordClasses:
    """(V,) the class of each word: -1 for ``<s>``, which is never predicted, else 0, …, C - 1, none empty."""

    class_of: IntArray
    method: str = "given"

    def __post_init__(self) -> None:
        class_of = np.asarray(self.class_of, dtype=np.int64)
        object.__setattr__(self, "class_of", class_of)
        if class_of.ndim != 1 or len(class_of) < 2 or class_of[START_ID] != -1 or (class_of[1:] < 0).any():
            raise DataError("word classes: every word but the first, <s>, has a class from 0 on")
        if class_of.max() >= len(class_of) or (np.bincount(class_of[1:]) == 0).any():
            raise DataError("word classes: a class is empty")

    def __len__(self) -> int:
        """C, the number of classes."""
        return len(self.sizes)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WordClasses):
            return NotImplemented
        return self.method == other.method and np.array_equal(self.class_of, other.class_of)

    @cached_property
    def sizes(self) -> IntArray:
        """(C,) words per class."""
        return np.bincount(self.class_of[1:]).astype(np.int64)

    def members(self, number: int) -> IntArray:
        """The ids of the words of a class."""
        return np.flatnonzero(self.class_of == number)

    def to_dict(self) -> dict[str, Any]:
        return {"method": self.method, "class_of": self.class_of.tolist()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> WordClasses:
        try:
            return cls(np.array(values["class_of"], dtype=np.int64), str(values["method"]))
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise DataError(f"word classes: this is not what was stored ({error!r})") from error


def assign_classes(
    sequences: Iterable[IntArray], size: int, *, method: Method = "clustering", classes: int | None = None
) -> WordClasses:
    """Classes for a vocabulary of ``size`` words from the word ids of the training documents."""
    if method == "frequency":
        return assign_by_frequency(count_words(sequences, size), classes)
    if method == "clustering":
        return assign_by_clustering(count_bigrams(sequences, size), classes)
    raise ConfigError(f"word classes are made by one of {', '.join(get_args(Method))}, not {method!r}")


def count_words(sequences: Iterable[IntArray], size: int) -> IntArray:
    """(V,) how often each word occurs."""
    counts = np.zeros(size, dtype=np.int64)
    for sequence in sequences:
        counts += np.bincount(sequence, minlength=size)
    return counts


def count_bigrams(sequences: Iterable[IntArray], size: int) -> sparse.csr_matrix:
    """(V, V) how often the word of a row follows the word of a column; each sequence follows ``<s>``."""
    from scipy import sparse

    texts = [np.zeros(0, dtype=np.int64), *sequences]
    words = np.concatenate(texts)
    before = np.concatenate([np.concatenate([[START_ID], text[:-1]])[: len(text)] for text in texts])
    ones = np.ones(len(words), dtype=np.int64)
    return sparse.csr_matrix((ones, (words, before.astype(np.int64))), shape=(size, size))


def _settle_sizes(words: int, classes: int | None, largest: int | None) -> tuple[int, int]:
    """The number of classes and the most words that a class may have."""
    if words < 1:
        raise DataError("word classes need a vocabulary with words in it")
    if classes is None:
        classes = max(1, round(math.sqrt(words)))
    if not 1 <= classes <= words:
        raise ConfigError(f"{words} words can have between 1 and {words} classes, not {classes}")
    if largest is None:
        largest = math.ceil(LARGEST * words / classes)
    if classes * largest < words:
        raise ConfigError(f"{classes} classes of {largest} words at most can't hold {words} words")
    return classes, largest


def assign_by_frequency(
    counts: npt.ArrayLike, classes: int | None = None, *, largest: int | None = None
) -> WordClasses:
    """Bins of about equal probability, filled from the most frequent word on.

    :param counts: (V,) how often each word occurs; the first, ``<s>``, is not looked at.
    :param classes: how many; about √V if not given.
    :param largest: the most words that a class may have, so that the bin of rare words does not outgrow all
        others.
    """
    mass = np.asarray(counts, dtype=np.float64)[1:]
    classes, largest = _settle_sizes(len(mass), classes, largest)
    ranked = np.argsort(-mass, kind="stable")
    class_of = np.full(len(mass) + 1, -1, dtype=np.int64)
    done = 0
    left = float(mass.sum())
    for number in range(classes):
        later = classes - number - 1
        fewest = max(1, len(mass) - done - later * largest)
        most = min(largest, len(mass) - done - later)
        share = left / (later + 1)
        filled = np.cumsum(mass[ranked[done : done + most]])
        taken = max(fewest, int(np.argmin(np.abs(filled - share))) + 1)
        class_of[ranked[done : done + taken] + 1] = number
        left -= float(filled[taken - 1])
        done += taken
    return WordClasses(class_of, "frequency")


def assign_by_clustering(
    bigrams: sparse.csr_matrix,
    classes: int | None = None,
    *,
    largest: int | None = None,
    rounds: int = 20,
) -> WordClasses:
    """The exchange algorithm: move words between classes as long as the training text becomes more probable.

    Its model is p(word | previous) = p(class | previous) · p(word | class), which is the class-factored
    softmax with a history of one word. It starts from the words dealt out by frequency, and is deterministic.

    :param bigrams: (V, V) as :func:`count_bigrams` makes them.
    :param rounds: passes over the vocabulary at most; it ends when a pass moves fewer than one word in a
        thousand.
    """
    from scipy import sparse

    from entitynlm.model.encoding.class_clustering import exchange  # compiles; most users never need it

    matrix = sparse.csr_matrix(bigrams)
    counts = np.asarray(matrix.sum(axis=1)).ravel().astype(np.int64)
    words = len(counts) - 1
    classes, largest = _settle_sizes(words, classes, largest)
    ranked = np.argsort(-counts[1:], kind="stable") + 1
    class_of = np.full(words + 1, -1, dtype=np.int64)
    class_of[ranked] = np.arange(words) % classes
    exchange(matrix, counts, ranked, class_of, classes=classes, largest=largest, rounds=rounds)
    return WordClasses(class_of, "clustering")
