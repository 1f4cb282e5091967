"""The resolver as a component: trained on a tiny language model, stored, read again, used by ``annotate``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from entitynlm.coref import resolver, word_inputs
from entitynlm.coref.annotation import CONFIDENCE, LINK_CONFIDENCE, Options, annotate_document
from entitynlm.coref.component_training import (
    ComponentSettings,
    choose_components,
    score_annotation,
    train_component,
)
from entitynlm.coref.resolver import Resolver
from entitynlm.errors import ModelError
from entitynlm.model.pretrained import Pretrained, load_pretrained, save_pretrained
from entitynlm.text.document import Document, Mention
from entitynlm.training.recipe import fit_encoder
from entitynlm.training.settings import load_settings
from support.small_bundles import make_bundle
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
    """A model without any network, on a random language model, whose resolver has learned one story by heart."""
    folder = tmp_path_factory.mktemp("lm")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENTITYNLM_CACHE", str(folder / "cache"))
        settings = load_settings(None, {}, language_model=str(save_model(folder / "model")))
        made = Pretrained(fit_encoder([STORY], settings), None)
        train_component("resolver", made, [STORY], [STORY], ComponentSettings(epochs=150))
    return made


def test_nested_mentions_and_singletons_are_found_and_linked(pretrained: Pretrained) -> None:
    annotated = annotate_document(pretrained, BARE)
    assert {m.span for m in annotated.mentions} == {m.span for m in STORY.mentions}
    assert set(annotated.clusters) == set(STORY.clusters)
    assert {e.type for e in annotated.entities} == {"person", "thing", "place"}
    assert score_annotation(pretrained, [STORY]).conll == 100


def test_documents_that_are_read_ahead_are_annotated_alike(
    pretrained: Pretrained, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the language model reads nothing a second time."""
    long = Document("long", BARE.tokens * 20, tuple((23 * n, 23 * n + 23) for n in range(20)))
    documents = [BARE, Document("short", BARE.tokens[:8], ((0, 8),)), long]
    expected = [annotate_document(pretrained, document) for document in documents]
    found = pretrained.get_component(Resolver)
    assert found is not None
    runtime = resolver.find_runtime(pretrained.encoder)
    runtime.forget()
    found.read_ahead(pretrained.encoder, [*documents, Document("none", ())])
    read, again = runtime._read_all, []

    def watch(pieces: list[np.ndarray], *rest: object) -> object:
        again.append(len(pieces[0]))
        return read(pieces, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(runtime, "_read_all", watch)
    assert [annotate_document(pretrained, document) for document in documents] == expected
    assert len(again) == 1 and again[0] > 300  # the long one


def test_options_of_annotate(pretrained: Pretrained) -> None:
    outermost = annotate_document(pretrained, BARE, Options(possessives=False))
    assert (2, 4) in {m.span for m in outermost.mentions} and (2, 3) not in {
        m.span for m in outermost.mentions
    }
    given = STORY.with_mentions([Mention(0, 1, "x"), Mention(4, 7, "y"), Mention(7, 12, "z")])
    kept = annotate_document(pretrained, given, Options(keep_mentions=True))
    assert [m.span for m in kept.mentions] == [(0, 1), (4, 7), (7, 12)]
    scored = annotate_document(pretrained, BARE, Options(scores=True))
    by_span = {mention.span: dict(mention.attributes) for mention in scored.mentions}
    assert 0.5 < float(by_span[0, 1][CONFIDENCE]) <= 1 and LINK_CONFIDENCE not in by_span[0, 1]
    assert 0 < float(by_span[8, 9][LINK_CONFIDENCE]) <= 1
    empty = Document("empty", ())
    with pytest.raises(ModelError):  # as without a resolver, a proposal is asked
        annotate_document(pretrained, empty)


def test_a_text_is_read_in_blocks_as_at_once(pretrained: Pretrained, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_inputs, "ROW", 9)
    monkeypatch.setattr("entitynlm.coref.resolver_network.ROW", 9)
    found = annotate_document(pretrained, BARE, Options(scores=True))
    monkeypatch.setattr(resolver, "BLOCK", 5)
    assert annotate_document(pretrained, BARE, Options(scores=True)) == found


def test_it_is_stored_with_the_model(pretrained: Pretrained, tmp_path: Path) -> None:
    save_pretrained(pretrained, tmp_path)
    loaded = load_pretrained(tmp_path)
    assert annotate_document(loaded, BARE, Options(scores=True)) == annotate_document(
        pretrained, BARE, Options(scores=True)
    )
    stored = loaded.stored_components["resolver"][1]
    with pytest.raises(ModelError, match="another version"):
        Resolver.from_stored({}, {**stored, "features": []})


def test_models_of_our_own_have_other_components(pretrained: Pretrained) -> None:
    assert choose_components(pretrained) == ["resolver"]
    own, _ = make_bundle()
    assert choose_components(own) == ["types", "bias", "linker"]
    with pytest.raises(ModelError, match="states of a pretrained language model"):
        train_component("resolver", own, [STORY], [], ComponentSettings(epochs=1))


def test_the_first_piece_of_a_text_is_read_after_a_line_break(pretrained: Pretrained) -> None:
    runtime = resolver.find_runtime(pretrained.encoder)
    encoded = pretrained.encoder.encode_words(Document("one", ("A", "key", ".")))
    pieces = resolver.find_pieces(encoded, runtime.pieces)
    assert encoded.piece_bounds is not None and resolver.find_last_pieces(encoded, runtime.pieces, 3)[0] == 1
    (states,) = resolver.read_blocks(runtime, 2, encoded, [(0, 3)])
    plain = runtime.read([pieces], (2,))[0][0]
    line_break = runtime.tokenizer("\n").input_ids
    assert torch.equal(states[1:], plain[resolver.find_last_pieces(encoded, runtime.pieces, 3)[1:]])
    assert torch.equal(states[0], runtime.read([np.array([*line_break, pieces[0]])], (2,))[0][0][-1])
    assert not torch.equal(states[0], plain[1])
