"""The best one-to-one assignment of key chains to response chains, most of which have no mention in common.

Chains that share no mention need not meet, so the table falls into small pieces, most of them one chain against a few. Those are
solved here, in well under a millisecond for a document; a piece that is large goes to scipy, which is as quick as anything on
large tables, but takes longer to be imported than all of a corpus takes to be scored.
"""

from collections.abc import Mapping, Sequence

import numpy as np

LARGE = 40  # chains on the smaller side of a piece from which importing scipy pays

Pair = tuple[int, int]


def assign(similarity: Mapping[Pair, float]) -> list[Pair]:
    """The pairs (row, column) of the assignment with the highest sum, row by row; similarities that are missing are zero."""
    chosen: list[Pair] = []
    for pairs in _find_pieces(similarity):
        if len(pairs) == 1:  # most pieces, and scoring is timed against the official scorer
            chosen += pairs
            continue
        rows, columns = sorted({i for i, _ in pairs}), sorted({j for _, j in pairs})
        if len(rows) == 1 or len(columns) == 1:
            chosen.append(max(sorted(pairs), key=similarity.__getitem__))
            continue
        table = [[similarity.get((i, j), 0.0) for j in columns] for i in rows]
        found = _solve(table) if min(len(rows), len(columns)) < LARGE else _solve_by_scipy(table)
        chosen += [(rows[i], columns[j]) for i, j in found if (rows[i], columns[j]) in similarity]
    return sorted(chosen)


def _find_pieces(similarity: Mapping[Pair, float]) -> list[list[Pair]]:
    """Pairs that are connected through rows or columns that they share."""
    of_row: dict[int, list[Pair]] = {}
    of_column: dict[int, list[Pair]] = {}
    for pair in similarity:
        of_row.setdefault(pair[0], []).append(pair)
        of_column.setdefault(pair[1], []).append(pair)
    pieces = []
    while of_row:
        _, waiting = of_row.popitem()
        piece = list(waiting)
        while waiting:
            _, column = waiting.pop()
            for pair in of_column.pop(column, ()):
                others = of_row.pop(pair[0], ())
                piece += others
                waiting += others
        pieces.append(piece)
    return pieces


def _solve(table: Sequence[Sequence[float]]) -> list[Pair]:
    """The Hungarian method with potentials: rows are added one by one along the cheapest augmenting path."""
    if len(table) > len(table[0]):
        return [(i, j) for j, i in _solve(list(zip(*table, strict=True)))]
    width = len(table[0])
    row_price, column_price = [0.0] * len(table), [0.0] * (width + 1)
    owner = [-1] * (width + 1)  # the row of each column; the last column is where a new row waits
    for new in range(len(table)):
        owner[width] = new
        column = width
        slack, before = [float("inf")] * width, [width] * width
        done = [False] * (width + 1)
        while owner[column] >= 0:
            done[column] = True
            row = owner[column]
            step, nearest = float("inf"), -1
            for j in range(width):
                if done[j]:
                    continue
                cost = -table[row][j] - row_price[row] - column_price[j]
                if cost < slack[j]:
                    slack[j], before[j] = cost, column
                if slack[j] < step:
                    step, nearest = slack[j], j
            for j in range(width + 1):
                if done[j]:
                    row_price[owner[j]] += step
                    column_price[j] -= step
                elif j < width:
                    slack[j] -= step
            column = nearest
        while column != width:  # hand the columns of the path on
            owner[column] = owner[before[column]]
            column = before[column]
    return [(row, column) for column, row in enumerate(owner[:width]) if row >= 0]


def _solve_by_scipy(table: Sequence[Sequence[float]]) -> list[Pair]:
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(-np.array(table))
    return list(zip(rows.tolist(), columns.tolist(), strict=True))
