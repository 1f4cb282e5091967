"""The paper's Table 2: a baseline's one best, the rerankers over its candidates, the oracle, and the model by itself.

A block of the table has one baseline. Weights are searched on the split called ``dev`` and used on all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from entitynlm.coref.candidates.files import Ranked
from entitynlm.coref.candidates.kbest import K, count_candidates, find_oracle, get_decoder
from entitynlm.coref.candidates.kbest_lists import Clusters, KBestList
from entitynlm.coref.metrics.coreference import CorpusCounts, score_documents
from entitynlm.coref.metrics.filters import clean_key, drop_repetitions
from entitynlm.coref.metrics.significance import TRIALS, compare_systems
from entitynlm.coref.reranking.combination import BY_MODEL, Combination, ScoredList, list_networks, score_list
from entitynlm.coref.reranking.weight_search import Found, search_weights
from entitynlm.errors import ConfigError, DataError
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document

DEVELOPMENT = "dev"
GIVEN = "given"  # the method of lists that somebody else made

PAPER: Mapping[str, Mapping[str, float]] = {
    "one best": {"muc": 72.66, "b3": 59.95, "ceafe": 56.18, "conll": 62.93},
    "P": {"muc": 73.44, "b3": 61.01, "ceafe": 57.55, "conll": 64.00},
    "P + baseline": {"muc": 73.47, "b3": 61.04, "ceafe": 57.61, "conll": 64.04},
}
"""F1 on CoNLL-2012 test, as printed."""

OnDocument = Callable[[str, int, int], None]
"""Told a step's name, documents done, documents in all."""


@dataclass(frozen=True)
class KeyedSplit:
    """Documents and the keys that they are scored against, in one order.

    :param singletons: whether mentions that corefer with nothing are part of the key and of the answer.
    """

    name: str
    documents: Sequence[Document]
    keys: Sequence[Document]
    singletons: bool

    def score(self, clusters: Sequence[Clusters]) -> CorpusCounts:
        """All metrics of one analysis for each document."""
        found = [d.with_clusters(c) for d, c in zip(self.documents, clusters, strict=True)]
        return score_documents(self.keys, found)


def make_split(name: str, documents: Sequence[Document], *, singletons: bool) -> KeyedSplit:
    """Keys have no repeated spans, and no singletons where these are no part of the answer."""
    clean = drop_repetitions if singletons else clean_key
    return KeyedSplit(name, documents, [clean(document) for document in documents], singletons)


OnLists = Callable[[str, KeyedSplit, Sequence[ScoredList]], None]
"""Told the method of making lists, the split, and the lists with the model's scores."""


@dataclass(frozen=True)
class Row:
    """One system on one split."""

    name: str
    counts: CorpusCounts

    @property
    def conll(self) -> float:
        return self.counts.conll


@dataclass(frozen=True)
class Block:
    """One baseline and what becomes of it; rows by split, the baseline first."""

    title: str
    rows: Mapping[str, Sequence[Row]]
    found: Mapping[str, Found] = field(default_factory=dict)

    def to_json(self, *, trials: int = TRIALS, seed: int = 0) -> dict[str, Any]:
        """Figures of every row, its weights, and its difference from the block's first row with the p-value."""
        splits = {}
        for split, rows in self.rows.items():
            described = []
            for row in rows:
                entry: dict[str, Any] = {"name": row.name, **row.counts.to_json()}
                if row is not rows[0]:
                    compared = compare_systems(rows[0].counts, row.counts, trials=trials, seed=seed)
                    entry["versus_first"] = {
                        name: {"difference": c.difference, "p_value": c.p_value}
                        for name, c in compared.items()
                    }
                described.append(entry)
            splits[split] = {"documents": len(rows[0].counts), "rows": described}
        weights = {
            name: {"weights": f.combination.to_json(), "dev_conll": f.conll, "tried": f.tried}
            for name, f in self.found.items()
        }
        return {"title": self.title, "splits": splits, "combinations": weights}


@dataclass(frozen=True)
class Reranking:
    """How candidates are made and weighed.

    :param methods: of making k-best lists from antecedent scores (``swaps`` is the paper's).
    :param extra: also search for the four parts of log P by themselves and for the proposals' log Q (ours, not the paper's).
    """

    k: int = K
    methods: Sequence[str] = ("swaps", "samples")
    extra: bool = True


def make_lists(ranked: Sequence[Ranked], method: str, k: int, *, singletons: bool) -> list[KBestList]:
    """k-best lists by one method; lists that were given are only cut to k."""
    if method == GIVEN:
        lists = [item for item in ranked if isinstance(item, KBestList)]
        return [KBestList(item.doc_id, item.candidates[:k], item.mentions) for item in lists]
    decode = get_decoder(method)
    return [decode(item, k, singletons=singletons) for item in ranked]


