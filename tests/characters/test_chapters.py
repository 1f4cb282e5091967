"""Chapters are found by their headings, and a table of contents is none."""

from dataclasses import replace

import pytest

from entitynlm.api import as_document
from entitynlm.characters.chapters import Chapter, find_chapters
from entitynlm.discourse.discourse import read_discourse
from entitynlm.text.document import Document

BODY = "The rain fell on the mill and nobody came to the door. " * 6


def list_chapters(document: Document) -> list[Chapter]:
    return find_chapters(read_discourse(document))


@pytest.mark.parametrize(
    "headings",
    [
        ["CHAPTER I", "CHAPTER II", "CHAPTER III"],
        ["Chapter 1. The Mill", "Chapter 2. The Road", "Epilogue"],
        ["I.", "II.", "III."],
        ["1", "2", "3"],
        ["I. The Mill", "II. The Road", "III. The Sea"],
        ["Chapter the First", "Chapter the Second", "Chapter the Last"],
        ["PROLOGUE", "CHAPTER ONE", "CHAPTER TWENTY-TWO"],
    ],
    ids=lambda headings: headings[0],
)
def test_headings(headings: list[str]) -> None:
    contents = "\n\n".join(headings)
    text = f"A Book\n\n{contents}\n\n" + "\n\n".join(f"{heading}\n\n{BODY}" for heading in headings)
    if headings[0][0] in "I1" and "CHAPTER" not in headings[0]:
        text = text.removeprefix(f"A Book\n\n{contents}\n\n")  # numbers alone are found once, in order
    document = as_document(text)
    chapters = list_chapters(document)
    assert [chapter.title for chapter in chapters] == headings
    assert chapters[-1].end == len(document) and chapters[0].end == chapters[1].start


def test_a_text_without_headings_is_one_chapter() -> None:
    document = as_document(f"{BODY}\n\n{BODY}")
    assert [chapter.span for chapter in list_chapters(document)] == [(0, len(document))]
    assert list_chapters(Document("x", ())) == []


def test_a_chapter_that_is_talked_about_is_no_heading() -> None:
    document = as_document(f"{BODY}\n\nChapter 5 was the one that she liked best, because {BODY}\n\n{BODY}")
    assert len(list_chapters(document)) == 1


def test_headings_in_tokenised_text() -> None:
    body = tuple(BODY.split())
    tokens = ("CHAPTER", "I", *body, "CHAPTER", "II", *body)
    middle = 2 + len(body)
    document = Document("x", tokens, ((0, middle), (middle, len(tokens))))
    assert [chapter.span for chapter in list_chapters(document)] == [(0, middle), (middle, len(tokens))]


def test_short_sections_are_chapters_where_the_file_marks_their_headings() -> None:
    letters = [
        ("To Anna", "I am well, and the rain has fallen on the mill since you went."),
        ("To Bob", BODY),
    ]
    text = "My Letters\n\nby Tom\n\n" + "\n\n".join(f"{title}\n\n{body}" for title, body in letters)
    document = as_document(text)
    assert len(list_chapters(document)) == 1
    places = [text.index("My Letters"), *(text.index(title) for title, _ in letters)]
    starts = [
        next(n for n, (start, _) in enumerate(document.offsets or ()) if start == place) for place in places
    ]
    marked = replace(document, meta={"headings": " ".join(map(str, starts))})
    assert [chapter.title for chapter in list_chapters(marked)] == ["To Anna", "To Bob"]
