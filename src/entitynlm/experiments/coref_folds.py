"""Cross-validation of reranking over all documents of a corpus, so that a difference has documents enough to show.

Every document is tested once, by a ranker, a model and weights that have not seen it: with F folds, fold f is tested, the next
one is for development (stopping, weights), and the others are trained on. Folds take every F-th document of the list, so that
genres which stand together in it are spread.

A fold's own development documents are a tenth of a corpus, on which several weights overfit. The tested lists of the other folds
were made and scored without having seen the documents, too: weights searched on them are the rows called "pooled".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from entitynlm.coref.candidates.kbest import count_candidates, join_counts
from entitynlm.coref.metrics.coreference import CorpusCounts
from entitynlm.coref.reranking.combination import BASELINE, ScoredList, find_feature
from entitynlm.coref.reranking.weight_search import search_weights
from entitynlm.errors import ConfigError
from entitynlm.experiments.coref_blocks import (
    DEVELOPMENT,
    Block,
    KeyedSplit,
    SystemScores,
    list_combinations,
)
from entitynlm.text.document import Document

TESTED = "test"


@dataclass(frozen=True)
class Fold:
    """One way to divide the documents into train, dev and test."""

    number: int
    documents: Mapping[str, Sequence[Document]]


def make_folds(documents: Sequence[Document], count: int) -> list[Fold]:
    """``count`` divisions, in which each document is tested once and is development once."""
    if count < 3:
        raise ConfigError(f"cross-validation with weights of its own needs three folds at least, not {count}")
    if len(documents) < count:
        raise ConfigError(f"{len(documents)} documents can't be divided into {count} folds")
    parts = [list(documents[index::count]) for index in range(count)]
    folds = []
    for number in range(count):
        held_out = (number, (number + 1) % count)
        train = [d for index, part in enumerate(parts) if index not in held_out for d in part]
        folds.append(Fold(number, {"train": train, DEVELOPMENT: parts[held_out[1]], TESTED: parts[number]}))
    return folds


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

    def to_dict(self) -> dict[str, Any]:
        return {
            "document": self.counts.doc_ids[0],
            "baseline": self.baseline.tolist(),
            "parts": {name: values.tolist() for name, values in self.parts.items()},
            "counts": {name: values.tolist() for name, values in self.counts.by_metric.items()},
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> CountedList:
        parts, counts = (
            {name: np.array(rows, dtype=np.float64) for name, rows in values[kind].items()}
            for kind in ("parts", "counts")
        )
        baseline = np.array(values["baseline"], dtype=np.float64)
        return cls(baseline, parts, CorpusCounts((values["document"],) * len(baseline), counts))


Lists = Mapping[str, Sequence[CountedList]]
"""By the method of making candidates, one list for each tested document."""


@dataclass(frozen=True)
class FoldResult:
    """A fold's block, and the counted candidates of its tested documents."""

    block: Block
    lists: Lists

    def to_dict(self) -> dict[str, Any]:
        lists = {method: [item.to_dict() for item in found] for method, found in self.lists.items()}
        return {"block": self.block.to_dict(), "lists": lists}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> FoldResult:
        lists = {
            method: [CountedList.from_dict(item) for item in found]
            for method, found in values["lists"].items()
        }
        return cls(Block.from_dict(values["block"]), lists)


def count_list(key: Document, scored: ScoredList) -> CountedList:
    """What is kept of a list."""
    counts = count_candidates(key, scored.kbest.candidates, None)
    return CountedList(scored.feature(BASELINE), scored.parts, counts)


def count_tested(block: Block, splits: Sequence[KeyedSplit]) -> FoldResult:
    """A block that was just measured, with the candidates of its tested documents."""
    keys = next(split.keys for split in splits if split.name == TESTED)
    lists = {
        method: [count_list(key, item) for key, item in zip(keys, scored[TESTED], strict=True)]
        for method, scored in block.scored.items()
    }
    return FoldResult(block, lists)


def join_folds(folds: Sequence[FoldResult], *, extra: bool) -> Block:
    """All folds' documents as one block; rows that some fold lacks are left out, and those with pooled weights follow."""
    rows = {split: _join_rows([fold.block.rows[split] for fold in folds]) for split in (DEVELOPMENT, TESTED)}
    rows[TESTED] += pool_folds([fold.lists for fold in folds], extra=extra)
    return Block(f"{len(folds)} folds", rows)


def _join_rows(folds: Sequence[Sequence[SystemScores]]) -> list[SystemScores]:
    by_name = [{row.name: row for row in rows} for rows in folds]
    common = [name for name in by_name[0] if all(name in rows for rows in by_name)]
    return [SystemScores(name, join_counts([found[name].counts for found in by_name])) for name in common]


def pool_folds(folds: Sequence[Lists], *, extra: bool) -> list[SystemScores]:
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
            rows.append(SystemScores(f"{method}: {name}, pooled", join_counts(chosen)))
    return rows
