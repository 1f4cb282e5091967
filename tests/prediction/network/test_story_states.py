"""What our predictor sees of a frozen language model."""

from pathlib import Path

import numpy as np
import pytest

from entitynlm.errors import ModelError
from entitynlm.prediction.network.predictor import (
    EntityPredictor,
    PredictorConfig,
    PredictorTraining,
    prepare_data,
    train_predictor,
)
from entitynlm.prediction.network.story_states import StoryStates
from entitynlm.prediction.slots import find_similar_slots
from entitynlm.text.stories import generate_stories
from support.tiny_language_models import save_model

STORIES = list(generate_stories(8, seed=2))
TINY = PredictorConfig(hidden=8, match=4, scorer=4, embeddings="random", learning=PredictorTraining(epochs=2))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ENTITYNLM_CACHE", str(tmp_path / "cache"))
    return save_model(tmp_path / "lm", context=2048)


def test_a_state_has_read_the_words_before_it_and_no_other(folder: Path) -> None:
    states, story = StoryStates(str(folder)), STORIES[0]
    found = states.read(story)
    assert found.shape == (len(story) + 1, states.width)
    cut = next(end for _, end in story.sentences)
    shorter = type(story)(story.id, story.tokens[:cut], story.sentences[:1])
    np.testing.assert_allclose(states.read(shorter), found[: cut + 1], atol=1e-5)
    assert np.abs(np.diff(found, axis=0)).max(1).min() > 0 or len(set(story.tokens)) < len(story)


def test_a_predictor_with_states_is_trained_stored_and_asked(folder: Path, tmp_path: Path) -> None:
    states = StoryStates(str(folder))
    slots = [(story, find_similar_slots(story, first_sentence=0).positions) for story in STORIES]
    data = prepare_data(slots[:6], slots[6:], states=states)
    assert data.train.states.shape[1] == states.width
    assert data.train.context_rows.max() < len(data.train.states) > data.train.candidate_rows.max()
    trained = train_predictor(data, TINY, seed=1)
    trained.save(tmp_path / "ours")
    again = EntityPredictor.load(tmp_path / "ours")
    story, positions = slots[7]
    choices = [predictor.choose(story, positions) for predictor in (trained, again)]
    assert choices[0] == choices[1]
    other = save_model(tmp_path / "other", context=2048, seed=2)
    with pytest.raises(ModelError, match="another language model"):
        StoryStates(str(other), states.runtime.digest)
