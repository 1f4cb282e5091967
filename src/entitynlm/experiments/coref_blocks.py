"""A block of Table 2: a baseline's one best, its candidates reranked by EntityNLM, and the oracle; and EntityNLM end to end.

Weights are searched on the split called ``dev`` and used on all of them. In a cross-validation every document is tested once, by
a ranker, a model and weights that have not seen it: with F folds, fold f is tested, the next one is for development (stopping,
weights), and the others are trained on. A fold's own development documents are a tenth of a corpus, on which several weights
overfit; the tested lists of the other folds were scored without having seen the documents, too, and weights searched on them
are the rows called "pooled" (decision 064).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from entitynlm.coref.candidates.candidate_files import Clusters, KBestList, Ranked
from entitynlm.coref.candidates.kbest import DECODERS, K, count_candidates, find_oracle, join_counts
from entitynlm.coref.metrics.coreference import CorpusCounts, score_documents
from entitynlm.coref.metrics.documents import clean_key
from entitynlm.coref.metrics.significance import compare_systems
from entitynlm.coref.ranker.ranker import annotates_singletons
from entitynlm.coref.reranking.combination import (
    BY_MODEL,
    Combination,
    ScoredList,
    SearchResult,
    list_networks,
    score_list,
    search_weights,
)
from entitynlm.errors import ConfigError
from entitynlm.experiments.runner import Documents
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress, track
from entitynlm.statistics import TRIALS
from entitynlm.text.document import Document

DEVELOPMENT, TESTED = "dev", "test"
GIVEN = "given"  # the method of lists that somebody else made


@dataclass(frozen=True)
class KeyedSplit:
    """Documents and their keys in one order; ``singletons``: whether mentions without coreference are part of the answer."""

    name: str
    documents: Sequence[Document]
    keys: Sequence[Document]
    singletons: bool

    def score(self, clusters: Sequence[Clusters]) -> CorpusCounts:
        found = [d.with_clusters(c) for d, c in zip(self.documents, clusters, strict=True)]
        return score_documents(self.keys, found)

    def score_choices(self, lists: Sequence[KBestList], choices: Sequence[int]) -> CorpusCounts:
        pairs = zip(lists, choices, strict=True)
        return self.score([item.candidates[choice].clusters for item, choice in pairs])


def make_splits(
    documents: Mapping[str, Sequence[Document]], *, singletons: bool | None = None
) -> list[KeyedSplit]:
    """Splits with their keys, without repeated spans; without ``singletons``, if these are no part of the answer, either."""
    if singletons is None:
        singletons = annotates_singletons([clean_key(d, singletons=True) for d in chain(*documents.values())])
    return [
        KeyedSplit(name, found, [clean_key(d, singletons=singletons) for d in found], singletons)
        for name, found in documents.items()
    ]


Rows = Mapping[str, CorpusCounts]  # by the name of a system, what every metric counted in its answers


CountedList = tuple[ScoredList, CorpusCounts]
"""How the candidates of a document were scored, and what every metric counts in each of them."""


@dataclass(frozen=True)
class Block:
    """A baseline and the systems that rerank its candidates: rows by split, weights found on dev, tested lists if kept."""

    title: str
    rows: Mapping[str, Rows]
    weights: Mapping[str, SearchResult] = field(default_factory=dict)
    lists: Mapping[str, Sequence[CountedList]] = field(default_factory=dict, repr=False)

    def describe(self, *, trials: int = TRIALS, seed: int = 0) -> dict[str, Any]:
        """Figures of every row, its weights, and its difference from the block's first row with the p-value."""
        splits = {}
        for split, rows in self.rows.items():
            first = next(iter(rows.values()))
            described = []
            for name, counts in rows.items():
                entry: dict[str, Any] = {"name": name, **counts.to_json()}
                if counts is not first:
                    compared = compare_systems(first, counts, trials=trials, seed=seed)
                    entry["versus_first"] = {
                        metric: {"difference": c.difference, "p_value": c.p_value}
                        for metric, c in compared.items()
                    }
                described.append(entry)
            splits[split] = {"documents": len(first), "rows": described}
        return {"title": self.title, "splits": splits, "combinations": self.describe_weights()}

    def describe_weights(self) -> dict[str, Any]:
        return {name: asdict(found) for name, found in self.weights.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Block:
        """Restore what ``asdict`` gave through JSON: counts, not scores, so folds can be joined and differences tested."""
        try:
            return msgspec.convert(values, cls, dec_hook=lambda kind, rows: np.array(rows, dtype=np.float64))
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from error


@dataclass(frozen=True)
class Reranking:
    """How many candidates are made of antecedent scores, and by which methods (``swaps`` is the paper's)."""

    k: int = K
    methods: Sequence[str] = tuple(DECODERS)


def measure_block(
    title: str,
    splits: Sequence[KeyedSplit],
    ranked: Mapping[str, Sequence[Ranked]],
    pretrained: Pretrained | None,
    options: Reranking | None = None,
    *,
    keep_lists: bool = False,
    progress: Progress = SILENT,
) -> Block:
    """Measure a block of the table; without a model it has the baseline and the oracle only.

    :param ranked: in the documents' order.
    """
    options = options or Reranking()
    given = any(isinstance(item, KBestList) for items in ranked.values() for item in items)
    rows: dict[str, dict[str, CorpusCounts]] = {split.name: {} for split in splits}
    weights: dict[str, SearchResult] = {}
    kept: dict[str, list[CountedList]] = {}
    for method in (GIVEN,) if given else options.methods:
        lists = {s.name: make_lists(ranked[s.name], method, options.k, s.singletons) for s in splits}
        combinations: dict[str, Combination] = {}
        scored: dict[str, list[ScoredList]] = {}
        if pretrained is not None:
            for split in splits:
                pairs = zip(split.documents, lists[split.name], strict=True)
                tracked = track(progress, f"{split.name} {method}", pairs, len(split.documents))
                scored[split.name] = [score_list(pretrained, *pair) for pair in tracked]
            found = _search(pretrained, splits, lists, scored)
            weights |= {f"{method}: {name}": item for name, item in found.items()}
            combinations = {"P": BY_MODEL, **{name: item.combination for name, item in found.items()}}
        for split in splits:
            own, table = lists[split.name], rows[split.name]
            if not table:
                table["one best"] = split.score_choices(own, [0] * len(own))
            for name, combination in combinations.items():
                table[f"{method}: {name}"] = split.score_choices(
                    own, [combination.choose(item) for item in scored[split.name]]
                )
            table[f"{method}: oracle"] = split.score_choices(own, find_oracle(split.keys, own))
            if keep_lists and scored and split.name == TESTED:
                pairs = zip(split.keys, own, strict=True)
                counts = [count_candidates(key, item.candidates, None) for key, item in pairs]
                kept[method] = list(zip(scored[TESTED], counts, strict=True))
    return Block(title, rows, weights, kept)


def make_lists(ranked: Sequence[Ranked], method: str, k: int, singletons: bool) -> list[KBestList]:
    """k-best lists by one method; lists that were given are only cut to k."""
    if method == GIVEN:
        lists = [item for item in ranked if isinstance(item, KBestList)]
        return [KBestList(item.doc_id, item.candidates[:k], item.mentions) for item in lists]
    return [DECODERS[method](item, k, singletons=singletons) for item in ranked]


def _search(
    pretrained: Pretrained,
    splits: Sequence[KeyedSplit],
    lists: Mapping[str, Sequence[KBestList]],
    scored: Mapping[str, Sequence[ScoredList]],
) -> dict[str, SearchResult]:
    """The weights of every kind of combination, found on development documents (none if there are none)."""
    development = next((split for split in splits if split.name == DEVELOPMENT), None)
    if development is None:
        return {}
    if "P" not in list_networks(pretrained):
        raise ConfigError("this model has no generative part to rerank with")
    pairs = zip(development.keys, lists[DEVELOPMENT], strict=True)
    counts = [count_candidates(key, item.candidates) for key, item in pairs]
    wanted = list_combinations(scored[DEVELOPMENT][0].parts) if scored[DEVELOPMENT] else {}
    return {name: search_weights(scored[DEVELOPMENT], counts, features) for name, features in wanted.items()}


def list_combinations(networks: Collection[str]) -> dict[str, list[str]]:
    """What is combined with the baseline's score, by the name of the row; only the first is the paper's."""
    proposals = [name for name in networks if name != "P"]
    found = {"P + baseline": ["P"], "parts of P + baseline": ["P.r", "P.e", "P.l", "P.x"]}
    if proposals:
        found["P, Q + baseline"] = ["P", *proposals]
    return found


def make_folds(documents: Sequence[Document], count: int) -> list[Documents]:
    """``count`` divisions into train, dev and test, in which each document is tested once and is development once."""
    if count < 3:
        raise ConfigError(f"cross-validation with weights of its own needs three folds at least, not {count}")
    if len(documents) < count:
        raise ConfigError(f"{len(documents)} documents can't be divided into {count} folds")
    parts = [list(documents[index::count]) for index in range(count)]
    folds: list[Documents] = []
    for tested in range(count):
        development = (tested + 1) % count
        train = [d for n, part in enumerate(parts) if n not in (tested, development) for d in part]
        folds.append({"train": train, DEVELOPMENT: parts[development], TESTED: parts[tested]})
    return folds


def join_folds(folds: Sequence[Block]) -> Block:
    """All folds' documents as one block; rows that some fold lacks are left out, and those with pooled weights follow."""
    rows = {}
    for split in (DEVELOPMENT, TESTED):
        tables = [fold.rows[split] for fold in folds]
        common = [name for name in tables[0] if all(name in table for table in tables)]
        rows[split] = {name: join_counts([table[name] for table in tables]) for name in common}
    rows[TESTED] |= pool_folds(folds)
    return Block(f"{len(folds)} folds", rows)


def pool_folds(folds: Sequence[Block]) -> dict[str, CorpusCounts]:
    """Rows over all folds' tested documents, in their order, with weights searched on the other folds."""
    rows = {}
    for method, lists in folds[0].lists.items():
        for name, features in list_combinations(lists[0][0].parts if lists else ()).items():
            chosen: list[CorpusCounts] = []
            for fold in folds:
                others = [pair for other in folds if other is not fold for pair in other.lists[method]]
                scored_lists, counted = zip(*others, strict=True)
                found = search_weights(scored_lists, counted, features).combination
                chosen += [counts.take([found.choose(scored)]) for scored, counts in fold.lists[method]]
            rows[f"{method}: {name}, pooled"] = join_counts(chosen)
    return rows
