"""Compare rows of surprisal tables to the promised 1e-4 bits."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import pytest

PROMISED = 1e-4


def assert_same_rows(found: Sequence[Any], expected: Sequence[Any]) -> None:
    """Columns that are numbers agree to 1e-4, the others are equal."""
    for row, other in zip(found, expected, strict=True):
        for column, value in dataclasses.asdict(row).items():
            wanted = getattr(other, column)
            if isinstance(value, float) and isinstance(wanted, float):
                assert value == pytest.approx(wanted, abs=PROMISED, nan_ok=True), (row, other)
            else:
                assert value == wanted, (row, other)
