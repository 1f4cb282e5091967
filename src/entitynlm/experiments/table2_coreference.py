"""The paper's Table 2: candidates of a coreference system reranked by EntityNLM, for given models, from training, or in folds.

OUT/model and OUT/fold-<n>/model have EntityNLM. The rows are the baseline's one best, its candidates reranked, and the oracle.
The baseline is another system, or our ranker.

Weights are searched on the split called ``dev`` and used on all splits. In a cross-validation every document is tested once, by a
ranker, a model and weights that have not seen it: with F folds, fold f is tested, the next one is for development (stopping,
weights), and the others are trained on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from entitynlm.config import Mode
from entitynlm.coref.candidates.candidate_files import KBestList, Ranked
from entitynlm.coref.candidates.kbest import DECODERS, K, count_candidates, find_oracle, make_list
from entitynlm.coref.metrics.coreference import CorpusCounts, compare_systems, join_counts, score_documents
from entitynlm.coref.metrics.documents import annotates_singletons, clean_key
from entitynlm.coref.ranker.ranker import Ranker
from entitynlm.coref.reranking import ScoredList, SearchResult, score_list, search_weight
from entitynlm.errors import ConfigError
from entitynlm.experiments.runner import Documents, Runner
from entitynlm.experiments.table import COREF_F1, ExperimentResult, Figure, ResultRow, ResultTable
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import track
from entitynlm.statistics import TRIALS
from entitynlm.text.document import Document
from entitynlm.training.settings import Settings

DEVELOPMENT, TESTED = "dev", "test"
GIVEN = "given"  # the method of k-best lists that were read from a file
COREF_COLUMNS = {
    "muc": "MUC", "b3": "B³", "ceafm": "CEAF_m", "ceafe": "CEAF_e", "blanc": "BLANC", "lea": "LEA", "mentions": "mentions",
}  # fmt: skip
OUR_RANKER = "our ranker"

Baseline = Mapping[str, Sequence[Ranked]]  # scores or k-best lists by split, in the order of its documents
RowCounts = Mapping[str, CorpusCounts]  # by the name of a system, the counts of every metric in its answers


@dataclass(frozen=True)
class KeyedSplit:
    """Documents and their keys in one order; ``singletons``: whether singletons are part of the answer."""

    name: str
    documents: Sequence[Document]
    keys: Sequence[Document]
    singletons: bool

    def score_choices(self, lists: Sequence[KBestList], choices: Sequence[int]) -> CorpusCounts:
        """Score the candidate that was chosen from each document's list."""
        chosen = zip(self.documents, lists, choices, strict=True)
        found = [
            document.with_clusters(item.candidates[choice].clusters) for document, item, choice in chosen
        ]
        return score_documents(self.keys, found)


def make_splits(documents: Documents) -> list[KeyedSplit]:
    """Make splits with their keys: no repeated spans, and no singletons where the corpus does not annotate them."""
    singletons = annotates_singletons(chain(*documents.values()))
    return [
        KeyedSplit(name, found, [clean_key(d, singletons=singletons) for d in found], singletons)
        for name, found in documents.items()
    ]


@dataclass(frozen=True)
class Block:
    """A baseline and the systems that rerank its candidates: rows by split, and the weights searched on dev."""

    title: str
    rows: Mapping[str, RowCounts]
    weights: Mapping[str, SearchResult] = field(default_factory=dict)

    def to_figures(self, *, trials: int = TRIALS, seed: int = 0) -> dict[str, Any]:
        """List the figures of every row, its weights, and its difference from the first row with the p-value."""
        splits = {}
        for split, rows in self.rows.items():
            first = next(iter(rows.values()))
            found = []
            for name, counts in rows.items():
                entry: dict[str, Any] = {"name": name, **counts.to_json()}
                if counts is not first:
                    compared = compare_systems(first, counts, trials=trials, seed=seed)
                    entry["versus_first"] = {
                        metric: {"difference": c.difference, "p_value": c.p_value}
                        for metric, c in compared.items()
                    }
                found.append(entry)
            splits[split] = {"documents": len(first), "rows": found}
        weights = {name: asdict(found) for name, found in self.weights.items()}
        return {"title": self.title, "splits": splits, "weights": weights}


