"""The predictor: trained, and stored."""

from pathlib import Path

import numpy as np
import pytest

from entitynlm.errors import ConfigError
from entitynlm.model.pretrained import load_pretrained, save_pretrained
from entitynlm.prediction.predictor import EntityPredictor, StateChooser, train_predictor
from entitynlm.prediction.slot_batches import StoryStates
from entitynlm.prediction.slots import find_similar_slots
from support.small_bundles import make_bundle
from support.small_stories import make_stories, make_story


@pytest.fixture(scope="module")
def states() -> StoryStates:
    return StoryStates.of_model(make_bundle()[0])


@pytest.fixture(scope="module")
def predictor(states: StoryStates, short_training: None) -> EntityPredictor:
    train, development = (
        [(s, find_similar_slots(s).positions) for s in make_stories(n, first=f)]
        for n, f in ((30, 0), (6, 50))
    )
    told: list[str] = []
    trained = train_predictor(train, development, states, seed=1, say=told.append)
    losses = [float(line.split("on development ")[1].split(",")[0]) for line in told]
    assert len(losses) == 3 and losses[-1] < losses[0]
    assert trained.notes["best"]["development_loss"] == pytest.approx(min(losses), abs=1e-3)
    return trained


def test_a_predictor_is_stored_with_its_model(predictor: EntityPredictor, tmp_path: Path) -> None:
    pretrained = make_bundle()[0]
    assert pretrained.get_component(EntityPredictor) is None
    pretrained.set_component(predictor)
    save_pretrained(pretrained, tmp_path)
    loaded = load_pretrained(tmp_path)
    again = loaded.get_component(EntityPredictor)
    assert again is not None
    story = make_story(101)
    positions = [mention.start for mention in story.mentions]
    choosers = (
        StateChooser(predictor, StoryStates.of_model(pretrained)),
        StateChooser(again, StoryStates.of_model(loaded)),
    )
    for one, other in zip(*(chooser.choose(story, positions) for chooser in choosers), strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-6)


def test_without_slots_there_is_nothing_to_learn_from(states: StoryStates) -> None:
    story = make_story(1)
    with pytest.raises(ConfigError, match="no mentions to learn from"):
        train_predictor([(story, [0])], [(story, [])], states, seed=1)
