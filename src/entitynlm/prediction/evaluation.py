"""The paper's Table 3: how often each model predicts which entity is mentioned next, how certain that is, and where it errs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from entitynlm.errors import ConfigError
from entitynlm.prediction.agreement import measure_agreement
from entitynlm.prediction.bootstrap import Interval, PairedComparison, bootstrap_mean, compare_paired
from entitynlm.prediction.choices import Answer, Chooser, find_entities, mix
from entitynlm.prediction.contexts import PRONOUNS
from entitynlm.prediction.slots import SlottedStory
from entitynlm.progress import SILENT, Progress, track

PAPER = {"always-new": 31.08, "shallow": 45.34, "modi": 62.65, "entitynlm": 74.23, "human": 77.35}
"""Table 3 of the paper, in percent."""
BUCKETS = {
    "distance": {1: "1-5", 6: "6-10", 11: "11-20", 21: "21-40", 41: "41-80", 81: "81 and more"},
    "candidates": {0: "0-3", 4: "4-6", 7: "7-9", 10: "10-14", 15: "15 and more"},
}
"""Lower edges with the names of the buckets, for the distance in words and the number of candidates."""


@dataclass(frozen=True)
class PredictionRow:
    name: str
    answers: tuple[Answer, ...]

    @property
    def accuracy(self) -> float:
        return 100 * sum(answer.is_right for answer in self.answers) / len(self.answers)

    @property
    def marks(self) -> list[float]:
        """100 for each right answer, 0 for each wrong one."""
        return [100.0 * answer.is_right for answer in self.answers]

    @property
    def clusters(self) -> list[str]:
        return [answer.story.story.id for answer in self.answers]

    @cached_property
    def interval(self) -> Interval:
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
    name: str, chooser: Chooser, stories: Sequence[SlottedStory], *, progress: Progress = SILENT
) -> PredictionRow:
    answers: list[Answer] = []
    if not stories:
        raise ConfigError("there are no slots to ask about: the stories have no mentions")
    for slotted in track(progress, name, stories):
        choices = chooser.choose(slotted.story, slotted.positions)
        answers += [Answer(slotted, *pair) for pair in zip(slotted.slots, choices, strict=True)]
    return PredictionRow(name, tuple(answers))


def join_rows(name: str, rows: Sequence[PredictionRow]) -> PredictionRow:
    """The geometric mean of rows over the same slots, such as those of one network trained with several seeds."""
    if not rows:
        raise ConfigError("there are no rows to be joined")
    answers = []
    for given in zip(*(row.answers for row in rows), strict=True):
        choice = mix([answer.choice for answer in given], [1.0] * len(given))
        answers.append(Answer(given[0].story, given[0].slot, choice))
    return PredictionRow(name, tuple(answers))


def compare_rows(rows: Sequence[PredictionRow]) -> Iterator[tuple[str, str, PairedComparison]]:
    for number, second in enumerate(rows):
        for first in rows[:number]:
            yield first.name, second.name, compare_paired(first.marks, second.marks, second.clusters)


def describe_table(rows: Sequence[PredictionRow]) -> dict[str, Any]:
    return {
        "slots": len(rows[0].answers),
        "stories": len(set(rows[0].clusters)),
        "rows": {row.name: row.to_dict() for row in rows},
        "comparisons": [
            {"first": first, "second": second, **asdict(found)} for first, second, found in compare_rows(rows)
        ],
    }


def break_down(answers: Sequence[Answer]) -> dict[str, dict[str, dict[str, Any]]]:
    """Accuracy (percent) and number of slots, by newness, distance, number of candidates, scenario and form of the mention."""
    groups: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        for name, value in _classify_slot(answer).items():
            groups[name][value].append(answer.is_right)
    order = [bucket for buckets in BUCKETS.values() for bucket in buckets.values()]
    return {
        name: {
            value: {"accuracy": round(100 * sum(right) / len(right), 2), "slots": len(right)}
            for value, right in sorted(
                values.items(), key=lambda item: (order.index(item[0]) if item[0] in order else 99, item[0])
            )
        }
        for name, values in groups.items()
    }


def _classify_slot(answer: Answer) -> dict[str, str]:
    story, slot = answer.story.story, answer.slot
    own = [m for m in story.mentions if m.start < slot.position and m.entity == slot.entity]
    age = "new" if slot.is_new else "old"
    is_pronoun = story.tokens[slot.position].lower() in PRONOUNS
    return {
        "newness": age,
        "distance": _find_bucket("distance", slot.position - own[-1].end + 1) if own else "new",
        "candidates": _find_bucket("candidates", len(find_entities(story, slot.position))),
        "scenario": story.meta.get("scenario", "unknown"),
        "form": f"{age} {'pronoun' if is_pronoun else 'noun'}",
    }


def _find_bucket(name: str, value: int) -> str:
    buckets = BUCKETS[name]
    return buckets[max(edge for edge in buckets if edge <= max(value, min(buckets)))]
