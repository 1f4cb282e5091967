"""Words of an open vocabulary in a generated text: spaces before names, ends of sentences, what is never drawn."""

import pytest
import torch

from entitynlm.generation.open_vocabulary import OpenVocabulary
from support.small_tokenizers import BYTE_LEVEL, make_subwords


@pytest.fixture(params=BYTE_LEVEL)
def words(request: pytest.FixtureRequest) -> OpenVocabulary:
    return OpenVocabulary(make_subwords(request.param))


def spell(words: OpenVocabulary, word: str, before: str | None) -> str:
    """The text of a word after another text."""
    pieces = None if before is None else tuple(words.tokenizer.encode_pieces([before])[0].tolist())
    if before is not None and before[0] == " ":
        pieces = words.tokenizer.pieces(before.strip())
    return words.tokenizer.write(words.spell(words.learn(word), pieces))


def test_a_name_has_a_space_before_it_unless_something_opens(words: OpenVocabulary) -> None:
    assert spell(words, "Anna", "Bob") == " Anna"
    assert spell(words, "Anna", None) == "Anna"
    assert spell(words, "Anna", "(") == "Anna"
    assert spell(words, "Anna", ' "') == "Anna"
    assert spell(words, ".", "Bob") == "."


def read(words: OpenVocabulary, *text: str) -> tuple[list[int], list[tuple[int, ...]]]:
    return [words.learn(word) for word in text], [words.tokenizer.pieces(word) for word in text]


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("Bob ran .", True),
        ("Bob ran", False),
        ("Bob ,", False),
        ("saw Mr .", False),
        ("her mother .", True),
        ("J .", False),
        ("and I .", True),
    ],
)
def test_where_sentences_end(words: OpenVocabulary, text: str, ends: bool) -> None:
    keys, pieces = read(words, *text.split())
    assert words.ends_sentence(keys[-1], pieces[-1], keys[-2]) == ends
    assert words.closes_sentence(words.tokenizer.pieces(")")) and not words.closes_sentence(pieces[0])


def test_what_is_never_drawn(words: OpenVocabulary) -> None:
    tokenizer = words.tokenizer
    flat = torch.zeros(len(tokenizer))
    left = words.exclude(flat.clone(), opens_mention_word=False)
    assert torch.isinf(left).sum() == len(tokenizer.never_generated) > 0
    inside = words.exclude(flat.clone(), opens_mention_word=True)
    assert torch.isinf(inside[tokenizer.pieces(".")[0]]) and not torch.isinf(left[tokenizer.pieces(".")[0]])


def test_words_that_can_not_be_shown_are_no_words(words: OpenVocabulary) -> None:
    assert words.is_whole(words.tokenizer.pieces("Anna"), one_line=False)
    assert not words.is_whole(words.tokenizer.pieces("Anna")[:1], one_line=False)


def test_a_line_break_is_no_part_of_a_word_on_the_same_line(words: OpenVocabulary) -> None:
    broken = tuple(words.tokenizer.encode_text("\nAnna", [(1, 5)])[0].tolist())
    assert "\n" in words.tokenizer.write(broken)
    assert words.is_whole(broken, one_line=False) and not words.is_whole(broken, one_line=True)


def test_a_word_stands_apart_from_the_one_before(words: OpenVocabulary) -> None:
    glued = tuple(words.tokenizer.encode_pieces(["Anna"])[0].tolist())
    assert words.tokenizer.write(glued) == "Anna"
    assert words.is_whole(glued, words.tokenizer.pieces("."), one_line=True)
    assert not words.is_whole(glued, words.tokenizer.pieces("Bob"), one_line=True)
    assert words.is_whole(words.tokenizer.pieces("Anna"), words.tokenizer.pieces("Bob"), one_line=True)


def test_straight_marks_open_and_close_quotations(words: OpenVocabulary) -> None:
    opening, closing, before = (words.tokenizer.pieces(mark) for mark in ('"', "”", "Bob"))
    assert [words.tokenizer.write(pieces) for pieces in (opening, closing)] == [' "', '"']
    assert words.fits_quotation(opening, before, quoting=False) and words.fits_quotation(
        closing, before, quoting=True
    )
    assert not words.fits_quotation(opening, before, quoting=True)
    assert not words.fits_quotation(closing, before, quoting=False)
    assert words.fits_quotation(closing, None, quoting=False)  # the first mark of a text opens
    assert words.fits_quotation(before, before, quoting=True) and words.fits_quotation(
        before, before, quoting=False
    )
