"""The exchange algorithm for word classes, compiled: tens of thousands of words in seconds.

With N(v, c) how often class c follows word v and N(c) how often it occurs, the log-likelihood of the training
text is, up to a constant, Σ_vc N(v, c) log N(v, c) - Σ_c N(c) log N(c). Moving a word changes two columns of
N only, at the rows of the words that it follows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from entitynlm.compilation import njit
from entitynlm.model.encoding.preprocessing import IntArray

SETTLED = 1e-3  # the algorithm ends when a round moves less than this part of the words


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
