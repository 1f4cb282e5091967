"""The paper's Table 2: candidates of a coreference system reranked by EntityNLM, for given models, from training, or in folds.

OUT/ranker, OUT/model             our ranker and EntityNLM
OUT/apart-<n>, OUT/model-lists    rankers of training documents that they have not seen; EntityNLM trained on their lists
OUT/fold-<n>/ranker, model        those of a fold, and
OUT/fold-<n>/figures.json         what was counted in its documents
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from entitynlm.config import Mode
from entitynlm.coref.candidates.candidate_files import Ranked
from entitynlm.coref.ranker.ranker import Ranker, RankerSettings, load_ranker, train_ranker
from entitynlm.experiments.coref_blocks import (
    TESTED,
    Block,
    KeyedSplit,
    Reranking,
    join_folds,
    make_folds,
    make_splits,
    measure_block,
)
from entitynlm.experiments.paper import COREF_F1
from entitynlm.experiments.runner import Documents, Runner
from entitynlm.experiments.table import ExperimentResult, Figure, ResultRow, ResultTable, make_summary
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import track
from entitynlm.statistics import TRIALS
from entitynlm.text.document import Document
from entitynlm.training.settings import Settings

COLUMNS = {
    "muc": "MUC", "b3": "B³", "ceafm": "CEAF_m", "ceafe": "CEAF_e", "blanc": "BLANC", "lea": "LEA", "mentions": "mentions",
}  # fmt: skip
OUR_RANKER = "our ranker"

Baseline = Mapping[str, Sequence[Ranked]]  # antecedent scores or k-best lists by split


@dataclass(frozen=True)
class CorefScores:
    """Blocks by baseline, end-to-end rows by split, and the blocks of the folds that the one block was joined from."""

    blocks: Sequence[Block]
    folds: Sequence[Block] = ()


@dataclass(frozen=True)
class Coreference:
    """What is measured, and how; the seed is that of the randomisation test, of sampling and of all trainings."""

    runner: Runner
    reranking: Reranking = field(default_factory=Reranking)
    trials: int = TRIALS
    seed: int = 0

    def evaluate(
        self,
        splits: Sequence[KeyedSplit],
        baselines: Mapping[str, Baseline],
        pretrained: Pretrained | None,
    ) -> CorefScores:
        """Rerank every baseline's candidates by the given model; without one there are the baselines and their oracles."""
        progress = self.runner.progress
        blocks = [
            measure_block(title, splits, ranked, pretrained, self.reranking, progress=progress)
            for title, ranked in baselines.items()
        ]
        return CorefScores(blocks)

    def reproduce(
        self,
        documents: Documents,
        settings: Settings,
        proposals: Sequence[Mode] = ("causal",),
        read_baselines: Callable[[Sequence[KeyedSplit]], Mapping[str, Baseline]] = lambda splits: {},
    ) -> CorefScores:
        """Train our ranker and EntityNLM, and evaluate them; ``read_baselines`` makes the blocks before that of our ranker."""
        splits, ranked, pretrained = self._train("", documents, settings, proposals)
        return self.evaluate(splits, {**read_baselines(splits), OUR_RANKER: ranked}, pretrained)

    def cross_validate(
        self, documents: Sequence[Document], count: int, settings: Settings, proposals: Sequence[Mode]
    ) -> CorefScores:
        """The block of our ranker over all documents, from folds of which those that are stored are not measured again."""
        say = self.runner.progress.message
        blocks = []
        for number, fold in enumerate(make_folds(documents, count)):

            def measure(number: int = number, fold: Documents = fold) -> Block:
                say(f"fold {number}: {len(fold['train'])} documents to train on")
                splits, ranked, pretrained = self._train(f"fold-{number}/", fold, settings, proposals)
                options: dict[str, Any] = {"keep_lists": True, "progress": self.runner.progress}
                return measure_block(f"fold {number}", splits, ranked, pretrained, self.reranking, **options)

            key = {
                **asdict(self.reranking),
                "proposals": list(proposals),
                "documents": [[d.id for d in found] for found in fold.values()],
            }
            name = f"fold-{number}/figures"
            block = self.runner.step(name, key, measure, encode=asdict, decode=Block.from_dict)
            best = ", ".join(f"{name} {counts.conll:.2f}" for name, counts in block.rows[TESTED].items())
            say(f"fold {number + 1} of {count}: {best}")
            blocks.append(block)
        return CorefScores([join_folds(blocks)], folds=blocks)

    def _train(
        self, folder: str, documents: Documents, settings: Settings, proposals: Sequence[Mode]
    ) -> tuple[list[KeyedSplit], Baseline, Pretrained]:
        """Train a ranker and EntityNLM; give the documents held out, the ranker's scores of them, and the model."""
        ranker = self._make_ranker(f"{folder}ranker", documents["train"])
        tuned: tuple[Mode, ...] = ("rnnlm",) if settings.model.tuned_output else ()
        parts: tuple[Mode, ...] = (*tuned, "generative", *proposals)
        pretrained = self.runner.train(f"{folder}model", documents, settings, parts=parts, seed=self.seed)
        held_out = {name: found for name, found in documents.items() if name != "train"}
        splits = make_splits(held_out, singletons=ranker.singletons)
        return splits, self.rank(ranker, splits), pretrained

    def _make_ranker(self, name: str, train: Sequence[Document]) -> Ranker:
        folder, progress = self.runner.locate(name), self.runner.progress
        if (folder / "ranker.json").exists():
            return load_ranker(folder)
        settings = RankerSettings(seed=self.seed)
        progress.start("ranker", settings.epochs)
        ranker = train_ranker(train, settings, on_epoch=lambda epoch, loss: progress.advance("ranker"))
        progress.finish("ranker")
        ranker.save(folder)
        return ranker

    def rank(self, ranker: Ranker, splits: Sequence[KeyedSplit]) -> Baseline:
        tracked = {s.name: track(self.runner.progress, f"ranking {s.name}", s.documents) for s in splits}
        return {name: [ranker.score(document) for document in found] for name, found in tracked.items()}


