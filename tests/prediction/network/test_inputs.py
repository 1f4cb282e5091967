"""Slots as arrays: selected, joined, and the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from entitynlm.prediction.network.inputs import FeatureExtractor, join_batches
from support.tea_stories import make_tea_slots

PROGRAM = """
import hashlib
from support.small_stories import make_stories
from entitynlm.prediction.network.predictor import prepare_data
from entitynlm.prediction.slots import find_all_slots

stories = make_stories(24)
train, development = ([(s, find_all_slots(s).positions) for s in some] for some in (stories[:20], stories[20:]))
data = prepare_data(train, development)
print(hashlib.sha256(data.train.features.tobytes() + data.train.type_probs.tobytes()).hexdigest())
"""


def test_slots_are_selected_and_joined_without_mixing_their_pairs() -> None:
    stories = make_tea_slots(6)
    extractor = FeatureExtractor.fit(stories)
    parts = [extractor.extract(story, positions, with_answers=True)[0] for story, positions in stories]
    joined = join_batches(parts)
    assert len(joined) == sum(map(len, parts))
    size = len(parts[0])
    again = joined.select(np.arange(size, size + len(parts[1])))
    for name in ("nearest", "recent", "bounds", "features", "heads", "type_probs", "answers", "outcomes"):
        np.testing.assert_array_equal(getattr(again, name), getattr(parts[1], name))
    back = joined.select(np.array([9, 2]))
    assert back.true_pairs[1] - back.bounds[1] == parts[0].true_pairs[2] - parts[0].bounds[2]


@pytest.mark.slow
def test_arrays_do_not_depend_on_the_order_of_sets() -> None:
    """The order of a set of words changes from one Python process to the next."""
    folders = os.pathsep.join([*sys.path, str(Path(__file__).parents[2])])
    found = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": folders},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(found) == 1
