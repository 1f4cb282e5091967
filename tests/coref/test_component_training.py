"""Training of mention types, mention bias and linker: what each takes from annotated documents."""

from __future__ import annotations

import dataclasses

import pytest

from entitynlm.coref.component_training import (
    BIASES,
    ComponentSettings,
    choose_bias,
    fit_types,
    keep_linkable,
    score_annotation,
    train_component,
)
from entitynlm.coref.mention_detection import MentionBias
from entitynlm.errors import ConfigError, DataError
from entitynlm.text.document import Document, Mention
from support.small_bundles import make_bundle, make_documents

TYPES = {"ann": "person", "bo": "person", "thing": "thing"}


def make_typed() -> list[Document]:
    return [document.with_mentions(document.mentions, TYPES) for document in make_documents()]


def test_types_are_learned_from_entities_that_have_one() -> None:
    pretrained, _ = make_bundle()
    classifier = fit_types(pretrained, make_typed())
    assert classifier.names == ("person", "thing")
    assert classifier.weights.shape == (2, 2 * pretrained.get("lookahead").config.hidden_size + 1)
    with pytest.raises(DataError, match="no entity of the training documents has a type"):
        fit_types(pretrained, make_documents())


def test_the_bias_is_the_one_that_finds_the_mentions() -> None:
    pretrained, _ = make_bundle()
    documents = make_typed()
    train_component("bias", pretrained, documents, documents, ComponentSettings())
    assert pretrained.get_component(MentionBias) == MentionBias(choose_bias(pretrained, documents))
    bare = [document.with_mentions(()) for document in documents]
    assert choose_bias(pretrained, bare) == BIASES[0]
    train_component("bias", pretrained, documents, documents, ComponentSettings(bias=-2.5))
    assert pretrained.get_component(MentionBias) == MentionBias(-2.5)
    with pytest.raises(DataError, match="no mentions"):
        train_component("bias", pretrained, bare, documents, ComponentSettings())


def test_the_model_annotates_worse_without_mentions() -> None:
    pretrained, _ = make_bundle()
    documents = make_typed()
    pretrained.set_component(MentionBias(-50.0))
    assert score_annotation(pretrained, documents).conll == 0


def test_mentions_that_annotate_cannot_find_are_left_out() -> None:
    document = Document("d", tuple("her mother 's friend saw his dog".split()))
    outer, inner, possessive = Mention(0, 4, "a"), Mention(0, 2, "b"), Mention(0, 1, "c")
    dog, owner = Mention(5, 7, "d"), Mention(5, 6, "e")
    nested = dataclasses.replace(document, mentions=(outer, inner, possessive, dog, owner))
    kept = keep_linkable(nested)
    assert {mention.span for mention in kept.mentions} == {(0, 4), (0, 1), (5, 7), (5, 6)}


def test_impossible_settings_are_named() -> None:
    with pytest.raises(ConfigError, match="at least one"):
        ComponentSettings(epochs=0)
