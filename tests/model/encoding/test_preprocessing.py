"""Tokens become words; the words never depend on mentions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.config import from_dict
from entitynlm.errors import ConfigError
from entitynlm.model.encoding.preprocessing import (
    NUM,
    SENTENCE_END,
    SPECIALS,
    Recipe,
    escape_word,
    is_numeral,
    is_punctuation,
    prepare_words,
    unescape_word,
)
from entitynlm.text.document import Document, Mention
from support.small_documents import documents

NUMBERS = (
    "7 1,000 3.5 -2 +5 .5 1/2 ½ 2½ 10:30 1999-2001 1999–2001 12/31/99 555-1234 12% 12° $5 £3.50 -$5 "
    "21st 2ND 3rd 4th 1990s '90s 1990's 5."
)
NOT_NUMBERS = "seven B-52 MP3 3d 4x4 h2o 1a st % $ - . , 's ... 7- 1st-class 24/seven"
MARKS = (
    ". , ; : ? ! ... -- — – ( ) [ ] { } ' '' `` ` “ ” ‘ « » / \\ * # _ • … | ~ < > ^ -LRB- -RRB- -lsb- /. :)"
)
READ_ALOUD = "a 's n't U.S. o'clock $ € % & @ + = 5 -5 %uh 😀 ° <b> -LRB"


@pytest.mark.parametrize("token", NUMBERS.split())
def test_that_a_number_is_one(token: str) -> None:
    assert is_numeral(token)


@pytest.mark.parametrize("token", NOT_NUMBERS.split())
def test_that_a_word_is_no_number(token: str) -> None:
    assert not is_numeral(token)


@pytest.mark.parametrize("token", [*MARKS.split(), "\u200b", "\xa0"])
def test_that_marks_on_the_page_are_punctuation(token: str) -> None:
    assert is_punctuation(token)


@pytest.mark.parametrize("token", READ_ALOUD.split())
def test_that_what_is_read_aloud_is_a_word(token: str) -> None:
    assert not is_punctuation(token)


def make_document(*sentences: str, mentions: tuple[Mention, ...] = ()) -> Document:
    tokens: list[str] = []
    spans = []
    for sentence in sentences:
        words = sentence.split()
        spans.append((len(tokens), len(tokens) + len(words)))
        tokens += words
    return Document("d", tuple(tokens), tuple(spans), mentions)


def test_conll_recipe() -> None:
    words = prepare_words(make_document("In 1999 , The Cat ran .", "It sat !"), Recipe())
    assert words.words == ("in", NUM, "the", "cat", "ran", SENTENCE_END, "it", "sat", SENTENCE_END)
    assert words.origin.tolist() == [0, 1, 3, 4, 5, -1, 7, 8, -1]
    assert words.sentence.tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1]


def test_inscript_recipe() -> None:
    words = prepare_words(make_document("At 9 , I ran ."), Recipe(punctuation="keep", numbers=False))
    assert words.words == ("at", "9", ",", "i", "ran", ".", SENTENCE_END)


def test_that_every_step_can_be_left_out() -> None:
    recipe = Recipe(lowercase=False, punctuation="keep", numbers=False, sentence_ends=False)
    document = make_document("In 1999 , The Cat ran .", "Yes !")
    words = prepare_words(document, recipe)
    assert words.words == document.tokens
    assert words.origin.tolist() == list(range(len(document)))


def test_that_a_sentence_without_words_has_no_end() -> None:
    words = prepare_words(make_document("* * *", "yes .", "..."), Recipe())
    assert words.words == ("yes", SENTENCE_END)
    assert words.sentence.tolist() == [1, 1]
    assert len(prepare_words(make_document("..."), Recipe())) == 0


@given(documents(), st.sampled_from(["keep", "drop"]))
def test_that_words_come_from_their_tokens_in_order(document: Document, punctuation: str) -> None:
    words = prepare_words(document, Recipe(lowercase=False, punctuation=punctuation, numbers=False))
    inside = words.origin >= 0
    assert (np.diff(words.origin[inside]) > 0).all()
    for word, token, sentence in zip(
        words.words, words.origin.tolist(), words.sentence.tolist(), strict=True
    ):
        if token < 0:
            assert word == SENTENCE_END
        else:
            assert unescape_word(word) == document.tokens[token]
            assert document.sentence_of[token] == sentence
    ends = [i for i, word in enumerate(words.words) if word == SENTENCE_END]
    assert [int(words.sentence[i]) for i in ends] == sorted(set(words.sentence.tolist()))


@given(st.one_of(st.text(), st.sampled_from(SPECIALS), st.from_regex(r"\\*<(unk|num|/?s)>", fullmatch=True)))
def test_that_escaping_finds_back_and_never_gives_a_special(word: str) -> None:
    assert unescape_word(escape_word(word)) == word
    assert escape_word(word) not in SPECIALS


@pytest.mark.parametrize(
    "values",
    [
        {"punctuation": "some"},
        {"lowercase": "yes"},
        {"numbers": 1},
        {"vocabulary_size": 0},
        {"vocabulary_size": True},
        {"minimum_count": 1.5},
        {"lower_case": True},
    ],
)
def test_that_a_senseless_recipe_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(values))):
        from_dict(Recipe, values)
