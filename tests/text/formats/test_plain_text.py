"""Plain text files: one document each; what is no text says why."""

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
        (b"fine\nna\xc3\xafve caf\xc3\xa9 \xe4", 2, "not UTF-8 text; found 'ä.*cp1252"),  # damaged UTF-8
        (b"a\nb\0c", 2, "zero byte"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", 1, "not UTF-8"),
        (b"%PDF-1.7 x", 1, "this is PDF, not plain text"),
        (b'<?xml version="1.0"?><TEI>', 1, "this is XML, not plain text"),
    ],
)
def test_what_is_no_text(data: bytes, line: int, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read(data)
    assert caught.value.line == line
    assert caught.value.path == "dir/tale.txt"


@pytest.mark.parametrize(
    ("encoding", "mark", "name"),
    [
        ("utf-16", b"", "UTF-16"),
        ("utf-16-le", b"\xff\xfe", "UTF-16"),
        ("utf-16-le", b"", "UTF-16"),
        ("utf-16-be", b"", "UTF-16"),
        ("cp1252", b"", "Windows-1252"),
    ],
)
@pytest.mark.parametrize(
    "text", ["“It’s asleep – at last,” said Märta. She fed the dog and went to the café.\r\n", "Bob ran.\n"]
)
def test_texts_of_windows_are_read_and_said(encoding: str, mark: bytes, name: str, text: str) -> None:
    if text.isascii() and encoding == "cp1252":
        return  # the same bytes as UTF-8
    text *= 3
    oddities: list[Oddity] = []
    (document,) = read(mark + text.encode(encoding), oddities)
    assert document.text == text
    assert [oddity.message for oddity in oddities] == [
        f"this is {name} text, not UTF-8, and it was read as that"
    ]


def test_a_text_may_begin_with_a_sign(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("<Ann> I saw Bo. 1 <p 2.\n")
    assert [len(document.sentences) > 0 for document in read_documents(tmp_path / "b.txt")] == [True]