@dataclass(frozen=True)
class Coreference:
    """Settings of Table 2.

    :param k: number of candidates of a document, and :param methods: how they are made (``swaps`` is the paper's method).
    :param seed: seed of the randomisation test and of all trainings.
    """

    runner: Runner
    k: int = K
    methods: Sequence[str] = tuple(DECODERS)
    trials: int = TRIALS
    seed: int = 0

    def evaluate(
        self,
        documents: Documents,
        names: Sequence[str],
        pretrained: Pretrained | None,
        read_baseline: Callable[[KeyedSplit], Sequence[Ranked]] | None = None,
        title: str = OUR_RANKER,
    ) -> Block:
        """Rerank candidates by the given model; without a model there are the baseline and its oracle.

        :param names: names of the splits to measure.
        :param read_baseline: reads the candidates of a split; None: candidates of a ranker trained on the split ``train``.
        :param title: title of the baseline.
        """
        splits = make_splits({name: documents[name] for name in names})
        if read_baseline is None:
            ranked = self.rank(documents["train"], splits)
        else:
            ranked = {split.name: read_baseline(split) for split in splits}
        return self.measure_block(title, splits, ranked, pretrained)

    def cross_validate(self, documents: Sequence[Document], count: int, settings: Settings) -> list[Block]:
        """Measure the block of each fold, over all documents, with our ranker."""
        say = self.runner.progress.message
        blocks = []
        for number, fold in enumerate(make_folds(documents, count)):
            say(f"fold {number}: {len(fold['train'])} documents to train on")
            splits = make_splits({name: fold[name] for name in (DEVELOPMENT, TESTED)})
            pretrained = self.train(f"fold-{number}/model", fold, settings)
            ranked = self.rank(fold["train"], splits)
            block = self.measure_block(f"fold {number}", splits, ranked, pretrained)
            best = ", ".join(f"{name} {counts.conll:.2f}" for name, counts in block.rows[TESTED].items())
            say(f"fold {number + 1} of {count}: {best}")
            blocks.append(block)
        return blocks

    def train(self, name: str, documents: Documents, settings: Settings) -> Pretrained:
        """Train EntityNLM unless it is stored."""
        tuned: tuple[Mode, ...] = ("rnnlm",) if settings.model.tuned_output else ()
        return self.runner.train(name, documents, settings, parts=(*tuned, "generative"), seed=self.seed)

    def rank(self, train: Sequence[Document], splits: Sequence[KeyedSplit]) -> Baseline:
        """Train a ranker, and score the antecedents of all documents."""
        progress = self.runner.progress
        ranker = Ranker(train, seed=self.seed, progress=progress)
        tracked = {s.name: track(progress, f"ranking {s.name}", s.documents) for s in splits}
        return {name: [ranker.score(document) for document in found] for name, found in tracked.items()}

    def measure_block(
        self, title: str, splits: Sequence[KeyedSplit], ranked: Baseline, pretrained: Pretrained | None
    ) -> Block:
        """Measure a block of the table; without a model it has the baseline and the oracle only."""
        given = any(isinstance(item, KBestList) for items in ranked.values() for item in items)
        rows: dict[str, dict[str, CorpusCounts]] = {split.name: {} for split in splits}
        weights: dict[str, SearchResult] = {}
        for method in (GIVEN,) if given else self.methods:
            lists = {
                s.name: [make_list(item, self.k, method, singletons=s.singletons) for item in ranked[s.name]]
                for s in splits
            }
            combinations: dict[str, float | None] = {}
            scored: dict[str, list[ScoredList]] = {}
            if pretrained is not None:
                for split in splits:
                    pairs = zip(split.documents, lists[split.name], strict=True)
                    task = f"{split.name} {method}"
                    tracked = track(self.runner.progress, task, pairs, len(split.documents))
                    scored[split.name] = [score_list(pretrained, *pair) for pair in tracked]
                combinations = {"P": None}
                for split in splits:
                    if split.name == DEVELOPMENT and split.documents:
                        pairs = zip(split.keys, lists[split.name], strict=True)
                        counts = [count_candidates(key, item.candidates) for key, item in pairs]
                        found = search_weight(scored[split.name], counts)
                        weights[f"{method}: P + baseline"] = found
                        combinations["P + baseline"] = found.weight
            for split in splits:
                own, table = lists[split.name], rows[split.name]
                if not table:
                    table["one best"] = split.score_choices(own, [0] * len(own))
                for name, weight in combinations.items():
                    choices = [item.choose(weight) for item in scored[split.name]]
                    table[f"{method}: {name}"] = split.score_choices(own, choices)
                table[f"{method}: oracle"] = split.score_choices(own, find_oracle(split.keys, own))
        return Block(title, rows, weights)


