"""States of stories by an LSTM and by a pretrained language model, and slots as arrays of them."""

from pathlib import Path

import numpy as np
import pytest

from entitynlm.model.pretrained import Pretrained
from entitynlm.prediction.slot_batches import SlotExtractor, StoryStates
from entitynlm.stories import generate_stories
from entitynlm.text.document import Document, Mention
from entitynlm.training.recipe import fit_encoder, make_network
from entitynlm.training.settings import load_settings
from support.tiny_language_models import save_model

STORIES = list(generate_stories(3, seed=2))
WORDS = tuple("Old Anna met Bob . She saw him . Anna left .".split())
SPANS = ((0, 2, "a"), (3, 4, "b"), (5, 6, "a"), (7, 8, "b"), (9, 10, "a"))


@pytest.fixture(params=["lstm", "language model"])
def states(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoryStates:
    """Untrained models: the LSTM drops punctuation and reads sentence ends, so that words are not tokens."""
    monkeypatch.setenv("ENTITYNLM_CACHE", str(tmp_path / "cache"))
    if request.param == "lstm":
        changes = {
            "model.hidden_size": 6,
            "model.embedding_size": 5,
            "preprocessing.punctuation": "drop",
            "model.softmax": "full",
        }
        settings = load_settings(None, changes)
    else:
        settings = load_settings(None, language_model=str(save_model(tmp_path / "lm", context=2048)))
    pretrained = Pretrained(fit_encoder(STORIES, settings), None)
    make_network(pretrained, "generative", settings, seed=1)
    return StoryStates.of_model(pretrained)


def test_a_state_has_read_the_words_before_it_and_no_other(states: StoryStates) -> None:
    story = STORIES[0]
    last, middle = states.read(story)
    assert last.shape == (len(story) + 1, states.width)
    assert middle.shape == (len(story) + 1, states.middle_width)
    cut = next(end for _, end in story.sentences)
    shorter = Document(story.id, story.tokens[:cut], story.sentences[:1])
    for whole, begun in zip((last, middle), states.read(shorter), strict=True):
        np.testing.assert_allclose(begun[:cut], whole[:cut], atol=1e-5)
        assert len(np.unique(whole.round(5), axis=0)) > len(story) / 2
    assert not states.read(Document("empty", ()))[0].any()


def test_slots_have_the_states_before_them_and_after_the_first_and_latest_mentions(
    states: StoryStates,
) -> None:
    mentions = tuple(Mention(*span) for span in SPANS)
    story = Document("story", WORDS, ((0, 5), (5, 9), (9, 12)), mentions)
    extractor = SlotExtractor.fit([(story, [])], states)
    batch, _ = extractor.extract(story, [7, 9], with_answers=True)
    assert batch.context_rows.tolist() == [7, 9]
    new = [0, 0]
    assert batch.candidate_rows.tolist() == [[6, 2], [4, 4], new, [6, 2], [8, 4], new]
    assert batch.answers.tolist() == [1, 0]
    np.testing.assert_array_equal(batch.last_states, states.read(story)[0][[7, 9]])


def test_a_word_has_the_output_vector_of_its_first_piece_where_pieces_have_some(states: StoryStates) -> None:
    found, layer = states.find_outputs(["key", "keys"]), states.backbone.output_layer()
    assert found.shape == (2, states.width)
    if layer is None:
        assert not found.any()
    else:
        assert all(bool((layer.weight == vector).all(1).any()) for vector in found)
