"""The paper's Table 3: how often each model foresees who is mentioned next, how sure that is, and where the errors lie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from entitynlm.errors import ConfigError
from entitynlm.prediction.agreement import measure_agreement
from entitynlm.prediction.bootstrap import Interval, PairedComparison, bootstrap_mean, compare_paired
from entitynlm.prediction.breakdown import break_down
from entitynlm.prediction.choices import NEW, Choice, Chooser
from entitynlm.prediction.slots import Slot, SlottedStory

PAPER = {"always-new": 31.08, "shallow": 45.34, "modi": 62.65, "entitynlm": 74.23, "human": 77.35}
"""Table 3 of the paper, in percent."""


@dataclass(frozen=True)
class Answer:
    """What was chosen at a slot."""

    story: SlottedStory
    slot: Slot
    choice: Choice

    @property
    def truth(self) -> str:
        return NEW if self.slot.is_new else self.choice.resolve(self.slot.entity)

    @property
    def is_right(self) -> bool:
        return self.choice.best == self.truth


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    answers: tuple[Answer, ...]

    @property
    def accuracy(self) -> float:
        """In percent."""
        return 100 * sum(answer.is_right for answer in self.answers) / len(self.answers)

    @property
    def marks(self) -> list[float]:
        return [100.0 * answer.is_right for answer in self.answers]

    @property
    def clusters(self) -> list[str]:
        return [answer.story.story.id for answer in self.answers]

    @cached_property
    def interval(self) -> Interval:
        """Of the accuracy, by drawing stories."""
        return bootstrap_mean(self.marks, self.clusters)

    def to_dict(self) -> dict[str, Any]:
        figures: dict[str, Any] = {
            "accuracy": round(self.accuracy, 2),
            "interval": [round(self.interval.low, 2), round(self.interval.high, 2)],
            "right": sum(answer.is_right for answer in self.answers),
            "paper": PAPER.get(self.name),
            "breakdown": break_down(self.answers),
        }
        if any(answer.slot.guesses for answer in self.answers):
            figures["agreement"] = asdict(measure_agreement(self.answers))
        return figures


def measure_row(
    name: str,
    chooser: Chooser,
    stories: Sequence[SlottedStory],
    *,
    on_story: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> Row:
    """Ask one model at every slot."""
    answers: list[Answer] = []
    if not stories:
        raise ConfigError("there are no slots to ask about: the stories have no mentions")
    for number, slotted in enumerate(stories, start=1):
        choices = chooser.choose(slotted.story, slotted.positions)
        answers += [Answer(slotted, *pair) for pair in zip(slotted.slots, choices, strict=True)]
        on_story(name, number, len(stories))
    return Row(name, tuple(answers))


def compare_rows(rows: Sequence[Row]) -> Iterator[tuple[str, str, PairedComparison]]:
    """Each row against each one before it."""
    for number, second in enumerate(rows):
        for first in rows[:number]:
            yield first.name, second.name, compare_paired(first.marks, second.marks, second.clusters)


def describe_table(rows: Sequence[Row]) -> dict[str, Any]:
    """All figures as plain values."""
    return {
        "slots": len(rows[0].answers),
        "stories": len(set(rows[0].clusters)),
        "rows": {row.name: row.to_dict() for row in rows},
        "comparisons": [
            {"first": first, "second": second, **asdict(found)} for first, second, found in compare_rows(rows)
        ],
    }
