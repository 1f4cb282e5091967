"""Words and sentences of raw text: places kept, quotation marks and abbreviations right, strange texts in bounds."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entitynlm.config import load_toml
from entitynlm.text import segmentation
from entitynlm.text.segmentation import align_span, find_words, join_words, segment_text, segment_whitespace


def sentences(text: str) -> list[str]:
    cut = segment_text(text)
    return [text[cut.offsets[start][0] : cut.offsets[end - 1][1]] for start, end in cut.sentences]


@pytest.mark.parametrize(
    "expected",
    [
        ["“Come in!” she said.", "“It is open.”"],
        ['"Stop!" cried Tom, "or I run!"', "He ran."],
        ["He said, “I am Dr. Ode.”", "Then he left."],
        ["Mr. and Mrs. Ode of No. 4 met J. R. Hart.", "They smiled."],
        ["It cost $3.50 at 5 p.m. sharp.", "Was it dear?", "No!"],
        ["'Oh dear!' said the Hare.", "'I shall be late!'"],
        ["She left (at last).", "He stayed."],
    ],
)
def test_sentence_ends_around_quotes_and_abbreviations(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected
    assert sentences("\n".join(expected)) == expected


@pytest.mark.parametrize("gap", ["\n\n", "\r\n\r\n", "\r\r", "\n \t\n", "\n\n\n", "\f", "\u2029"])
def test_a_blank_line_always_ends_a_sentence(gap: str) -> None:
    assert sentences(f"CHAPTER I{gap}the whale and{gap}I") == ["CHAPTER I", "the whale and", "I"]


def test_words() -> None:
    cut = segment_text("I can't, won’t — “ever” — pay $3.50 to O'Hara & co.!")
    assert " ".join(cut.tokens) == "I ca n't , wo n’t — “ ever ” — pay $ 3.50 to O'Hara & co. !"


def test_a_dash_is_a_word_whatever_stands_beside_it() -> None:
    cut = segment_text('Mr. Hart.--She left--"just so"--and Vale?--"No," --Ida.')
    expected = 'Mr. Hart . -- She left -- " just so " -- and Vale ? -- " No , " -- Ida .'
    assert " ".join(cut.tokens) == expected


@given(st.text(max_size=60))
def test_any_text_is_cut_and_keeps_its_places(text: str) -> None:
    cut = segment_text(text)
    assert [text[start:end] for start, end in cut.offsets] == list(cut.tokens)
    assert all(token.strip() for token in cut.tokens)
    assert [start for start, _ in cut.sentences] == [0, *(end for _, end in cut.sentences)][
        : len(cut.sentences)
    ]
    covered = {place for start, end in cut.offsets for place in range(start, end)}
    assert {place for place, sign in enumerate(text) if not sign.isspace()} <= covered


@settings(max_examples=20)
@given(st.text('ab.!"(1😀我 \n', min_size=1, max_size=6), st.integers(100, 400))
def test_long_runs_keep_their_places_too(piece: str, times: int) -> None:
    text = piece * times
    cut = segment_text(text)
    assert [text[start:end] for start, end in cut.offsets] == list(cut.tokens)
    assert max(map(len, cut.tokens), default=0) <= segmentation.LONGEST_WORD


def test_a_long_run_is_cut_by_the_plain_pattern_alone() -> None:
    """Neither library sees runs that would take it quadratic time: with them, this test would take minutes."""
    text = "(a.b!" * 100_000
    assert len(segment_text(text).tokens) == len(text)


def test_the_tokeniser_is_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "RENEW_AFTER", 10)
    segmenter = segmentation.TextSegmenter()
    before = segmenter._tokenise
    for text in ("one two three", "four five six", "x"):
        assert segmenter.segment(text).tokens == tuple(text.split())
    assert segmenter._tokenise is not before


def test_whitespace() -> None:
    cut = segment_whitespace("A b .\n\n  c\td \r\ne")
    assert cut.tokens == ("A", "b", ".", "c", "d", "e")
    assert cut.sentences == ((0, 3), (3, 5), (5, 6))


@given(st.lists(st.text("ab", min_size=1, max_size=3)))
def test_words_are_found_where_they_were_put(words: list[str]) -> None:
    text, offsets = join_words(words)
    assert [text[start:end] for start, end in offsets] == words
    assert find_words(words, text) == offsets
    assert find_words(words, f"{text} more") is None
    assert find_words([*words, "c"], text) is None


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0, 3, ((0, 1), True)),
        (0, 8, ((0, 2), True)),
        (3, 4, (None, False)),
        (2, 5, ((0, 2), False)),
        (3, 9, ((1, 2), True)),
        (8, 9, (None, False)),
        (0, 99, ((0, 3), True)),
    ],
)
def test_character_ranges(start: int, end: int, expected: tuple[tuple[int, int] | None, bool]) -> None:
    assert align_span(((0, 3), (4, 8), (9, 12)), start, end) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('"Where is it?" Priya asked. She sat.', 2),
        ("“Stop!” the old man cried. “No.”", 2),
        ('"Why?" Mr. Darcy asked her.', 1),
        ('"Why?" I asked.', 1),
        ('"Where are you?" Marcus had written. He slept.', 2),
        ('"Where?" Priya suddenly asked.', 1),
        ('"Really?" Anna and Bob asked. "No."', 2),
        ("'Go!' Anna's mother said.", 1),
        ('"Stop!" Dr. Patel yelled, and ran.', 1),
        ('"Really?" Tom went home.', 2),
        ('"Really?" Tom nodded.', 2),
        ('"Really?" The room was cold.', 2),
        ('"Where?" Tom left. She said no.', 3),
        ('"Why?" She laughed and left.', 2),
    ],
)
def test_who_asked_belongs_to_the_question(text: str, count: int) -> None:
    assert len(segment_text(text).sentences) == count


def test_what_cuts_words_and_sentences_is_installed_without_an_extra() -> None:
    """``pip install .`` alone has to annotate a raw text file."""
    project = load_toml(Path(__file__).parents[2] / "pyproject.toml")["project"]
    names = {re.split(r"[<>=;\[ ]", requirement)[0] for requirement in project["dependencies"]}
    assert {"spacy", "nupunkt", "msgspec", "pooch", "platformdirs", "filelock"} <= names
    assert "spacy" not in project["optional-dependencies"]