def measure_block(
    title: str,
    splits: Sequence[KeyedSplit],
    ranked: Mapping[str, Sequence[Ranked]],
    pretrained: Pretrained | None,
    options: Reranking | None = None,
    *,
    on_document: OnDocument = lambda step, done, total: None,
    on_lists: OnLists = lambda method, split, lists: None,
) -> Block:
    """A block of the table.

    :param ranked: per split, in the order of its documents, antecedent scores or k-best lists.
    :param bundle: the model; without one the block has the baseline and the oracle only.
    :param on_lists: told every split's scored lists.
    """
    options = options or Reranking()
    for split in splits:
        check_order(split, ranked[split.name])
    given = any(isinstance(item, KBestList) for items in ranked.values() for item in items)
    methods = (GIVEN,) if given else tuple(options.methods)
    rows: dict[str, list[Row]] = {}
    found: dict[str, Found] = {}
    for method in methods:
        lists = {
            s.name: make_lists(ranked[s.name], method, options.k, singletons=s.singletons) for s in splits
        }
        for split in splits:
            if split.name not in rows:
                best = [item.candidates[0].clusters for item in lists[split.name]]
                rows[split.name] = [Row("one best", split.score(best))]
        scored = {}
        if pretrained is not None:
            for split in splits:
                scored[split.name] = _score_split(pretrained, split, lists[split.name], method, on_document)
                on_lists(method, split, scored[split.name])
            new = _search(pretrained, splits, scored, options)
            found |= {f"{method}: {name}": item for name, item in new.items()}
            for split in splits:
                combinations = {"P": BY_MODEL, **{name: item.combination for name, item in new.items()}}
                rows[split.name] += _rerank(split, scored[split.name], combinations, method)
        for split in splits:
            oracle = find_oracle(split.keys, lists[split.name])
            best = [
                item.candidates[i].clusters for item, i in zip(lists[split.name], oracle.choices, strict=True)
            ]
            rows[split.name].append(Row(f"{method}: oracle", split.score(best)))
    return Block(title, rows, found)


def check_order(split: KeyedSplit, ranked: Sequence[Ranked]) -> None:
    """Every document of a split must have its scores."""
    if [item.doc_id for item in ranked] != [document.id for document in split.documents]:
        missing = sorted({d.id for d in split.documents} - {item.doc_id for item in ranked})
        raise DataError(
            f"the scores for {split.name} are not those of its {len(split.documents)} documents"
            + (f"; {len(missing)} are missing, {missing[0]!r} among them" if missing else "")
        )


def _score_split(
    pretrained: Pretrained,
    split: KeyedSplit,
    lists: Sequence[KBestList],
    method: str,
    on_document: OnDocument,
) -> list[ScoredList]:
    scored = []
    for number, (document, item) in enumerate(zip(split.documents, lists, strict=True), start=1):
        scored.append(score_list(pretrained, document, item))
        on_document(f"{split.name} {method}", number, len(lists))
    return scored


def _search(
    pretrained: Pretrained,
    splits: Sequence[KeyedSplit],
    scored: Mapping[str, Sequence[ScoredList]],
    options: Reranking,
) -> dict[str, Found]:
    """The weights of every kind of combination, found on development documents (none if there are none)."""
    development = next((split for split in splits if split.name == DEVELOPMENT), None)
    if development is None:
        return {}
    if "P" not in list_networks(pretrained):
        raise ConfigError("this model has no generative part to rerank with")
    lists = scored[DEVELOPMENT]
    counts = [
        count_candidates(key, item.kbest.candidates)
        for key, item in zip(development.keys, lists, strict=True)
    ]
    wanted = list_combinations(list(list_networks(pretrained)), extra=options.extra)
    return {name: search_weights(lists, counts, features) for name, features in wanted.items()}


def list_combinations(networks: Sequence[str], *, extra: bool) -> dict[str, list[str]]:
    """What is combined with the baseline's score, by the name of the row."""
    found = {"P + baseline": ["P"]}
    if extra:
        found["parts of P + baseline"] = ["P.r", "P.e", "P.l", "P.x"]
        proposals = [name for name in networks if name != "P"]
        if proposals:
            found["P, Q + baseline"] = ["P", *proposals]
    return found


def _rerank(
    split: KeyedSplit, scored: Sequence[ScoredList], combinations: Mapping[str, Combination], method: str
) -> list[Row]:
    return [
        Row(f"{method}: {name}", split.score([combination.pick(item).clusters for item in scored]))
        for name, combination in combinations.items()
    ]
