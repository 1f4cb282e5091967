"""A block of Table 2: a baseline's one best, its candidates reranked by EntityNLM, and the oracle; and EntityNLM end to end.

Weights are searched on the split called ``dev`` and used on all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from entitynlm.coref.candidates.kbest import K, count_candidates, find_oracle, get_decoder
from entitynlm.coref.candidates.kbest_lists import Clusters, KBestList, Ranked
from entitynlm.coref.metrics.coreference import CorpusCounts, score_documents
from entitynlm.coref.metrics.filters import clean_key, drop_repetitions
from entitynlm.coref.metrics.significance import TRIALS, compare_systems
from entitynlm.coref.ranker.learning import annotates_singletons
from entitynlm.coref.reranking.combination import BY_MODEL, Combination, ScoredList, list_networks, score_list
from entitynlm.coref.reranking.weight_search import SearchResult, search_weights
from entitynlm.errors import ConfigError, DataError
from entitynlm.inference.posterior import decode_greedy, find_best_sample
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import SILENT, Progress, track
from entitynlm.text.document import Document

DEVELOPMENT = "dev"
GIVEN = "given"  # the method of lists that somebody else made
SAMPLES = 100
PROPOSALS = ("causal", "lookahead")


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


def make_splits(
    documents: Mapping[str, Sequence[Document]], *, singletons: bool | None = None
) -> list[KeyedSplit]:
    """Splits with their keys, which have no repeated spans, and no singletons where these are no part of the answer.

    :param singletons: whether they are; None: seen from the documents.
    """
    if singletons is None:
        everything = [drop_repetitions(document) for found in documents.values() for document in found]
        if not everything:
            raise DataError("there are no documents")
        singletons = annotates_singletons(everything)
    clean = drop_repetitions if singletons else clean_key
    return [
        KeyedSplit(name, found, [clean(document) for document in found], singletons)
        for name, found in documents.items()
    ]


@dataclass(frozen=True)
class SystemScores:
    """What every metric counted in the answers of one system."""

    name: str
    counts: CorpusCounts

    @property
    def conll(self) -> float:
        return self.counts.conll

    def to_dict(self) -> dict[str, Any]:
        counts = {name: values.tolist() for name, values in self.counts.by_metric.items()}
        return {"name": self.name, "documents": list(self.counts.doc_ids), "counts": counts}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SystemScores:
        by_metric = {name: np.array(rows, dtype=np.float64) for name, rows in values["counts"].items()}
        return cls(values["name"], CorpusCounts(tuple(values["documents"]), by_metric))


@dataclass(frozen=True)
class Block:
    """One baseline and the systems that rerank its candidates; rows by split, the baseline first.

    :param weights: by the name of a combination, what the search on development documents has found.
    :param scored: by method and split, the candidates with their scores.
    """

    title: str
    rows: Mapping[str, Sequence[SystemScores]]
    weights: Mapping[str, SearchResult] = field(default_factory=dict)
    scored: Mapping[str, Mapping[str, Sequence[ScoredList]]] = field(default_factory=dict, repr=False)

    def describe(self, *, trials: int = TRIALS, seed: int = 0) -> dict[str, Any]:
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
        return {"title": self.title, "splits": splits, "combinations": self.describe_weights()}

    def describe_weights(self) -> dict[str, Any]:
        return {
            name: {"weights": found.combination.to_json(), "dev_conll": found.conll, "tried": found.tried}
            for name, found in self.weights.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """All but the candidates, with counts instead of scores: so that folds can be joined, and differences tested."""
        rows = {split: [row.to_dict() for row in found] for split, found in self.rows.items()}
        return {"title": self.title, "rows": rows, "weights": self.describe_weights()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Block:
        rows = {
            split: [SystemScores.from_dict(row) for row in found] for split, found in values["rows"].items()
        }
        weights = {
            name: SearchResult(Combination(found["weights"]), found["dev_conll"], found["tried"])
            for name, found in values["weights"].items()
        }
        return cls(values["title"], rows, weights)


@dataclass(frozen=True)
class Reranking:
    """How candidates are made and weighed.

    :param methods: of making k-best lists from antecedent scores (``swaps`` is the paper's).
    :param extra: also search for the four parts of log P by themselves and for the proposals' log Q (ours, not the paper's).
    """

    k: int = K
    methods: Sequence[str] = ("swaps", "samples")
    extra: bool = True


def measure_block(
    title: str,
    splits: Sequence[KeyedSplit],
    ranked: Mapping[str, Sequence[Ranked]],
    pretrained: Pretrained | None,
    options: Reranking | None = None,
    *,
    progress: Progress = SILENT,
) -> Block:
    """A block of the table.

    :param ranked: per split, in the order of its documents, antecedent scores or k-best lists.
    :param pretrained: the model; without one the block has the baseline and the oracle only.
    """
    options = options or Reranking()
    for split in splits:
        _check_order(split, ranked[split.name])
    given = any(isinstance(item, KBestList) for items in ranked.values() for item in items)
    rows: dict[str, list[SystemScores]] = {split.name: [] for split in splits}
    weights: dict[str, SearchResult] = {}
    scored: dict[str, dict[str, list[ScoredList]]] = {}
    for method in (GIVEN,) if given else options.methods:
        lists = {s.name: make_lists(ranked[s.name], method, options.k, s.singletons) for s in splits}
        combinations: dict[str, Combination] = {}
        if pretrained is not None:
            scored[method] = {
                s.name: _score_lists(pretrained, s, lists[s.name], f"{s.name} {method}", progress)
                for s in splits
            }
            found = _search(pretrained, splits, scored[method], options)
            weights |= {f"{method}: {name}": item for name, item in found.items()}
            combinations = {"P": BY_MODEL, **{name: item.combination for name, item in found.items()}}
        for split in splits:
            own = lists[split.name]
            if not rows[split.name]:
                best = [item.candidates[0].clusters for item in own]
                rows[split.name].append(SystemScores("one best", split.score(best)))
            for name, combination in combinations.items():
                picked = [combination.pick(item).clusters for item in scored[method][split.name]]
                rows[split.name].append(SystemScores(f"{method}: {name}", split.score(picked)))
            choices = zip(own, find_oracle(split.keys, own).choices, strict=True)
            best = [item.candidates[choice].clusters for item, choice in choices]
            rows[split.name].append(SystemScores(f"{method}: oracle", split.score(best)))
    return Block(title, rows, weights, scored)


def make_lists(ranked: Sequence[Ranked], method: str, k: int, singletons: bool) -> list[KBestList]:
    """k-best lists by one method; lists that were given are only cut to k."""
    if method == GIVEN:
        lists = [item for item in ranked if isinstance(item, KBestList)]
        return [KBestList(item.doc_id, item.candidates[:k], item.mentions) for item in lists]
    decode = get_decoder(method)
    return [decode(item, k, singletons=singletons) for item in ranked]


def _check_order(split: KeyedSplit, ranked: Sequence[Ranked]) -> None:
    """Every document of a split must have its scores."""
    if [item.doc_id for item in ranked] != [document.id for document in split.documents]:
        missing = sorted({d.id for d in split.documents} - {item.doc_id for item in ranked})
        raise DataError(
            f"the scores for {split.name} are not those of its {len(split.documents)} documents"
            + (f"; {len(missing)} are missing, {missing[0]!r} among them" if missing else "")
        )


def _score_lists(
    pretrained: Pretrained, split: KeyedSplit, lists: Sequence[KBestList], task: str, progress: Progress
) -> list[ScoredList]:
    documents = track(progress, task, split.documents)
    return [score_list(pretrained, document, item) for document, item in zip(documents, lists, strict=True)]


def _search(
    pretrained: Pretrained,
    splits: Sequence[KeyedSplit],
    scored: Mapping[str, Sequence[ScoredList]],
    options: Reranking,
) -> dict[str, SearchResult]:
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


def list_end_to_end(pretrained: Pretrained) -> list[tuple[str, str, bool]]:
    """(name, proposal, whether it samples) of the end-to-end rows that a model allows."""
    known = [mode for mode in PROPOSALS if mode in pretrained.networks]
    rows = [(f"greedy, {mode}", mode, False) for mode in known]
    if "generative" in pretrained.networks:
        rows += [(f"best sample, {mode}", mode, True) for mode in known]
    return rows


def measure_end_to_end(
    pretrained: Pretrained,
    split: KeyedSplit,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    progress: Progress = SILENT,
) -> list[SystemScores]:
    """EntityNLM finds mentions and links them without a baseline, greedily and by samples, with every proposal it has."""
    rows = []
    for name, proposal, sampled in list_end_to_end(pretrained):
        answers = []
        for document in track(progress, f"{split.name} {name}", split.documents):
            found = analyse(pretrained, proposal, document, samples=samples if sampled else 0, seed=seed)
            answers.append(
                tuple(cluster for cluster in found.clusters if split.singletons or len(cluster) > 1)
            )
        rows.append(SystemScores(name, split.score(answers)))
    if not rows:
        raise ConfigError(
            "this model has no proposal to find mentions with; train one with: entitynlm train CORPUS --proposal --out DIR"
        )
    return rows


def analyse(
    pretrained: Pretrained, proposal: str, document: Document, *, samples: int = 0, seed: int = 0
) -> Document:
    """The document with the mentions of the proposal's greedy analysis, or of the most probable of so many samples.

    The greedy analysis takes the proposal's most probable choice at every step; of the samples, which P's own choices are mixed
    into, the one with the highest log P(R, E, L, X) is taken.
    """
    encoded = pretrained.encoder.encode_words(document)
    if not len(encoded):
        return document.with_mentions(())
    network = pretrained.get(proposal)
    if samples:
        best = find_best_sample(pretrained.get("generative"), network, encoded, samples=samples, seed=seed)
    else:
        best, _ = decode_greedy(network, encoded)
    return pretrained.encoder.decode(best, document)
