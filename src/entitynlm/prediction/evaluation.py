"""The paper's Table 3: how accurately each model predicts the next entity, with intervals, tests, and a breakdown of errors.

Slots of one story depend on each other, so tests are over whole stories: a permutation test swaps two systems' answers story by
story, and bootstrap intervals draw stories (the paper's paired t-test treats slots as independent, and finds differences too
easily). Agreement with people is with the 20 guesses that Modi et al. (2017) collected for each slot.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from entitynlm.errors import ConfigError
from entitynlm.prediction.choices import NEW, SMALLEST_SHARE, Answer, Choice, Chooser, find_entities, mix
from entitynlm.prediction.contexts import PRONOUN_HEADS
from entitynlm.prediction.slots import SlottedStory, has_guesses
from entitynlm.progress import SILENT, Progress, track
from entitynlm.statistics import Interval, bootstrap_ratio, flip_signs

ENSEMBLE_WEIGHTS = tuple(step / 10 for step in range(11))


@dataclass(frozen=True)
class PairedComparison:
    """Second minus first, in the unit of the values: the difference, its interval, and the permutation test's p-value."""

    difference: float
    interval: Interval
    p_value: float


def measure_people(stories: Sequence[SlottedStory]) -> "PredictionRow":
    """Measure the paper's fifth row, people's majority; each guess has the probability of one in twenty."""
    if not has_guesses(stories):
        raise ConfigError("the row 'human' needs people's guesses, which only InScript's test stories have")
    answers = []
    for slotted in stories:
        for slot in slotted.slots:
            seen = find_entities(slotted.story, slot.position)
            shares = tuple(count_shares(slot.guesses, seen).tolist())
            choice = Choice((*seen, NEW), shares, find_majority(slot.guesses, seen))
            answers.append(Answer(slotted, slot, choice))
    return PredictionRow("human", tuple(answers))


def find_majority(guesses: Sequence[str], entities: Sequence[str]) -> str:
    """Find the label guessed most often (of equals, the first); only then is an entity not mentioned yet mapped to "new"."""
    majority = Counter(guesses).most_common(1)[0][0]
    return majority if majority in entities else NEW


def count_shares(guesses: Sequence[str], entities: Sequence[str]) -> np.ndarray:
    """(entities + 1,) the share of guesses for each entity and, at the end, for a new one."""
    counts = Counter(guesses)
    shares = np.array([counts[entity] for entity in entities] + [0.0])
    shares[-1] = len(guesses) - shares.sum()
    return shares / max(1, len(guesses))


PAPER = {"always-new": 31.08, "shallow": 45.34, "modi": 62.65, "entitynlm": 74.23, "human": 77.35}
"""Table 3 of the paper, in percent."""


@dataclass(frozen=True)
class PredictionRow:
    name: str
    answers: tuple[Answer, ...]

    @property
    def accuracy(self) -> float:
        return 100 * sum(answer.is_right for answer in self.answers) / len(self.answers)

    @cached_property
    def by_story(self) -> tuple[np.ndarray, np.ndarray]:
        """(stories,) the sum of 100 for each right answer, and the number of answers."""
        _, owners = np.unique([answer.story.story.id for answer in self.answers], return_inverse=True)
        marks = [100.0 * answer.is_right for answer in self.answers]
        return np.bincount(owners, weights=marks), np.bincount(owners)

    @cached_property
    def interval(self) -> Interval:
        return bootstrap_ratio(*self.by_story)

    def to_dict(self) -> dict[str, Any]:
        return {
            "accuracy": round(self.accuracy, 2),
            "interval": [round(self.interval.low, 2), round(self.interval.high, 2)],
            "right": sum(answer.is_right for answer in self.answers),
            "paper": PAPER.get(self.name),
            "breakdown": break_down(self.answers),
        }


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


def join_rows(
    name: str, rows: Sequence[PredictionRow], weights: Sequence[float] | None = None
) -> PredictionRow:
    """Average rows over the same slots geometrically: those of several networks, or of two kinds with a weight for each."""
    answers = []
    for given in zip(*(row.answers for row in rows), strict=True):
        choice = mix([answer.choice for answer in given], weights or [1.0] * len(given))
        answers.append(Answer(given[0].story, given[0].slot, choice))
    return PredictionRow(name, tuple(answers))


def choose_weight(first: PredictionRow, second: PredictionRow) -> float:
    """Choose the weight of the second row with which both, joined, have the highest likelihood of the true answers."""

    def measure_loss(weight: float) -> float:
        joined = join_rows("", (first, second), (1 - weight, weight))
        shares = [answer.choice.probability(answer.truth) for answer in joined.answers]
        return -float(np.log(SMALLEST_SHARE + np.array(shares)).sum())

    return min(ENSEMBLE_WEIGHTS, key=measure_loss)


def compare_rows(rows: Sequence[PredictionRow]) -> Iterator[tuple[str, str, PairedComparison]]:
    for number, second in enumerate(rows):
        for first in rows[:number]:
            change, counts = second.by_story[0] - first.by_story[0], second.by_story[1]
            difference, interval = float(change.sum() / counts.sum()), bootstrap_ratio(change, counts)
            yield first.name, second.name, PairedComparison(difference, interval, flip_signs(change))


def describe_table(rows: Sequence[PredictionRow]) -> dict[str, Any]:
    return {
        "slots": len(rows[0].answers),
        "stories": len(rows[0].by_story[1]),
        "rows": {row.name: row.to_dict() for row in rows},
        "comparisons": [
            {"first": first, "second": second, **asdict(found)} for first, second, found in compare_rows(rows)
        ],
    }


def break_down(answers: Sequence[Answer]) -> dict[str, dict[str, dict[str, Any]]]:
    """Count accuracy (percent) and number of slots, by newness and by form of the mention."""
    groups: dict[str, dict[str, list[bool]]] = {"newness": defaultdict(list), "form": defaultdict(list)}
    for answer in answers:
        age = "new" if answer.slot.is_new else "old"
        is_pronoun = answer.story.story.tokens[answer.slot.position].lower() in PRONOUN_HEADS
        groups["newness"][age].append(answer.is_right)
        groups["form"][f"{age} {'pronoun' if is_pronoun else 'noun'}"].append(answer.is_right)
    return {
        name: {
            value: {"accuracy": round(100 * sum(right) / len(right), 2), "slots": len(right)}
            for value, right in sorted(values.items())
        }
        for name, values in groups.items()
    }