def make_folds(documents: Sequence[Document], count: int) -> list[Documents]:
    """Divide documents ``count`` times into train, dev and test, so that each document is in test once and in dev once."""
    if not 3 <= count <= len(documents):
        raise ConfigError(
            f"{len(documents)} documents can't be divided into {count} folds; there must be three at least"
        )
    parts = [list(documents[index::count]) for index in range(count)]
    folds: list[Documents] = []
    for tested in range(count):
        development = (tested + 1) % count
        train = [d for n, part in enumerate(parts) if n not in (tested, development) for d in part]
        folds.append({"train": train, DEVELOPMENT: parts[development], TESTED: parts[tested]})
    return folds


def join_folds(folds: Sequence[Block]) -> Block:
    """Join all folds' documents in one block; rows that some fold lacks are left out."""
    rows = {}
    for split in (DEVELOPMENT, TESTED):
        tables = [fold.rows[split] for fold in folds]
        common = [name for name in tables[0] if all(name in table for table in tables)]
        rows[split] = {name: join_counts([table[name] for table in tables]) for name in common}
    return Block(f"{len(folds)} folds", rows)


def describe(
    found: Sequence[Block], experiment: Coreference, *, corpus: str, facts: Mapping[str, Any]
) -> ExperimentResult:
    """Make the tables and figures of one block, or of joined folds; ``facts`` are added to the figures."""
    joined = join_folds(found) if len(found) > 1 else found[0]
    block = joined.to_figures(trials=experiment.trials, seed=experiment.seed)
    figures = {
        "task": "coref",
        "corpus": {"name": corpus},
        **facts,
        "k": experiment.k,
        "seed": experiment.seed,
        "trials": experiment.trials,
        "blocks": [block],
        "paper": {"corpus": "CoNLL-2012", "split": "test", "conll": COREF_F1},
    }
    if len(found) > 1:
        figures["folds"] = len(found)
        figures["weights"] = [{n: asdict(w) for n, w in fold.weights.items()} for fold in found]
    remarks = tuple(
        f"{name}: weight of P {item['weight']:.4g} ({item['dev_conll']:.2f} on dev)"
        for name, item in block["weights"].items()
    )
    tables = []
    for split, values in block["splits"].items():
        title = f"{block['title']}, {split} ({values['documents']} documents, F1)"
        tables.append(make_coref_table(title, values["rows"], remarks))
        remarks = ()  # weights stand below the block's first table
    return ExperimentResult(tables, figures)


def make_coref_table(title: str, rows: Sequence[Mapping[str, Any]], remarks: tuple[str, ...]) -> ResultTable:
    """Make a table of CoNLL, then F1 of every metric, and the difference from the first row as a note."""
    found = []
    for row in rows:
        cells: dict[str, Figure | str] = {"CoNLL": Figure(row["conll"])}
        cells |= {heading: Figure(row[name]["f1"]) for name, heading in COREF_COLUMNS.items()}
        versus = row.get("versus_first", {}).get("conll")
        gain = f"{versus['difference']:+.2f}, p = {versus['p_value']:.3f}" if versus else ""
        found.append(ResultRow(row["name"], cells, get_paper_figure(row["name"]), gain))
    return ResultTable(title, ("CoNLL", *COREF_COLUMNS.values()), tuple(found), remarks=remarks)


def get_paper_figure(name: str) -> float | None:
    """Return the paper's CoNLL score of the same kind of row: the one best, or swaps (or given lists) reranked."""
    method, _, system = name.rpartition(": ")
    return COREF_F1.get(system) if method in ("", "swaps", GIVEN) else None
