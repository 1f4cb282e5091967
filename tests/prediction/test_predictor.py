"""The predictor: trained, and stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from entitynlm.errors import ConfigError, ModelError
from entitynlm.prediction.predictor import (
    PREDICTOR_CARD,
    PREDICTOR_FOLDER,
    EntityPredictor,
    PredictorConfig,
    is_stored,
    train_predictor,
)
from entitynlm.prediction.slot_batches import StoryStates
from entitynlm.prediction.slots import find_similar_slots
from support.small_bundles import make_bundle
from support.small_stories import make_stories, make_story

TINY = PredictorConfig(hidden=8, match=4, scorer=8, embeddings="random", epochs=3, batch_size=8)


@pytest.fixture(scope="module")
def states() -> StoryStates:
    return StoryStates.of_model(make_bundle()[0])


@pytest.fixture(scope="module")
def predictor(states: StoryStates) -> EntityPredictor:
    train, development = (
        [(s, find_similar_slots(s).positions) for s in make_stories(n, first=f)]
        for n, f in ((30, 0), (6, 50))
    )
    told: list[str] = []
    trained = train_predictor(train, development, states, TINY, seed=1, say=told.append)
    losses = [float(line.split("on development ")[1].split(",")[0]) for line in told]
    assert len(losses) == 3 and losses[-1] < losses[0]
    assert trained.notes["best"]["development_loss"] == pytest.approx(min(losses), abs=1e-3)
    return trained


def assert_same_choices(first: EntityPredictor, second: EntityPredictor) -> None:
    story = make_story(101)
    positions = [mention.start for mention in story.mentions]
    for one, other in zip(first.choose(story, positions), second.choose(story, positions), strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-6)


def test_a_predictor_is_stored_and_read_back(
    predictor: EntityPredictor, states: StoryStates, tmp_path: Path
) -> None:
    assert not is_stored(tmp_path)
    predictor.save(tmp_path)
    assert is_stored(tmp_path)
    again = EntityPredictor.load(tmp_path, states)
    assert_same_choices(predictor, again)
    assert again.notes == predictor.notes
    (tmp_path / PREDICTOR_FOLDER / PREDICTOR_CARD).write_bytes(b"nothing")
    with pytest.raises(ModelError, match="can't be read"):
        EntityPredictor.load(tmp_path, states)
    with pytest.raises(ModelError, match="no entity predictor"):
        EntityPredictor.load(tmp_path / "nowhere", states)


def test_without_slots_there_is_nothing_to_learn_from(states: StoryStates) -> None:
    story = make_story(1)
    with pytest.raises(ConfigError, match="no mentions to learn from"):
        train_predictor([(story, [0])], [(story, [])], states, TINY, seed=1)
