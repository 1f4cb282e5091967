"""Documents as numbers."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.errors import ConfigError
from entitynlm.model.encoding.encoder import Encoder
from entitynlm.model.encoding.preprocessing import Recipe
from entitynlm.model.encoding.tokenizer import Vocabulary
from entitynlm.model.encoding.variables import FilterCounts
from entitynlm.text.document import Document, Mention
from support.small_documents import documents, running_example

FULL = Recipe(minimum_count=1)
RECIPES = st.builds(
    Recipe,
    lowercase=st.booleans(),
    punctuation=st.sampled_from(["keep", "drop"]),
    numbers=st.booleans(),
    sentence_ends=st.booleans(),
    minimum_count=st.integers(1, 2),
    vocabulary_size=st.integers(1, 20),
)


def test_the_running_example() -> None:
    document = running_example()
    encoder = Encoder.fit([document], recipe=FULL, singletons="keep")
    encoded, counts, originals = encoder.encode_with_report(document)
    assert [encoder.vocabulary.words[number] for number in encoded.x[:3]] == ["john", "wanted", "to"]
    assert encoded.e.tolist() == [1, 0, 0, 0, 0, 2, 2, 2, 0, 3, 3, 0, 1, 0, 0, 0, 2, 0, 4, 4, 4, 0]
    assert (encoded.r == (encoded.e > 0)).all()
    assert encoded.l.tolist() == [1, 1, 1, 1, 1, 3, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 3, 2, 1, 1]
    assert encoded.sentence.tolist() == [0] * 12 + [1] * 10
    assert encoded.origin.tolist() == [*range(11), -1, *range(12, 21), -1]
    assert encoded.x[11] == encoded.x[21] == encoder.vocabulary.sentence_end
    assert all(
        getattr(encoded, name).dtype == np.int64 for name in ("x", "r", "e", "l", "sentence", "origin")
    )
    assert originals == document.mentions
    assert counts == FilterCounts()


@given(documents(), RECIPES, st.sampled_from(["keep", "drop"]))
def test_that_x_does_not_depend_on_mentions(document: Document, recipe: Recipe, singletons: str) -> None:
    encoder = Encoder.fit([document], recipe=recipe, singletons=singletons)
    bare = document.with_mentions(())
    assert Encoder.fit([bare], recipe=recipe, singletons=singletons) == encoder
    with_mentions, without = encoder.encode(document), encoder.encode(bare)
    assert with_mentions.x.tolist() == without.x.tolist()
    assert encoder.encode_words(document).x.tolist() == without.x.tolist()
    assert not without.r.any() and not without.e.any() and (without.l == 1).all()


def test_that_types_are_kinds_of_mentions() -> None:
    tokens = ("Ann", "saw", "Rome", "and", "red")
    mentions = (Mention(0, 1, "a"), Mention(2, 3, "b"), Mention(4, 5, "c"))
    document = Document("d", tokens, (), mentions, {"a": "person", "b": "place"})
    encoder = Encoder.fit([document], recipe=FULL, singletons="keep", typed=True)
    assert encoder.types == ("person", "place", "other")
    assert encoder.mention_types == 3
    encoded = encoder.encode(document)
    assert encoded.r.tolist() == [1, 0, 2, 0, 3, 0]
    stranger = document.with_mentions(mentions, {"a": "deity", "b": "person", "c": "place"})
    assert encoder.encode(stranger).r.tolist() == [3, 0, 1, 0, 2, 0]
    untyped = Encoder.fit([document], recipe=FULL, singletons="keep")
    assert (untyped.types, untyped.mention_types) == ((), 1)
    assert untyped.encode(document).r.tolist() == [1, 0, 1, 0, 1, 0]


def test_that_a_text_without_words_is_encoded_as_nothing() -> None:
    document = Document("d", ("...",), (), (Mention(0, 1, "a"),))
    encoder = Encoder.fit([running_example()], recipe=Recipe(), singletons="keep")
    encoded, counts, originals = encoder.encode_with_report(document)
    assert (len(encoded), originals) == (0, ())
    assert counts == FilterCounts(outside=1)


def test_that_an_encoder_survives_json() -> None:
    for typed, recipe in ((False, FULL), (True, Recipe(punctuation="keep", numbers=False))):
        document = running_example()
        encoder = Encoder.fit([document], recipe=recipe, singletons="drop", typed=typed, max_length=7)
        again = Encoder.from_dict(json.loads(json.dumps(encoder.to_dict())))
        assert again == encoder
        one, other = again.encode(document), encoder.encode(document)
        assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in "xrel")


@pytest.mark.parametrize(
    "change",
    [
        {"singletons": "some"},
        {"max_length": 0},
        {"max_length": "25"},
        {"types": ["person"]},
        {"types": ["other", "other"]},
        {"recipe": {"numbers": False}},
        {"colour": "red"},
    ],
)
def test_that_a_damaged_encoder_is_refused(change: dict[str, object]) -> None:
    values = Encoder(Recipe(), Vocabulary(["<num>", "a"])).to_dict()
    with pytest.raises(ConfigError):
        Encoder.from_dict(values | change)


# -- the real corpora --------------------------------------------------------------------------------------------------
