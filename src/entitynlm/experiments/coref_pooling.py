"""Weights for a fold from the documents of all other folds.

A fold's own development documents are a tenth of a corpus, on which several weights overfit. In a cross-validation every document
is tested once, with a list that was made and scored by a ranker and a model which had not seen it; so for each fold the tested
lists of the others are development lists, nine times as many.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from entitynlm.coref.candidates.kbest import count_candidates, join_counts
from entitynlm.coref.metrics.coreference import CorpusCounts
from entitynlm.coref.reranking.combination import BASELINE, ScoredList, find_feature
from entitynlm.coref.reranking.weight_search import search_weights
from entitynlm.experiments.coref_blocks import read_fold_file
from entitynlm.experiments.coref_table import Row, list_combinations
from entitynlm.files import write_atomically
from entitynlm.text.document import Document


@dataclass(frozen=True, eq=False)
class CountedList:
    """The candidates of a document without their clusters: how they were scored, and what they are worth.

    :param baseline: (k,) the baseline's scores.  :param parts: by network, (k, 4) log-probabilities.
    :param counts: of every metric, a row for each candidate.
    """

    baseline: np.ndarray
    parts: Mapping[str, np.ndarray]
    counts: CorpusCounts

    def __len__(self) -> int:
        return len(self.baseline)

    def feature(self, name: str) -> np.ndarray:
        return self.baseline if name == BASELINE else find_feature(self.parts, name)


Lists = Mapping[str, Sequence[CountedList]]
"""By the method of making candidates, one list for each tested document."""


def count_list(key: Document, scored: ScoredList) -> CountedList:
    """What is kept of a list."""
    counts = count_candidates(key, scored.kbest.candidates, None)
    return CountedList(scored.feature(BASELINE), scored.parts, counts)


def pool_folds(folds: Sequence[Lists], *, extra: bool) -> list[Row]:
    """Rows over all folds' tested documents, in their order, with weights searched on the other folds."""
    rows = []
    for method, lists in folds[0].items():
        networks = list(lists[0].parts) if lists else []
        for name, features in list_combinations(networks, extra=extra).items():
            chosen: list[CorpusCounts] = []
            for number, fold in enumerate(folds):
                others = [item for n, other in enumerate(folds) if n != number for item in other[method]]
                found = search_weights(others, [item.counts for item in others], features)
                chosen += [item.counts.take([found.combination.choose(item)]) for item in fold[method]]
            rows.append(Row(f"{method}: {name}, pooled", join_counts(chosen)))
    return rows


def save_lists(lists: Lists, path: str | Path) -> None:
    """Write the lists of a fold."""
    values = {method: [_describe(item) for item in found] for method, found in lists.items()}
    with write_atomically(path) as stream:
        json.dump(values, stream)
        stream.write("\n")


def load_lists(path: str | Path) -> Lists | None:
    """The lists that lie at ``path``, or None if there are none."""

    def restore(values: Mapping[str, Any]) -> Lists:
        return {method: [_restore(item) for item in found] for method, found in values.items()}

    return read_fold_file(path, restore, "lists")


def _describe(item: CountedList) -> dict[str, Any]:
    return {
        "document": item.counts.doc_ids[0],
        "baseline": item.baseline.tolist(),
        "parts": {name: values.tolist() for name, values in item.parts.items()},
        "counts": {name: values.tolist() for name, values in item.counts.by_metric.items()},
    }


def _restore(values: Mapping[str, Any]) -> CountedList:
    baseline, parts, counts = (
        np.array(values["baseline"], dtype=np.float64),
        {name: np.array(rows, dtype=np.float64) for name, rows in values["parts"].items()},
        {name: np.array(rows, dtype=np.float64) for name, rows in values["counts"].items()},
    )
    return CountedList(baseline, parts, CorpusCounts((values["document"],) * len(baseline), counts))
