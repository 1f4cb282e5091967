"""Tests and intervals over stories."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from entitynlm.prediction.evaluation import PairedComparison, PredictionRow, compare_rows


def make_row(marks: Sequence[bool], stories: Sequence[object]) -> PredictionRow:
    answers: Any = [
        SimpleNamespace(is_right=mark, story=SimpleNamespace(story=SimpleNamespace(id=str(story))))
        for mark, story in zip(marks, stories, strict=True)
    ]
    return PredictionRow("row", tuple(answers))


def compare(first: Sequence[bool], second: Sequence[bool], stories: Sequence[object]) -> PairedComparison:
    ((_, _, found),) = compare_rows([make_row(first, stories), make_row(second, stories)])
    return found


def test_stories_widen_the_interval() -> None:
    marks = [False] * 50 + [True] * 50
    alone = make_row(marks, range(100)).interval
    together = make_row(marks, [i // 10 for i in range(100)]).interval
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert alone.low < 50 < alone.high


def test_a_difference_in_one_story_is_no_difference() -> None:
    first, second = [False] * 40, [True] * 20 + [False] * 20
    one_story = compare(first, second, ["a"] * 20 + list(range(20)))
    many = compare(first, second, range(40))
    assert one_story.p_value == 1
    assert many.p_value < 0.01
    assert many.difference == 50


def test_equal_systems_do_not_differ() -> None:
    same = compare([True, False], [True, False], ["a", "b"])
    assert (same.difference, same.p_value) == (0, 1)
