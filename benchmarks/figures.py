"""What a benchmark is given and what it gives back."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Context:
    """:param data: the folder of corpora, or None (generated stories take their place).

    :param before: a checkout of an earlier commit, beside which some verbs are measured.
    :param quick: small inputs and few laps: to see that everything runs, not to read the figures.
    """

    data: Path | None
    quick: bool = False
    before: Path | None = None

    def choose(self, full: int, quick: int) -> int:
        """A size for a full and for a quick run."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Figure:
    """One measured number.

    :param key: its name in the results file.  :param text: what it is, for the table.
    :param must: the bar that it has to reach, and :param aim: the one that we are after, if there are any.
    :param most: whether the bars say "at most" instead of "at least".
    """

    key: str
    value: float
    text: str
    unit: str = ""
    must: float | None = None
    aim: float | None = None
    most: bool = False

    @property
    def verdict(self) -> str:
        """How the figure stands against its bars."""
        if self.must is None:
            return ""

        def reaches(bar: float) -> bool:
            return self.value <= bar if self.most else self.value >= bar

        if self.aim is not None and reaches(self.aim):
            return "aim reached"
        if reaches(self.must):
            return "reached" if self.aim is None else "must reached"
        return "MISSED"

    @property
    def bars(self) -> str:
        if self.must is None:
            return ""
        sign = "≤" if self.most else "≥"
        aim = "" if self.aim is None else f", aim {self.aim:,g}"
        return f"{sign} {self.must:,g}{aim}"
