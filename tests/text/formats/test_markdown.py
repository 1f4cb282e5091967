"""Markdown without its syntax, and the way back to the file."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.text.formats.markdown import strip_markdown


def shown(text: str) -> list[list[str]]:
    """The words of each block."""
    return [words for block in strip_markdown(text).text.split("\n\n") if (words := block.split())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# The *great* whale ##", "The great whale"),
        ("A #hash and C# stay", "A #hash and C# stay"),
        ("**bold**, *it*, ***both***, __so__ and _so_", "bold, it, both, so and so"),
        ("un**believ**able", "unbelievable"),
        ("snake_case_name and 5*3 = 15 and 2 * 3 * 4", "snake_case_name and 5*3 = 15 and 2 * 3 * 4"),
        ("*open and **never closed", "*open and **never closed"),
        ("~~gone~~ stays", "gone stays"),
        ("`code *x*` and ``a ` b``", "code *x* and a ` b"),
        ("`never closed", "`never closed"),
        (r"\*not emphasis\* \# 1\. \\", r"*not emphasis* # 1. \ ".strip()),
        ("a [link *text*](http://a.b/c_(d) 'title') here", "a link text here"),
        ("![a picture](x.png) and [![in a link](y.png)](z)", "and"),
        ("[one][two], [two][], [two], [none]\n\n[Two]: http://x.y 'z'", "one, two, two, [none]"),
        ("<http://a.b> and <a@b.c>", "http://a.b and a@b.c"),
        ("<b>bold</b>er<br>next<!-- gone --> 1 < 2 > 1", "bolder next 1 < 2 > 1"),
        ("a <!-- b\n\nc --> d", "a d"),
        ("<script>var x;</script>a<style>p {}</style>", "a"),
        ("AT&amp;T &copy; &#233; &nosuch;", "AT&T © é &nosuch;"),
        ("---\ntitle: x\n---\nText", "Text"),
        ("line one\\\nline two", "line one line two"),
    ],
)
def test_syntax_goes_and_words_stay(text: str, expected: str) -> None:
    assert " ".join(strip_markdown(text).text.split()) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One\ntwo\nthree", [["One"], ["two", "three"]]),
        ("One\n===\ntwo\n---\nthree", [["One"], ["two"], ["three"]]),
        ("one\n***\ntwo\n* * *\nthree", [["one"], ["two"], ["three"]]),
        ("- one\n- two\n  more\n* four", [["one"], ["two", "more"], ["four"]]),
        ("1. one\n2. two\n10) ten", [["one"], ["two"], ["ten"]]),
        ("It was in\n1986. A good year", [["It", "was", "in", "1986.", "A", "good", "year"]]),
        ("> one\n> two\n>\n> > three", [["one", "two"], ["three"]]),
        ("| a | b |\n|---|:-:|\n| c \\| d | *e* |\nafter", [["a", "b"], ["c", "|", "d", "e"], ["after"]]),
        ("one | two", [["one", "|", "two"]]),
        ("one\n```py\nx = *a\n\ny\n```\ntwo", [["one"], ["x", "=", "*a"], ["y"], ["two"]]),
        ("~~~\nopen # end", [["open", "#", "end"]]),
    ],
)
def test_blocks_are_apart(text: str, expected: list[list[str]]) -> None:
    assert shown(text) == expected


def test_places() -> None:
    text = "# **Old** Marta\r\n\r\nAT&amp;T [fed](x) un*believ*able dogs"
    view = strip_markdown(text)
    found = {}
    for word in re.finditer(r"\S+", view.text):
        start, end = view.locate(*word.span())
        found[word[0]] = text[start:end]
    assert found == {
        "Old": "Old",
        "Marta": "Marta",
        "AT&T": "AT&amp;T",
        "fed": "fed",
        "unbelievable": "un*believ*able",
        "dogs": "dogs",
    }


MARKS = [
    "*", "**", "_", "`", "``", "[", "]", "](u)", "![", "\n", "\n\n", "# ", "- ", "1. ", "> ", "|", "|-|", "```",
    "~~", "<b>", "</b>", "<!--", "-->", "&amp;", "\\", "---", "===", "[^1]", "[^1]: ", "é", "word", " ", "\r\n",
    "    ",
]  # fmt: skip


@given(st.lists(st.sampled_from(MARKS), max_size=30).map("".join))
def test_any_mixture_keeps_order_and_places(text: str) -> None:
    view = strip_markdown(text)
    stripped = view.text
    last = 0
    for at, sign in enumerate(stripped):
        start, end = view.locate(at, at + 1)
        assert last <= start <= end <= len(text)
        assert sign.isspace() or sign in text[start:end] or text[start:end] == "&amp;"
        last = start
    letters = [sign for sign in stripped if sign in "éword"]
    assert len(letters) <= sum(sign in "éword" for sign in text)


@pytest.mark.parametrize(
    "piece", ["*", "*a ", "[", "[a](", "<a", "<!--", "|", "> ", "- ", "&a", "_*a", "](", '[](a "', "`"]
)
def test_strange_texts_take_linear_time(piece: str) -> None:
    """Quadratic time would take this test minutes."""
    text = piece * 50_000
    assert len(strip_markdown(text).text.strip()) <= len(text)
