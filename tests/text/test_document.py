"""A document is checked when it is made, so that nothing after a reader needs to doubt it."""

import copy
import json
import pickle
from typing import Any

import pytest

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention, Quotation

WORDS = ("Anna", "met", "her", "aunt")
STORY = Document(
    "d", WORDS, mentions=(Mention(0, 1, "a"), Mention(2, 3, "a"), Mention(2, 4, "b")), meta={"x": "y"}
)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"id": ""}, "an id that is not empty"),
        ({"tokens": ("a", "")}, "token 1 is empty"),
        ({"sentences": ((0, 2), (3, 4))}, r"sentence \(3, 4\) should start at token 2"),
        ({"sentences": ((0, 2),)}, "cover 2 of 4 tokens"),
        ({"mentions": (Mention(2, 5, "a"),)}, "not within its 4 tokens"),
        ({"quotations": (Quotation(2, 2),)}, r"quotation \(2, 2\) is not within"),
        ({"mentions": (Mention(0, 1, ""),)}, "has no entity"),
        ({"mentions": (Mention(0, 1, "a", head=1),)}, "the head 1 .* lies outside"),
        ({"offsets": ((0, 4),)}, "1 character offsets for 4 tokens"),
        ({"offsets": ((0, 4), (3, 5), (5, 6), (6, 7))}, "runs backwards"),
        ({"offsets": ((0, 1), (1, 2), (2, 3), (3, 9)), "text": "abcd"}, "beyond the text's 4 characters"),
        ({"columns": {"pos": ("NN",)}}, "column 'pos' has 1 values"),
        ({"heads": (1, -1, 3, 4)}, "the head 4 of token 3 is not a token"),
    ],
)
def test_a_document_that_breaks_an_invariant_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Document(**{"id": "d", "tokens": WORDS, **fields})


def test_entities_are_in_the_order_of_their_first_mentions() -> None:
    mentions = (Mention(2, 4, "b"), Mention(2, 3, "a"), Mention(0, 1, "a"))
    document = Document("d", WORDS, mentions=mentions, entity_types={"a": "person", "x": "lost"})
    assert document.sentences == ((0, 4),)
    assert [(entity.id, entity.type) for entity in document.entities] == [("a", "person"), ("b", None)]
    assert document.clusters() == (((0, 1), (2, 3)), ((2, 4),))
    assert dict(document.entity_types) == {"a": "person"}


def test_words_come_from_the_raw_text_where_it_is_known() -> None:
    document = Document("d", ("do", "n't"), text="don't", offsets=((0, 2), (2, 5)))
    assert document.words(0, 2) == "don't"
    assert Document("d", ("do", "n't")).words(0, 2) == "do n't"


def test_clusters_in_place_of_the_annotation() -> None:
    document = Document("d", WORDS, mentions=(Mention(0, 1, "x"),), entity_types={"x": "person"})
    changed = document.with_clusters([[(0, 1), (2, 3)], [(2, 4)]])
    assert changed.clusters() == (((0, 1), (2, 3)), ((2, 4),))
    assert [mention.entity for mention in changed.mentions] == ["1", "2", "1"]
    assert not changed.entity_types


def test_a_speaker_whom_nobody_mentions_is_left_out() -> None:
    document = Document("x", WORDS, mentions=(Mention(0, 1, "a"),), quotations=(Quotation(1, 3, "b", "a"),))
    assert document.quotations == (Quotation(1, 3, None, "a"),)
    assert document.with_mentions(()).quotations == (Quotation(1, 3),)


def test_other_mentions_are_checked() -> None:
    document = Document("d", WORDS, mentions=(Mention(0, 1, "a"),), entity_types={"a": "x"})
    other = document.with_mentions([Mention(2, 3, "b"), Mention(0, 1, "c")])
    assert [mention.entity for mention in other.mentions] == ["c", "b"]
    assert [entity.id for entity in other.entities] == ["c", "b"] and not other.entity_types
    with pytest.raises(DataError, match="not within"):
        document.with_mentions([Mention(3, 9, "a")])


def test_a_document_goes_through_pickle_copies_and_plain_data() -> None:
    document = STORY
    made = (
        pickle.loads(pickle.dumps(document)),
        copy.copy(document),
        copy.deepcopy(document),
        Document.from_dict(json.loads(json.dumps(document.to_dict()))),
        Document.from_json(document.to_json()),
    )
    assert all(other == document for other in made)
    assert made[0] != document.with_mentions(())
    with pytest.raises(DataError, match="not valid JSON"):
        Document.from_json("{")


def test_a_document_is_shown_on_one_short_line() -> None:
    assert repr(STORY) == "<Document 'd': 4 tokens, 3 mentions, 2 entities>"
    assert repr(STORY.entities[0]) == "<Entity 'a': no type, 2 mentions>"


def test_clusters_are_spans_or_strings() -> None:
    document = STORY
    assert document.clusters() == (((0, 1), (2, 3)), ((2, 4),))
    assert document.clusters(as_strings=True) == (("Anna", "her"), ("her aunt",))


def test_a_document_becomes_a_spacy_doc() -> None:
    doc = STORY.to_spacy()
    assert [span.text for span in doc.spans["coref_clusters_1"]] == ["Anna", "her"]
