"""The resolver as a component: trained on a tiny language model or an LSTM, stored, read again, used by ``annotate``."""

from pathlib import Path

import pytest

from entitynlm.coref import resolver, word_inputs
from entitynlm.coref.annotation import annotate_document
from entitynlm.coref.resolver import Resolver, find_unmarked_names
from entitynlm.coref.resolver_training import fit_resolver, score_annotation
from entitynlm.discourse.discourse import read_discourse
from entitynlm.errors import DataError, ModelError
from entitynlm.model.loading import make_untrained
from entitynlm.model.pretrained import Pretrained, load_pretrained, save_pretrained
from entitynlm.text.document import Document, Mention
from entitynlm.training.settings import ResolverSettings
from support.small_bundles import add_resolver, make_bundle
from support.tiny_language_models import save_model

STORY = Document(
    "story",
    tuple(
        "Anna lost her key in the garden . She called Bob , and he found it . Bob gave Anna her key .".split()
    ),
    ((0, 8), (8, 17), (17, 23)),
    (
        Mention(0, 1, "anna"),
        Mention(2, 4, "key"),
        Mention(2, 3, "anna"),
        Mention(5, 7, "garden"),
        Mention(8, 9, "anna"),
        Mention(10, 11, "bob"),
        Mention(13, 14, "bob"),
        Mention(15, 16, "key"),
        Mention(17, 18, "bob"),
        Mention(19, 20, "anna"),
        Mention(20, 22, "key"),
        Mention(20, 21, "anna"),
    ),
    {"anna": "person", "bob": "person", "key": "thing", "garden": "place"},
)
BARE = STORY.with_mentions(())


@pytest.fixture(scope="module")
def pretrained(tmp_path_factory: pytest.TempPathFactory) -> Pretrained:
    """An untrained model on a random language model, whose resolver has learned one story by heart."""
    folder = tmp_path_factory.mktemp("lm")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENTITYNLM_CACHE", str(folder / "cache"))
        made = make_untrained(str(save_model(folder / "model")))
        made.set_component(fit_resolver(made, [STORY], [STORY], ResolverSettings(epochs=150)))
    return made


@pytest.fixture(scope="module")
def on_lstm() -> Pretrained:
    """A random LSTM, whose resolver has learned the story by heart."""
    return add_resolver(make_bundle()[0], [STORY], epochs=400)


@pytest.mark.parametrize("model", ["pretrained", "on_lstm"])
def test_nested_mentions_and_singletons_are_found_and_linked(
    model: str, request: pytest.FixtureRequest
) -> None:
    made = request.getfixturevalue(model)
    annotated = annotate_document(made, BARE)
    assert {m.span for m in annotated.mentions} == {m.span for m in STORY.mentions}
    assert set(annotated.clusters()) == set(STORY.clusters())
    assert {e.type for e in annotated.entities} == {"person", "thing", "place"}
    assert score_annotation(made, [STORY]).conll == 100


@pytest.mark.parametrize("model", ["pretrained", "on_lstm"])
def test_a_text_is_read_in_chunks_as_at_once(
    model: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = request.getfixturevalue(model)
    monkeypatch.setattr(word_inputs, "ROW", 9)
    monkeypatch.setattr("entitynlm.coref.resolver_network.ROW", 9)
    found = annotate_document(made, BARE, scores=True)
    monkeypatch.setattr(resolver, "CHUNK_TOKENS", 5)
    assert annotate_document(made, BARE, scores=True) == found


def test_names_that_are_no_mentions_are_found_with_their_heads() -> None:
    document = Document("x", tuple("Then Mr. Vale met Ida Moss of Hull and Tom then .".split()))
    mentions = {(4, 8): 5, (9, 10): 9}
    assert find_unmarked_names(read_discourse(document), (0, 11), mentions) == {(1, 3): 2, (7, 8): 7}


def test_it_is_stored_with_the_model(on_lstm: Pretrained, tmp_path: Path) -> None:
    save_pretrained(on_lstm, tmp_path)
    loaded = load_pretrained(tmp_path)
    assert annotate_document(loaded, BARE) == annotate_document(on_lstm, BARE)
    stored = loaded.stored_components["resolver"][1]
    with pytest.raises(ModelError, match="another version"):
        Resolver.from_stored({}, {**stored, "features": []})


def test_a_resolver_of_other_states_is_refused(on_lstm: Pretrained) -> None:
    other = make_bundle(hidden_size=6)[0]
    other.set_component(on_lstm.get_component(Resolver) or pytest.fail("there is no resolver"))
    with pytest.raises(ModelError, match="--parts resolver"):
        annotate_document(other, BARE)


def test_a_resolver_needs_mentions_to_learn_from(on_lstm: Pretrained) -> None:
    with pytest.raises(DataError, match="no mentions"):
        fit_resolver(on_lstm, [BARE], [], ResolverSettings(epochs=1))
