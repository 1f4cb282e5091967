"""Word classes by distribution: words that follow the same words get one class, so that the class is easy to predict.

The exchange algorithm moves words between classes as long as the training text becomes more probable. Its model is
p(word | previous) = p(class | previous) · p(word | class), which is the class-factored softmax with a history of one word. With
N(v, c) how often class c follows word v and N(c) how often it occurs, the log-likelihood of the training text is, up to a
constant, Σ_vc N(v, c) log N(v, c) - Σ_c N(c) log N(c). Moving a word changes two columns of N only, at the rows of the words that
it follows. Compiled, it takes seconds for tens of thousands of words.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from entitynlm.compilation import njit
from entitynlm.errors import ConfigError, DataError
from entitynlm.model.encoding.preprocessing import IntArray
from entitynlm.model.encoding.word_classes import START_ID, WordClasses

LARGEST_CLASS = 4.0  # no class has more than this many times the mean number of words
EXCHANGE_ROUNDS = 20  # passes over the vocabulary at most
SETTLED = 1e-3  # the algorithm ends when a pass moves less than this part of the words


def assign_classes(
    sequences: Iterable[IntArray],
    size: int,
    *,
    classes: int | None = None,
    largest: int | None = None,
    rounds: int = EXCHANGE_ROUNDS,
) -> WordClasses:
    """Make classes for a vocabulary of ``size`` words from the word ids of the training documents.

    It starts from the words dealt out by frequency, and is deterministic.

    :param classes: how many; about √V if not given.
    :param largest: the most words that a class may have.
    """
    bigrams = count_bigrams(sequences, size)
    counts = np.asarray(bigrams.sum(axis=1)).ravel().astype(np.int64)
    words = size - 1
    if words < 1:
        raise DataError("word classes need a vocabulary with words in it")
    classes = max(1, round(math.sqrt(words))) if classes is None else classes
    if not 1 <= classes <= words:
        raise ConfigError(f"{words} words can have between 1 and {words} classes, not {classes}")
    largest = math.ceil(LARGEST_CLASS * words / classes) if largest is None else largest
    ranked = np.argsort(-counts[1:], kind="stable") + 1
    class_of = np.full(size, -1, dtype=np.int64)
    class_of[ranked] = np.arange(words) % classes
    exchange(bigrams, counts, ranked, class_of, classes=classes, largest=largest, rounds=rounds)
    return WordClasses(class_of)


def count_bigrams(sequences: Iterable[IntArray], size: int) -> Any:
    """Count how often the word of a row follows the word of a column, (V, V) sparse; each sequence follows ``<s>``."""
    texts = [np.zeros(0, dtype=np.int64), *sequences]
    words = np.concatenate(texts)
    before = np.concatenate([np.concatenate([[START_ID], text[:-1]])[: len(text)] for text in texts])
    ones = np.ones(len(words), dtype=np.int64)
    return sparse.csr_matrix((ones, (words, before.astype(np.int64))), shape=(size, size))


def exchange(
    bigrams: Any,
    counts: IntArray,
    order: IntArray,
    class_of: IntArray,
    *,
    classes: int,
    largest: int,
    rounds: int,
) -> None:
    """Improve ``class_of`` in place.

    :param bigrams: (V, V) sparse by rows: how often the word of the row follows the word of the column.
    :param counts: (V,) its row sums.
    :param order: the words to move, in the order in which they are looked at.
    """
    following = np.zeros((len(counts), classes), dtype=np.int64)  # N(v, c)
    entries = bigrams.tocoo()
    np.add.at(following, (entries.col, class_of[entries.row]), entries.data)
    total = np.bincount(class_of[order], weights=counts[order], minlength=classes).astype(np.int64)  # N(c)
    sizes = np.bincount(class_of[order], minlength=classes).astype(np.int64)
    pointers = bigrams.indptr.astype(np.int64)
    previous = bigrams.indices.astype(np.int64)
    times = bigrams.data.astype(np.int64)
    table = np.arange(min(int(counts.max(initial=0)), 1 << 16) + 1, dtype=np.float64)
    table[1:] *= np.log(table[1:])
    for _ in range(rounds):
        moved = _move_words(
            pointers, previous, times, counts, order, class_of, following, total, sizes, largest, table
        )
        if moved <= SETTLED * len(order):
            break


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
