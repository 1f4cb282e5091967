"""Rows of the language-modelling table: what each reading of "perplexity" means, and which may be compared.

exact           p(X) of the 5-gram and of the RNNLM
marginal        P(X) of EntityNLM, all analyses summed over by sampling: the figure to compare with the exact ones
words-only      log-probabilities of words alone, averaged over analyses drawn from Q (the paper's wording); Q has seen each
                word before it says who it is about, so this is no probability of the text, and not comparable
joint           P(R, E, L, X) of the annotated text: selects models, and is not comparable either
given-entities  words alone, given the annotated entities: what perfect knowledge of them would be worth
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from entitynlm.errors import ConfigError, ModelError
from entitynlm.lm.perplexity import (
    LanguageComparison,
    compare_language_models,
    propagate_error,
    to_perplexity,
)

HiddenStates = Literal["exact", "marginal", "words-only", "joint", "given-entities"]
ENTITY_READINGS = ("marginal", "words-only", "joint", "given-entities")
COMPARABLE = ("exact", "marginal")

PAPER = {"5-gram": 138.37, "RNNLM": 134.79, "EntityNLM": 131.64}
"""The paper's Table 1: test perplexities on CoNLL-2012, which is not any other corpus."""


@dataclass(frozen=True)
class DocumentResult:
    """One document under one reading: log-probability in nats, its standard error where it is an estimate."""

    id: str
    tokens: int
    log_prob: float
    standard_error: float = 0.0
    ess: float | None = None


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    model: str
    reading: HiddenStates
    documents: tuple[DocumentResult, ...]
    note: str = ""

    @property
    def name(self) -> str:
        return self.model if self.reading == "exact" else f"{self.model} {self.reading}"

    @property
    def comparable(self) -> bool:
        """Whether this is the probability of the words, as a language model gives it."""
        return self.reading in COMPARABLE

    @property
    def tokens(self) -> int:
        return sum(document.tokens for document in self.documents)

    @property
    def log_prob(self) -> float:
        return math.fsum(document.log_prob for document in self.documents)

    @property
    def perplexity(self) -> float:
        return to_perplexity(self.log_prob, self.tokens)

    @property
    def standard_error(self) -> float:
        """Of the perplexity, from the sampling alone; nan where a single repeat can't tell."""
        errors = [document.standard_error for document in self.documents]
        return propagate_error(self.perplexity, errors, self.tokens)

    def to_dict(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "reading": self.reading,
            "comparable": self.comparable,
            "perplexity": self.perplexity,
            "standard_error": _finite(self.standard_error),
            "log_prob": self.log_prob,
            "tokens": self.tokens,
            "note": self.note,
            "documents": [
                {
                    "id": document.id,
                    "tokens": document.tokens,
                    "log_prob": document.log_prob,
                    "standard_error": _finite(document.standard_error),
                    "ess": document.ess,
                }
                for document in self.documents
            ],
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Row:
        documents = tuple(
            DocumentResult(
                found["id"],
                found["tokens"],
                found["log_prob"],
                math.nan if found["standard_error"] is None else found["standard_error"],
                found["ess"],
            )
            for found in values["documents"]
        )
        return cls(values["model"], values["reading"], documents, values["note"])


@dataclass(frozen=True)
class Table:
    """All rows over one split.

    :param unknown: how many of its words the vocabulary does not have.
    """

    split: str
    rows: tuple[Row, ...]
    unknown: int

    def __post_init__(self) -> None:
        check_tokens(self.rows)

    @property
    def documents(self) -> int:
        return len(self.rows[0].documents)

    @property
    def tokens(self) -> int:
        return self.rows[0].tokens

    def find(self, model: str, reading: HiddenStates) -> Row | None:
        """The row of a model under a reading, if it was measured."""
        return next((row for row in self.rows if (row.model, row.reading) == (model, reading)), None)

    def to_dict(self) -> dict[str, Any]:
        return {
            "documents": self.documents,
            "tokens": self.tokens,
            "unknown": self.unknown,
            "rows": [row.to_dict() for row in self.rows],
            "comparisons": [
                {"first": first, "second": second, **asdict(found)}
                for first, second, found in compare_rows(self.rows)
            ],
        }

    @classmethod
    def from_dict(cls, split: str, values: dict[str, Any]) -> Table:
        return cls(split, tuple(Row.from_dict(row) for row in values["rows"]), values["unknown"])


@dataclass(frozen=True)
class SeedSpread:
    """One row over several trainings that differ in their seed alone.

    :param mean: of the seeds' perplexities, and :param spread: their standard deviation (nan for one seed).
    """

    model: str
    reading: HiddenStates
    perplexities: tuple[float, ...]
    mean: float
    spread: float


def spread_over_seeds(tables: Sequence[Table]) -> list[SeedSpread]:
    """Mean and spread of each row over the seeds' tables of one split."""
    found = []
    for row in tables[0].rows:
        own = [table.find(row.model, row.reading) for table in tables]
        values = tuple(match.perplexity for match in own if match is not None)
        if len(values) < len(tables):
            raise ModelError(f"{row.name} was not measured for every seed")
        spread = statistics.stdev(values) if len(values) > 1 else math.nan
        found.append(SeedSpread(row.model, row.reading, values, statistics.fmean(values), spread))
    return found


def pool_seeds(tables: Sequence[Table]) -> Table:
    """The mean log-probability of each document over the seeds: what the test over documents looks at."""
    rows = []
    for number, row in enumerate(tables[0].rows):
        own = [table.rows[number] for table in tables]
        if {(match.model, match.reading) for match in own} != {(row.model, row.reading)}:
            raise ModelError("the seeds' tables have different rows")
        check_tokens(own)
        documents = tuple(
            DocumentResult(
                found[0].id,
                found[0].tokens,
                statistics.fmean(one.log_prob for one in found),
                math.sqrt(math.fsum(one.standard_error**2 for one in found)) / len(found),
            )
            for found in zip(*(match.documents for match in own), strict=True)
        )
        rows.append(Row(row.model, row.reading, documents, row.note))
    return Table(tables[0].split, tuple(rows), tables[0].unknown)


def check_tokens(rows: Sequence[Row]) -> None:
    """All rows of a table must count the same words of the same documents."""
    if not rows:
        raise ConfigError("there is nothing to measure: no model and no reading was asked for")
    expected = [(document.id, document.tokens) for document in rows[0].documents]
    for row in rows[1:]:
        found = [(document.id, document.tokens) for document in row.documents]
        if found != expected:
            raise ModelError(
                f"{row.name} counts {row.tokens} words in {len(found)} documents and {rows[0].name} {rows[0].tokens} "
                f"in {len(expected)}: these rows can't stand in one table"
            )


def compare_rows(rows: Sequence[Row], *, seed: int = 0) -> list[tuple[str, str, LanguageComparison]]:
    """Each comparable row against each one before it: (first, second, change from the first to the second)."""
    comparable = [row for row in rows if row.comparable]
    found = []
    for number, second in enumerate(comparable):
        for first in comparable[:number]:
            before, after = ([document.log_prob for document in row.documents] for row in (first, second))
            tokens = [document.tokens for document in second.documents]
            found.append((first.name, second.name, compare_language_models(before, after, tokens, seed=seed)))
    return found


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
