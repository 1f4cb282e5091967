"""The best one-to-one assignment of key chains to response chains, most pairs of which share no mention."""

from collections.abc import Mapping, Sequence

Pair = tuple[int, int]
MOST_CELLS = 4_000_000  # of a table in memory


def assign(similarity: Mapping[Pair, float]) -> list[Pair]:
    """List the pairs (row, column) of the assignment with the highest sum, row by row; missing similarities are zero.

    Each connected component is solved separately, because a table of all chains of a novel would not fit into memory. Most
    components are one chain against a few.
    """
    chosen: list[Pair] = []
    for pairs in _find_components(similarity):
        if len(pairs) == 1:
            chosen += pairs
            continue
        rows, columns = sorted({i for i, _ in pairs}), sorted({j for _, j in pairs})
        if len(rows) == 1 or len(columns) == 1:
            chosen.append(max(sorted(pairs), key=similarity.__getitem__))
            continue
        solve = _solve if len(rows) * len(columns) <= MOST_CELLS else _solve_sparse
        chosen += solve(similarity, rows, columns)
    return sorted(chosen)


def _solve(similarity: Mapping[Pair, float], rows: Sequence[int], columns: Sequence[int]) -> list[Pair]:
    # Here, because it takes longer to import than a corpus takes to be scored.
    from scipy.optimize import linear_sum_assignment

    table = [[similarity.get((i, j), 0.0) for j in columns] for i in rows]
    found = zip(*linear_sum_assignment(table, maximize=True), strict=True)
    return [pair for i, j in found if (pair := (rows[i], columns[j])) in similarity]


def _solve_sparse(
    similarity: Mapping[Pair, float], rows: Sequence[int], columns: Sequence[int]
) -> list[Pair]:
    """Solve a component from its pairs alone; among assignments of equal sums it may choose another one than the dense solver.

    Each row also gets a column that stands for "unassigned". All weights are raised by one, because scipy treats a zero as a
    missing pair.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    row_of, column_of = {own: n for n, own in enumerate(rows)}, {own: n for n, own in enumerate(columns)}
    cells = [(1 + value, row_of[i], column_of[j]) for (i, j), value in similarity.items() if i in row_of]
    cells += [(1.0, row, len(columns) + row) for row in range(len(rows))]
    weights, i, j = zip(*cells, strict=True)
    table = csr_array((weights, (i, j)), shape=(len(rows), len(columns) + len(rows)))
    found = zip(*min_weight_full_bipartite_matching(table, maximize=True), strict=True)
    return [(rows[i], columns[j]) for i, j in found if j < len(columns)]


def _find_components(similarity: Mapping[Pair, float]) -> list[list[Pair]]:
    """Group the pairs that are connected through rows or columns that they share."""
    of_row: dict[int, list[Pair]] = {}
    of_column: dict[int, list[Pair]] = {}
    for pair in similarity:
        of_row.setdefault(pair[0], []).append(pair)
        of_column.setdefault(pair[1], []).append(pair)
    components = []
    while of_row:
        _, waiting = of_row.popitem()
        component = list(waiting)
        while waiting:
            _, column = waiting.pop()
            for pair in of_column.pop(column, ()):
                others = of_row.pop(pair[0], ())
                component += others
                waiting += others
        components.append(component)
    return components
