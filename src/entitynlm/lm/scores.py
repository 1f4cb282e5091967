"""Log-probabilities of held-out documents by several models and likelihoods, and which perplexities may be compared.

    exact           p(X) of the 5-gram and of the RNNLM
    marginal        P(X) of EntityNLM, summed over all analyses by sampling: comparable with the exact ones
    words-only      log-probabilities of the words alone, averaged over analyses drawn from Q (the paper's wording); Q has read
                    the word before it chooses its entity, so this is no probability of the text, and not comparable
    words-mean      log of the mean probability over these analyses, word by word: the paper's order appears in this reading,
                    because Q leaks the word
    words-mean-P    its control: analyses drawn from P, which has not read the word
    joint           P(R, E, L, X) of the annotated text: for model selection, not comparable
    given-entities  the words alone, given the annotated entities, not comparable

Words of one document depend on each other, so the tests and intervals take documents as their units. All logarithms are natural.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from entitynlm.errors import ConfigError
from entitynlm.statistics import bootstrap_ratio, flip_signs

Likelihood = Literal[
    "exact", "marginal", "words-only", "words-mean", "words-mean-P", "joint", "given-entities"
]
ENTITY_LIKELIHOODS = ("marginal", "words-only", "words-mean", "words-mean-P", "joint", "given-entities")
COMPARABLE = ("exact", "marginal")

PAPER_PERPLEXITIES = {"5-gram": 138.37, "RNNLM": 134.79, "EntityNLM": 131.64}
"""The paper's Table 1: test perplexities on CoNLL-2012, not comparable with other corpora."""


@dataclass(frozen=True)
class LanguageComparison:
    """Two language models on the same documents.

    :param change: relative change of perplexity from the first to the second: -0.023 is 2.3 % less.
    :param low: and :param high: bounds of its 95 % interval, by bootstrap over documents.
    :param p_value: p-value of a two-sided sign-flip test on the documents' log-probabilities.
    :param wins: number of documents that are more probable under the second.
    """

    change: float
    low: float
    high: float
    p_value: float
    wins: int
    documents: int


@dataclass(frozen=True)
class DocumentLogProb:
    """One document: its log-probability in nats, and the standard error where that is an estimate (None: not known)."""

    id: str
    tokens: int
    log_prob: float
    standard_error: float | None = 0.0


@dataclass(frozen=True)
class ModelScores:
    """One model's log-probabilities of all documents, by one likelihood."""

    model: str
    likelihood: Likelihood
    documents: tuple[DocumentLogProb, ...]
    note: str = ""

    @property
    def name(self) -> str:
        return self.model if self.likelihood == "exact" else f"{self.model} {self.likelihood}"

    @property
    def comparable(self) -> bool:
        """Tell whether the likelihood is a probability of the words, as a language model gives it."""
        return self.likelihood in COMPARABLE

    @property
    def tokens(self) -> int:
        return sum(document.tokens for document in self.documents)

    @property
    def log_prob(self) -> float:
        return math.fsum(document.log_prob for document in self.documents)

    @property
    def perplexity(self) -> float:
        """exp of the mean negative log-probability per word."""
        return math.exp(-self.log_prob / self.tokens)

    @property
    def standard_error(self) -> float:
        """The standard error of the perplexity, from the sampling alone; nan for a single repeat."""
        errors = (document.standard_error for document in self.documents)
        return self.perplexity * math.hypot(*(math.nan if e is None else e for e in errors)) / self.tokens

    def to_dict(self) -> dict[str, Any]:
        error = self.standard_error
        return {
            **asdict(self),
            "comparable": self.comparable,
            "perplexity": self.perplexity,
            "standard_error": None if math.isnan(error) else error,
            "log_prob": self.log_prob,
            "tokens": self.tokens,
        }


@dataclass(frozen=True)
class SplitScores:
    """All models compared on the same words of one split, of which ``unknown`` are not in the vocabulary."""

    split: str
    rows: tuple[ModelScores, ...]
    unknown: int

    def __post_init__(self) -> None:
        if not self.rows:
            raise ConfigError("there is nothing to measure: no model and no likelihood was asked for")

    @property
    def documents(self) -> int:
        return len(self.rows[0].documents)

    @property
    def tokens(self) -> int:
        return self.rows[0].tokens

    def find(self, model: str, likelihood: str) -> ModelScores | None:
        return next((row for row in self.rows if (row.model, row.likelihood) == (model, likelihood)), None)

    def to_dict(self) -> dict[str, Any]:
        comparisons = [
            {"first": first, "second": second, **asdict(found)}
            for first, second, found in compare_models(self.rows)
        ]
        return {
            "split": self.split,
            "documents": self.documents,
            "tokens": self.tokens,
            "unknown": self.unknown,
            "rows": [row.to_dict() for row in self.rows],
            "comparisons": comparisons,
        }


def pool_seeds(found: Sequence[SplitScores]) -> SplitScores:
    """Average the log-probability of each document over trainings with several seeds, for the test over documents."""
    rows = []
    for number, row in enumerate(found[0].rows):
        own = [scores.rows[number] for scores in found]
        documents = tuple(
            DocumentLogProb(
                same[0].id,
                same[0].tokens,
                statistics.fmean(one.log_prob for one in same),
                pool_errors([one.standard_error for one in same]),
            )
            for same in zip(*(match.documents for match in own), strict=True)
        )
        rows.append(ModelScores(row.model, row.likelihood, documents, row.note))
    return SplitScores(found[0].split, tuple(rows), found[0].unknown)


def pool_errors(errors: Sequence[float | None]) -> float | None:
    """Return the standard error of the mean of independent estimates; None where an error is not known."""
    known = [error**2 for error in errors if error is not None]
    return math.sqrt(math.fsum(known)) / len(errors) if len(known) == len(errors) else None


def compare_models(rows: Sequence[ModelScores]) -> list[tuple[str, str, LanguageComparison]]:
    """Compare each comparable row with each row before it: (first, second, change from the first to the second)."""
    comparable = [row for row in rows if row.comparable]
    return [
        (first.name, second.name, compare_language_models(first, second))
        for number, second in enumerate(comparable)
        for first in comparable[:number]
    ]


def compare_language_models(first: ModelScores, second: ModelScores) -> LanguageComparison:
    """Compare two models by their log-probabilities of the same documents."""
    before, after = (np.array([document.log_prob for document in row.documents]) for row in (first, second))
    gains, sizes = after - before, np.array([document.tokens for document in second.documents])
    decrease = bootstrap_ratio(gains, sizes)  # of the loss in nats per word
    return LanguageComparison(
        change=float(np.expm1(-gains.sum() / sizes.sum())),
        low=float(np.expm1(-decrease.high)),
        high=float(np.expm1(-decrease.low)),
        p_value=flip_signs(gains),
        wins=int(np.sum(gains > 0)),
        documents=len(gains),
    )