def describe(
    found: CorefScores, experiment: Coreference, *, corpus: str, facts: Mapping[str, Any]
) -> ExperimentResult:
    """The tables and figures; ``facts`` go to the figures as they are."""
    k = experiment.reranking.k
    blocks = [block.describe(trials=experiment.trials, seed=experiment.seed) for block in found.blocks]
    figures = {
        "task": "coref",
        "corpus": {"name": corpus},
        **facts,
        "k": k,
        "seed": experiment.seed,
        "trials": experiment.trials,
        "blocks": blocks,
        "paper": {"corpus": "CoNLL-2012", "split": "test", "f1": COREF_F1},
    }
    if found.folds:
        figures["folds"] = len(found.folds)
        figures["combinations"] = [block.describe_weights() for block in found.folds]
    tables, summary = [], []
    for block in blocks:
        remarks = tuple(
            f"{name}: {', '.join(f'{key} {value:.4g}' for key, value in item['weights'].items())} "
            f"({item['tried']} settings, {item['dev_conll']:.2f} on dev)"
            for name, item in block["combinations"].items()
        )
        for split, values in block["splits"].items():
            title = f"{block['title']}, {split} ({values['documents']} documents, F1)"
            tables.append(make_table(title, values["rows"], remarks))
            remarks = ()  # weights stand below the block's first table
            if split == TESTED:
                summary += tables[-1].select("CoNLL", corpus, prefix=f"{block['title']}, ")
    remark = f"{corpus}, {TESTED}; k = {k}; gains over the block's one best, p by randomisation"
    return ExperimentResult("coref", tables, make_summary("coref", corpus, summary, [remark]), figures)


def make_table(title: str, rows: Sequence[Mapping[str, Any]], remarks: tuple[str, ...]) -> ResultTable:
    """CoNLL first, then F1 of every metric, and the difference from the first row as a note."""
    found = []
    for row in rows:
        cells: dict[str, Figure | str] = {"CoNLL": Figure(row["conll"])}
        cells |= {heading: Figure(row[name]["f1"]) for name, heading in COLUMNS.items()}
        versus = row.get("versus_first", {}).get("conll")
        gain = f"{versus['difference']:+.2f}, p = {versus['p_value']:.3f}" if versus else ""
        paper = get_paper_figure(row["name"])
        found.append(ResultRow(row["name"], cells, paper, gain))
    return ResultTable(title, ("CoNLL", *COLUMNS.values()), tuple(found), remarks=remarks)


def get_paper_figure(name: str) -> float | None:
    """The paper's CoNLL score for a row of a kind that the paper has: the one best, or swaps (or given lists) reranked."""
    method, _, system = name.rpartition(": ")
    return COREF_F1.get(system, {}).get("conll") if method in ("", "swaps", "given") else None
