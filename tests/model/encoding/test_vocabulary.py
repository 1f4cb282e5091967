"""The vocabulary: frequent words, ties in alphabetical order, specials that nothing can be mistaken for."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.errors import DataError
from entitynlm.model.encoding.preprocessing import NUM, SENTENCE_END, START, UNK, Recipe, prepare_words
from entitynlm.model.encoding.tokenizer import Vocabulary
from entitynlm.text.document import Document
from support.small_documents import documents


def test_that_the_most_frequent_words_are_taken_and_ties_are_alphabetical() -> None:
    counts = {"b": 5, "c": 3, "a": 3, "d": 2, "rare": 1, SENTENCE_END: 9}
    recipe = Recipe(numbers=False, vocabulary_size=3)
    assert Vocabulary.build(counts, recipe).words == (START, UNK, SENTENCE_END, "b", "a", "c")
    everything = Recipe(vocabulary_size=100, minimum_count=1)
    assert Vocabulary.build(counts, everything).words == (
        *(START, UNK, SENTENCE_END, NUM),
        *("b", "a", "c", "d", "rare"),
    )


def test_encoding_and_decoding() -> None:
    vocabulary = Vocabulary(["cat", NUM, "the"])
    ids = vocabulary.encode(["the", "dog", NUM, SENTENCE_END])
    assert ids.tolist() == [5, vocabulary.unknown, vocabulary.number, vocabulary.sentence_end]
    assert ids.dtype == "int64"
    assert [vocabulary.words[number] for number in ids] == ["the", UNK, NUM, SENTENCE_END]
    assert vocabulary.is_unknown("dog") and not vocabulary.is_unknown("the") and vocabulary.is_unknown(UNK)
    assert vocabulary["cat"] == 4 and vocabulary["dog"] == vocabulary.unknown == 1
    assert vocabulary.start == 0


@given(documents())
def test_that_no_word_of_a_corpus_shares_the_id_of_a_special(document: Document) -> None:
    recipe = Recipe(lowercase=False, punctuation="keep", numbers=False, minimum_count=1)
    words = prepare_words(document, recipe)
    vocabulary = Vocabulary.build(Counter(words.words), recipe)
    ids = vocabulary.encode(words.words)
    for number, token in zip(ids.tolist(), words.origin.tolist(), strict=True):
        assert (number == vocabulary.sentence_end) == (token < 0)
        assert number not in (vocabulary.start, vocabulary.unknown)
    assert [vocabulary.words[number] for number in ids] == list(words.words)


@given(st.lists(st.text(min_size=1), unique=True))
def test_that_a_vocabulary_survives_json(words: list[str]) -> None:
    vocabulary = Vocabulary(words)
    again = Vocabulary.from_dict(json.loads(json.dumps(vocabulary.to_dict())))
    assert again == vocabulary and again.words == vocabulary.words
    assert hash(again) == hash(vocabulary)


@pytest.mark.parametrize("damaged", ["the cat", {"the": 1}, ["the", 3], ["the", ""], None])
def test_that_a_damaged_vocabulary_is_refused(damaged: object) -> None:
    with pytest.raises(DataError, match="list of words"):
        Vocabulary.from_dict({"words": damaged})
