"""Plain text files: one document each; what is no text says why."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from entitynlm.errors import DataError
from entitynlm.text.formats.base import Oddity
from entitynlm.text.formats.registry import get_format, read_documents
from support.format_samples import read_data

FORM = get_format("text")
read = partial(read_data, "text", path="dir/tale.txt")


def test_a_text() -> None:
    text = "Marta fed the dog.\r\n\r\n“It’s asleep!” she said. 😀\r\n"
    (document,) = read(b"\xef\xbb\xbf" + text.encode())
    assert document.id == "tale"
    assert document.text == text
    assert document.offsets is not None
    assert [text[start:end] for start, end in document.offsets] == list(document.tokens)
    assert [document.words(*sentence) for sentence in document.sentences][:2] == [
        "Marta fed the dog.",
        "“It’s asleep!” she said.",
    ]
    assert not document.meta


@pytest.mark.parametrize(
    ("data", "message"), [("", "empty"), (" \n\t\r\n", "no words"), (b"\xef\xbb\xbf", "empty")]
)
def test_a_text_without_words_is_none_and_is_reported(data: str | bytes, message: str) -> None:
    oddities: list[Oddity] = []
    assert read(data, oddities) == []
    assert [message in oddity.message for oddity in oddities] == [True]


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        ("Märta\nschläft\n".encode("latin-1"), 1, "not UTF-8 text; found 'ärta.*latin1"),
        (b"fine\nfine\nM\xe4rta", 3, "not UTF-8"),
        ("Marta".encode("utf-16"), 1, "UTF-16"),
        (b"a\nb\0c", 2, "zero byte"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", 1, "not UTF-8"),
        (b"cut off \xe2\x82", 1, "not UTF-8"),
    ],
)
def test_what_is_no_text(data: bytes, line: int, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(data)
    assert caught.value.line == line
    assert caught.value.path == "dir/tale.txt"


@pytest.mark.parametrize(
    ("start", "kind"),
    [("<!DOCTYPE html>\n<html>", "HTML"), ("\n <html lang='en'>", "HTML"), (r"{\rtf1 Ann", "RTF"),
     ("<p>Ann", "HTML"), ("<!-- page --><div class='a'>", "HTML"), ("\n<h1 id=x>", "HTML"), ("%PDF-1.7", "PDF")],
)  # fmt: skip
def test_pages_and_documents_are_not_read_as_text(start: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(f"{start} <p>Ann saw Bo.</p>")
    with pytest.raises(DataError, match=f"this is {kind}.*plain text"):
        list(read_documents(path))


def test_a_text_may_begin_with_a_sign(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("<Ann> I saw Bo. 1 <p 2.\n")
    assert [len(document.sentences) > 0 for document in read_documents(tmp_path / "b.txt")] == [True]
