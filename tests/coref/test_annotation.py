"""Annotating documents: mentions and entities from the resolver, given mentions, confidences, quotations."""

from collections.abc import Iterator

import pytest

from entitynlm.coref.annotation import (
    CONFIDENCE,
    LINK_CONFIDENCE,
    SHORT,
    annotate_document,
    annotate_documents,
    can_annotate,
)
from entitynlm.errors import ConfigError, ModelError
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document, Mention
from support.small_bundles import add_resolver, make_bundle, make_documents

STORY = Document("story", tuple("Ann saw Bo . She ran .".split()), ((0, 4), (4, 7)))


@pytest.fixture(scope="module")
def pretrained() -> Pretrained:
    return add_resolver(make_bundle()[0])


def test_documents_get_the_mentions_that_the_resolver_has_learned(pretrained: Pretrained) -> None:
    for document in make_documents()[:2]:
        found = annotate_document(pretrained, document.with_mentions(()))
        assert found.tokens == document.tokens and set(found.clusters()) == set(document.clusters())
        assert [entity.id for entity in found.entities] == [
            str(number) for number in range(1, len(found.entities) + 1)
        ]


def test_given_mentions_stay_and_keep_their_types(pretrained: Pretrained) -> None:
    given = STORY.with_mentions([Mention(0, 2, "x"), Mention(4, 5, "y")], {"x": "person", "y": "person"})
    kept = annotate_document(pretrained, given, keep_mentions=True)
    assert [mention.span for mention in kept.mentions] == [(0, 2), (4, 5)]
    assert set(kept.entity_types.values()) == {"person"}


def test_confidences_are_probabilities(pretrained: Pretrained) -> None:
    scored = annotate_document(pretrained, STORY, scores=True)
    first = {entity.mentions[0] for entity in scored.entities}
    for mention in scored.mentions:
        attributes = dict(mention.attributes)
        assert 0 < float(attributes[CONFIDENCE]) <= 1
        assert (LINK_CONFIDENCE in attributes) == (mention not in first)
    plain = annotate_document(pretrained, STORY)
    assert [m.span for m in plain.mentions] == [m.span for m in scored.mentions]


def test_a_text_that_was_encoded_before_is_not_encoded_again(
    pretrained: Pretrained, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, encoded = annotate_document(pretrained, STORY), pretrained.encoder.encode_words(STORY)
    monkeypatch.setattr(type(pretrained.encoder), "encode_words", None)
    assert annotate_document(pretrained, STORY, encoded=encoded) == expected


def test_documents_are_made_twice_once_for_each_pass(
    pretrained: Pretrained, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, settle = [], Document._settle_mentions
    monkeypatch.setattr(Document, "_settle_mentions", lambda *given: (made.append(given[0]), settle(*given)))
    annotate_document(pretrained, STORY)
    assert len(made) == 2


@pytest.mark.parametrize("batch_size", [1, 2, 16])
def test_texts_that_are_read_together_give_what_they_give_alone(
    pretrained: Pretrained, batch_size: int
) -> None:
    plain = [document.with_mentions(()) for document in make_documents()[:5]]
    long = Document("long", STORY.tokens * SHORT)
    texts = [*plain, Document("empty", ()), long, STORY, Document("marks", (".", "!"))]
    alone = [annotate_document(pretrained, text, scores=True) for text in texts]
    assert list(annotate_documents(pretrained, iter(texts), batch_size=batch_size, scores=True)) == alone


def test_texts_are_taken_some_batches_at_a_time_and_no_further_than_a_long_one(
    pretrained: Pretrained,
) -> None:
    taken = []

    def give() -> Iterator[Document]:
        for text in (STORY, Document("long", STORY.tokens * SHORT), STORY):
            taken.append(text.id)
            yield text

    next(annotate_documents(pretrained, give()))
    assert taken == ["story", "long"]
    next(annotate_documents(pretrained, give(), batch_size=1))
    assert taken[2:] == ["story"]
    with pytest.raises(ConfigError, match="one text at least, not 0"):
        next(annotate_documents(pretrained, [STORY], batch_size=0))


def test_nothing_to_read_is_no_error(pretrained: Pretrained) -> None:
    empty = Document("empty", ())
    assert annotate_document(pretrained, empty) == empty


def test_a_model_without_a_resolver_tells_how_to_train_one() -> None:
    alone = make_bundle()[0]
    assert not can_annotate(alone)
    with pytest.raises(ModelError, match="--parts resolver"):
        annotate_document(alone, STORY)
