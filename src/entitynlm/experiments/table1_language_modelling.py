"""The paper's Table 1: perplexity of a 5-gram, an LSTM and EntityNLM, for a given model or from training over several seeds.

OUT/seed-<n>/ has the models (P, its proposal, the LSTM baseline) with checkpoints and logs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from entitynlm.config import Mode
from entitynlm.experiments.runner import Documents, Runner
from entitynlm.experiments.table import CORPORA, ExperimentResult, Figure, ResultRow, ResultTable
from entitynlm.lm.evaluation import Sampling, measure_split
from entitynlm.lm.ngram import estimate_ngrams
from entitynlm.lm.scores import (
    COMPARABLE,
    ENTITY_LIKELIHOODS,
    PAPER_PERPLEXITIES,
    SplitScores,
    compare_models,
    pool_seeds,
)
from entitynlm.model.encoding.tokenizer import Vocabulary
from entitynlm.model.pretrained import Pretrained
from entitynlm.progress import track
from entitynlm.training.settings import Settings

TRAINED_PARTS: tuple[Mode, ...] = ("generative", "rnnlm", "causal")
LIKELIHOOD = "likelihood"


@dataclass(frozen=True)
class Perplexities:
    """The scores of each split, one for each seed of the training; a given model has one without a seed."""

    by_split: Mapping[str, Sequence[SplitScores]]
    sampling: Sampling
    seeds: Sequence[int] = ()

    def pool(self) -> dict[str, SplitScores]:
        """Average each document's scores over seeds, for tests over documents."""
        return {
            split: pool_seeds(found) if len(found) > 1 else found[0] for split, found in self.by_split.items()
        }

    def list_perplexities(self, split: str, model: str, likelihood: str) -> list[float]:
        found = [scores.find(model, likelihood) for scores in self.by_split[split]]
        return [row.perplexity for row in found if row is not None]

    def get_figure(self, split: str, model: str, likelihood: str) -> Figure | None:
        """Find a perplexity, with its standard deviation over seeds, or the error of sampling where the model was given."""
        row = self.by_split[split][0].find(model, likelihood)
        if row is None:
            return None
        if self.seeds:
            return Figure.over_seeds(self.list_perplexities(split, model, likelihood))
        return Figure.with_error(row.perplexity, row.standard_error)


@dataclass(frozen=True)
class LanguageModelling:
    """Documents, likelihoods and sampling of a measurement; the 5-gram row needs training documents."""

    documents: Documents
    runner: Runner
    splits: Sequence[str] = ("dev", "test")
    sampling: Sampling = field(default_factory=Sampling)
    likelihoods: Sequence[str] = ENTITY_LIKELIHOODS
    ngram: bool = True

    def evaluate(self, pretrained: Pretrained) -> Perplexities:
        """Measure a given model and its LSTM; remarks name the rows that are missing."""
        say = self.runner.progress.message
        if pretrained.language_model is None:
            say("remark: no RNNLM row: the model has none (train with --parts rnnlm)")
        if self.ngram and "train" not in self.documents:
            say("remark: no 5-gram row: the corpus has no training documents to estimate it from")
        elif self.ngram and not isinstance(pretrained.encoder.tokenizer, Vocabulary):
            say(
                "remark: no 5-gram row: the model has an open vocabulary, and n-grams are of words that can be listed"
            )
        return Perplexities(
            {split: [found] for split, found in self._measure(pretrained).items()}, self.sampling
        )

    def reproduce(self, settings: Settings, seeds: Sequence[int]) -> Perplexities:
        """Train for every seed the models that are not stored yet, and measure them."""
        by_seed = []
        for seed in seeds:
            self.runner.progress.message(f"seed {seed}")
            name, parts = f"seed-{seed}", TRAINED_PARTS
            trained = self.runner.train(name, self.documents, settings, parts=parts, seed=seed)
            by_seed.append(self._measure(trained))
        by_split = {split: [found[split] for found in by_seed] for split in self.splits}
        return Perplexities(by_split, self.sampling, seeds)

    def _measure(self, pretrained: Pretrained) -> dict[str, SplitScores]:
        """Measure every split, with a 5-gram estimated over the same words."""
        progress, encoder, ngram = self.runner.progress, pretrained.encoder, None
        if self.ngram and "train" in self.documents and isinstance(encoder.tokenizer, Vocabulary):
            train = track(progress, "5-gram: reading", self.documents["train"])
            ngram = estimate_ngrams(map(encoder.encode, train), encoder)
        found = {}
        for split in self.splits:
            progress.message(f"measuring {split}")
            found[split] = measure_split(
                split,
                pretrained,
                [encoder.encode(document) for document in self.documents[split]],
                ngram=ngram,
                sampling=self.sampling,
                likelihoods=self.likelihoods,
                progress=progress,
            )
        return found


