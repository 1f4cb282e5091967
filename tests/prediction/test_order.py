"""Counts and networks don't depend on the order of sets, which changes from one Python process to the next."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import hashlib
from support.small_stories import make_stories
from entitynlm.prediction.network.predictor import prepare_data
from entitynlm.prediction.slots import find_all_slots

stories = make_stories(24)
train, development = ([(s, find_all_slots(s).positions) for s in some] for some in (stories[:20], stories[20:]))
material = prepare_data(train, development)
print(hashlib.sha256(material.train.features.tobytes() + material.train.beliefs.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_material_is_the_same_whatever_the_order_of_sets() -> None:
    folder = Path(__file__).parents[1] / "tasks"
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(found) == 1
