"""Result tables of all experiments: figures with their errors beside the paper's, and remarks."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from entitynlm.config import load_toml

CORPORA = {"lm": "CoNLL-2012 test", "coref": "CoNLL-2012 test", "entity": "InScript"}
COREF_F1 = {"one best": 62.93, "P": 64.00, "P + baseline": 64.04}  # CoNLL
PREDICTION_SYSTEMS = ("always-new", "shallow", "modi", "entitynlm", "ours", "ensemble", "human")
"""The rows of Table 3 in their order, two of ours among the paper's."""


def load_packaged_settings(name: str) -> dict[str, Any]:
    """Load packaged settings by ``section.key``: "inscript" is configs/paper-inscript.toml word for word."""
    sections = load_toml(Path(__file__).parents[1] / "resources" / "experiments" / f"{name}.toml")
    return {f"{section}.{key}": value for section, found in sections.items() for key, value in found.items()}


@dataclass(frozen=True)
class Figure:
    """A number as it is printed; its error is a standard deviation, a standard error or half an interval, as its table says."""

    value: float
    error: float | None = None
    digits: int = 2

    def __str__(self) -> str:
        shown = f"{self.value:.{self.digits}f}"
        return f"{shown} ± {self.error:.{self.digits}f}" if self.error else shown

    @classmethod
    def over_seeds(cls, values: Sequence[float]) -> "Figure":
        """Compute the mean and the standard deviation over trainings with several seeds."""
        return cls(statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else None)

    @classmethod
    def with_error(cls, value: float, error: float) -> "Figure":
        """Make a figure from an estimate; an error of zero (exact) or nan (unknown) is left out."""
        return cls(value, error if math.isfinite(error) and error > 0 else None)


@dataclass(frozen=True)
class ResultRow:
    """One system: figures (or words) by column, the paper's figure, and whether its figures may be compared with other rows'."""

    system: str
    cells: Mapping[str, Figure | str]
    paper: float | None = None
    note: str = ""
    comparable: bool = True


@dataclass(frozen=True)
class ResultTable:
    """Systems compared on the same documents; the column with the paper's figures needs a ``paper_corpus``."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[ResultRow, ...]
    paper_corpus: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def heading(self) -> list[str]:
        paper = [f"paper ({self.paper_corpus})"] if self.paper_corpus else []
        return ["", *self.columns, *paper, *([""] if self.has_notes else [])]

    @property
    def has_notes(self) -> bool:
        return any(row.note for row in self.rows)

    def list_cells(self) -> list[list[str]]:
        found = []
        for row in self.rows:
            cells = [row.system, *(str(row.cells.get(column, "–")) for column in self.columns)]
            if self.paper_corpus:
                cells.append("" if row.paper is None else f"{row.paper:.2f}")
            found.append([*cells, row.note] if self.has_notes else cells)
        return found

    def is_number(self, column: int) -> bool:
        """Tell whether a column has figures, which are aligned right."""
        if 0 < column <= len(self.columns):
            name = self.columns[column - 1]
            return any(isinstance(row.cells.get(name), Figure) for row in self.rows)
        return column > len(self.columns) and bool(self.heading[column])


@dataclass(frozen=True)
class ExperimentResult:
    """All tables, and everything that was measured as plain values."""

    tables: Sequence[ResultTable]
    figures: dict[str, Any]