def describe(found: Perplexities, *, corpus: str, facts: Mapping[str, Any]) -> ExperimentResult:
    """Make the table and the figures; ``facts`` are added to the figures."""
    pooled = found.pool()
    splits = {split: scores.to_dict() for split, scores in pooled.items()}
    for split, values in splits.items() if found.seeds else ():
        for row in values["rows"]:
            perplexities = found.list_perplexities(split, row["model"], row["likelihood"])
            figure = Figure.over_seeds(perplexities)
            row["over_seeds"] = {
                "perplexities": perplexities,
                "mean": figure.value,
                "standard_deviation": figure.error,
            }
        by_seed = zip(found.seeds, found.by_split[split], strict=True)
        values["seeds"] = {str(seed): scores.to_dict() for seed, scores in by_seed}
    figures = {
        "task": "lm",
        "corpus": {"name": corpus},
        "seeds": list(found.seeds),
        **facts,
        "sampling": asdict(found.sampling),
        "splits": splits,
        "paper": {"corpus": "CoNLL-2012", "split": "test", "perplexity": PAPER_PERPLEXITIES},
    }
    return ExperimentResult([make_perplexity_table(found, pooled, corpus)], figures)


def make_perplexity_table(found: Perplexities, pooled: Mapping[str, SplitScores], corpus: str) -> ResultTable:
    keys = dict.fromkeys((row.model, row.likelihood) for scores in pooled.values() for row in scores.rows)
    rows = []
    for model, likelihood in keys:
        comparable = likelihood in COMPARABLE
        cells: dict[str, Figure | str] = {LIKELIHOOD: likelihood if comparable else f"{likelihood} *"}
        for split in pooled:
            figure = found.get_figure(split, model, likelihood)
            if figure is not None:
                cells[split] = figure
        # The paper says marginal, and counts words only: its figure stands beside all that it may be.
        candidate = comparable or likelihood in ("words-only", "words-mean")
        paper = PAPER_PERPLEXITIES.get(model) if candidate else None
        rows.append(ResultRow(model, cells, paper, comparable=comparable))
    title = f"Perplexity on {corpus}"
    if found.seeds:
        title += f", mean ± standard deviation over seeds {', '.join(map(str, found.seeds))}"
    remarks = tuple(list_perplexity_remarks(found, pooled))
    return ResultTable(title, (LIKELIHOOD, *pooled), tuple(rows), CORPORA["lm"], remarks)


def list_perplexity_remarks(found: Perplexities, pooled: Mapping[str, SplitScores]) -> Iterator[str]:
    """Tell the number of words, how each figure was made, and tests over documents."""
    for split, scores in pooled.items():
        yield (
            f"{split}: {scores.tokens:,} words (sentence ends included) in {scores.documents} documents in every row, "
            f"{100 * scores.unknown / scores.tokens:.1f} % unknown"
        )
    notes = {row.name: row.note for scores in pooled.values() for row in scores.rows}
    yield from (f"{name}: {note}" for name, note in notes.items() if note)
    if any(not row.comparable for scores in pooled.values() for row in scores.rows):
        yield "* not comparable with a language model's perplexity"
    for split, scores in pooled.items():
        for first, second, compared in compare_models(scores.rows):
            yield (
                f"{split}: {second} against {first}: {100 * compared.change:+.2f} % perplexity "
                f"(95 % interval {100 * compared.low:+.2f} … {100 * compared.high:+.2f}), p = {compared.p_value:.4f}, "
                f"better on {compared.wins} of {compared.documents} documents"
            )
    if found.seeds:
        for split, scores in pooled.items():
            for row in scores.rows:
                if Figure.with_error(row.perplexity, row.standard_error).error:
                    yield f"{split}: {row.name} has a sampling error of ± {row.standard_error:.2f}"
    if len(found.seeds) > 1:
        yield "tests and intervals are over documents, of each document's mean log-probability over seeds"
