"""Tokens become running text in which every token can be found again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.text.detokenization import (
    SPELLINGS,
    capitalise_start,
    ends_sentence,
    join_tokens,
    list_unopened,
)

TOKENS = "Anna saw , . “ ” \" ( ) -LRB- -RRB- n't 's - $ `` ''".split()


@given(st.lists(st.sampled_from(TOKENS)))
def test_every_token_stands_at_its_offsets(tokens: list[str]) -> None:
    text, offsets = join_tokens(tokens)
    assert [text[start:end] for start, end in offsets] == [SPELLINGS.get(token, token) for token in tokens]
    assert "  " not in text


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("She did n't ( yet ) go .", "She didn't (yet) go."),
        ('" Stop , " she said .', '"Stop," she said.'),
        ("Anna 's twenty - five $ 5 notes", "Anna's twenty-five $5 notes"),
    ],
)
def test_spaces_are_where_people_put_them(tokens: str, text: str) -> None:
    assert join_tokens(tokens.split())[0] == text


def test_ends_and_beginnings_of_sentences() -> None:
    assert (
        ends_sentence("He left . ”".split()) and not ends_sentence("He left ”".split()) and ends_sentence([])
    )
    assert capitalise_start(["“", "so", "he"]) == ["“", "So", "he"]
    assert "”" in list_unopened(["a", "”"]) and "”" not in list_unopened(["“", "a"])
