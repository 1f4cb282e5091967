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
from entitynlm.prediction.network.story_states import StateBatch, StateExtractor, StoryStates
from entitynlm.prediction.slots import find_similar_slots
from entitynlm.text.document import Document, Mention
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
    assert found.shape == (len(story) + 1, 2 * states.width)
    cut = next(end for _, end in story.sentences)
    shorter = type(story)(story.id, story.tokens[:cut], story.sentences[:1])
    np.testing.assert_allclose(states.read(shorter), found[: cut + 1], atol=1e-5)
    assert np.abs(np.diff(found, axis=0)).max(1).min() > 0 or len(set(story.tokens)) < len(story)


def test_slots_have_the_states_before_them_and_after_the_first_and_latest_mentions(folder: Path) -> None:
    words = tuple("Old Anna met Bob . She saw him . Anna left .".split())
    mentions = (
        Mention(0, 2, "a"),
        Mention(3, 4, "b"),
        Mention(5, 6, "a"),
        Mention(7, 8, "b"),
        Mention(9, 10, "a"),
    )
    story = Document("story", words, ((0, 5), (5, 9), (9, 12)), mentions)
    extractor = StateExtractor.fit([(story, [])], StoryStates(str(folder)))
    batch, _ = extractor.extract(story, [7, 9], with_answers=True)
    assert batch.context_rows.tolist() == [7, 9]
    new = [0, 0]
    assert batch.candidate_rows.tolist() == [[6, 2], [4, 4], new, [6, 2], [8, 4], new]
    assert batch.answers.tolist() == [1, 0]


def test_a_word_has_the_output_vector_of_its_first_piece(folder: Path) -> None:
    states = StoryStates(str(folder))
    found = states.find_outputs(["<unk>", "key", "keys"])
    assert not found[0].any()
    pieces = states.runtime.output_weight
    assert all(bool((pieces == vector).all(1).any()) for vector in found[1:])


def test_a_predictor_with_states_is_trained_stored_and_asked(folder: Path, tmp_path: Path) -> None:
    states = StoryStates(str(folder))
    slots = [(story, find_similar_slots(story, first_sentence=0).positions) for story in STORIES]
    data = prepare_data(slots[:6], slots[6:], states=states)
    batch = data.train
    assert isinstance(batch, StateBatch) and batch.states.shape[1] == states.width
    assert batch.context_rows.max() < len(batch.states) > batch.candidate_rows.max()
    trained = train_predictor(data, TINY, seed=1)
    trained.save(tmp_path / "ours")
    again = EntityPredictor.load(tmp_path / "ours")
    story, positions = slots[7]
    choices = [predictor.choose(story, positions) for predictor in (trained, again)]
    assert choices[0] == choices[1]
    other = save_model(tmp_path / "other", context=2048, seed=2)
    with pytest.raises(ModelError, match="another language model"):
        StoryStates(str(other), states.runtime.digest)
