"""The package gives what it gave when ``expected/`` was recorded (see the README there), whatever was moved or renamed since."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from golden.record import EXPECTED, OUTPUTS, tidy

TOLERANCE = 1e-6
SHOWN = 20
"""Differences that a failure lists; the first few say where to look."""


def find_differences(expected: Any, found: Any, path: str = "") -> Iterator[str]:
    """Where two JSON values differ: a float by more than the tolerance, absolute or relative, anything else at all."""
    if is_number(expected) and is_number(found) and float in (type(expected), type(found)):
        if not math.isclose(expected, found, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{path}: expected {expected!r}, found {found!r} (difference {found - expected:.3g})"
    elif type(expected) is not type(found):
        yield f"{path}: expected {shorten(expected)}, found {shorten(found)}"
    elif isinstance(expected, dict):
        for key in sorted(expected.keys() | found.keys()):
            inner = f"{path}[{key!r}]"
            if key not in found:
                yield f"{inner}: expected {shorten(expected[key])}, found nothing"
            elif key not in expected:
                yield f"{inner}: expected nothing, found {shorten(found[key])}"
            else:
                yield from find_differences(expected[key], found[key], inner)
    elif isinstance(expected, list):
        if len(expected) != len(found):
            yield f"{path}: expected {len(expected)} items, found {len(found)}"
        for place, pair in enumerate(zip(expected, found, strict=False)):
            yield from find_differences(*pair, f"{path}[{place}]")
    elif expected != found:
        yield f"{path}: expected {shorten(expected)}, found {shorten(found)}"


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def choose_marks(name: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] if OUTPUTS[name].slow else []


@pytest.mark.parametrize("name", [pytest.param(name, marks=choose_marks(name)) for name in OUTPUTS])
def test_output_is_as_recorded(name: str) -> None:
    if name == "ngrams":
        pytest.importorskip("varikn")
    expected = json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8"))
    differences = list(find_differences(expected, tidy(OUTPUTS[name].make())))
    if differences:
        more = [f"… and {len(differences) - SHOWN} more"] if len(differences) > SHOWN else []
        pytest.fail(
            "\n".join([f"{name}: {len(differences)} values changed", *differences[:SHOWN], *more]),
            pytrace=False,
        )


def test_every_expected_file_is_compared() -> None:
    assert {path.stem for path in EXPECTED.glob("*.json")} == set(OUTPUTS)


def test_a_changed_number_is_found_with_its_path_and_both_values() -> None:
    expected = json.loads((EXPECTED / "log_prob.json").read_text(encoding="utf-8"))
    changed = json.loads((EXPECTED / "log_prob.json").read_text(encoding="utf-8"))
    value = changed["rich"]["P"]["documents"]["hand-talk"]["E"]
    changed["rich"]["P"]["documents"]["hand-talk"]["E"] = value * (1 + 3e-6)
    (difference,) = find_differences(expected, changed)
    assert difference.startswith("['rich']['P']['documents']['hand-talk']['E']: expected ")
    assert repr(value) in difference and repr(value * (1 + 3e-6)) in difference
    changed["rich"]["P"]["documents"]["hand-talk"]["E"] = value * (1 + 3e-7)
    assert not list(find_differences(expected, changed))


@pytest.mark.parametrize(
    ("expected", "found", "said"),
    [
        ({"a": [1, 2.0]}, {"a": [1, 2.1]}, "['a'][1]: expected 2.0, found 2.1"),
        ({"a": 1}, {"a": 2}, "['a']: expected 1, found 2"),
        ({"a": True}, {"a": 1}, "['a']: expected True, found 1"),
        ({"a": None}, {"a": 0.0}, "['a']: expected None, found 0.0"),
        ({"a": "x"}, {}, "['a']: expected 'x', found nothing"),
        ({}, {"b": 1.0}, "['b']: expected nothing, found 1.0"),
        ([1, 2], [1], ": expected 2 items, found 1"),
        ("nan", 1.0, ": expected 'nan', found 1.0"),
    ],
)
def test_differences_of_all_kinds_are_said(expected: Any, found: Any, said: str) -> None:
    (difference,) = find_differences(expected, found)
    assert difference.startswith(said)
