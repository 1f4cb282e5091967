"""The runner: what is stored is not made again, other settings are."""

from __future__ import annotations

from pathlib import Path

import pytest

from entitynlm.errors import DataError
from entitynlm.experiments.runner import Runner


def test_a_step_is_made_once_for_its_settings(tmp_path: Path) -> None:
    made: list[int] = []

    def run(folder: Path | None, seed: int) -> int:
        def make() -> int:
            made.append(seed)
            return seed

        return Runner(folder).step("steps/one", {"seed": (seed,)}, make, encode=str, decode=int)

    assert [run(tmp_path, seed) for seed in (1, 1, 2, 2, 1)] == [1, 1, 2, 2, 1]
    assert made == [1, 2, 1]
    assert [run(None, 1), run(None, 1)] == [1, 1]
    assert made == [1, 2, 1, 1, 1], "without a folder nothing is stored"
    (tmp_path / "steps" / "one.json").write_text("{")
    with pytest.raises(DataError, match="measured again"):
        run(tmp_path, 1)
