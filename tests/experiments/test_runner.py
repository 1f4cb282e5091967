"""The runner: what is stored is not made again, other settings are, and a folder belongs to one corpus."""

from __future__ import annotations

from pathlib import Path

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.experiments.runner import Runner
from entitynlm.text.document import Document


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


def test_a_folder_belongs_to_one_corpus(tmp_path: Path) -> None:
    runner = Runner(tmp_path)
    first, second = Document("a", ("one",)), Document("a", ("two",))
    runner.check_corpus({"train": [first]})
    runner.check_corpus({"train": [first], "dev": [second]})
    with pytest.raises(ConfigError, match=r"another corpus \(its dev documents"):
        runner.check_corpus({"dev": [first]})
    with pytest.raises(ConfigError, match="needs a folder"):
        Runner().check_corpus({"train": [first]})
