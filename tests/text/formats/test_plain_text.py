"""Plain text and Markdown files: one document, or parts of a long text; what is no text says why."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entitynlm.errors import ConfigError, DataError
from entitynlm.text.document import Document
from entitynlm.text.formats.base import Oddity, Source
from entitynlm.text.formats.registry import get_format, read_documents

FORM = get_format("text")


def read(
    data: str | bytes, oddities: list[Oddity] | None = None, path: str = "dir/tale.txt", **options: object
) -> list[Document]:
    raw = data.encode() if isinstance(data, str) else data
    on_oddity = (lambda oddity: None) if oddities is None else oddities.append
    return list(FORM.read(Source(path, io.BytesIO(raw), on_oddity, dict(options))))


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


def test_markdown_by_name_or_by_option() -> None:
    text = "# Old *Marta*\n\n- fed [the dog](http://x.y)\n- slept\n"
    (document,) = read(text, path="dir/tale.md")
    assert document.tokens == ("Old", "Marta", "fed", "the", "dog", "slept")
    assert document.sentences == ((0, 2), (2, 5), (5, 6))
    assert document.text == text
    assert document.words(3, 5) == "the dog"
    assert read(text, markdown="yes") == read(text, path="tale.md") == read(text, path="tale.md.gz")
    assert read(text, path="tale.md", markdown="no")[0].tokens[0] == "#"
    with pytest.raises(ConfigError, match="markdown"):
        read(text, markdown="perhaps")


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from(["Marta slept.", " ", "\n", "\n\n", "\r\n\r\n", "x" * 700, "。"]), max_size=40)
)
def test_parts_add_up_to_the_file(pieces: list[str]) -> None:
    text = "".join(pieces) + "end"
    parts = read(text, part_size=1000)
    assert all(len(part.text or "") <= 1000 for part in parts)
    for part in parts:
        assert part.text is not None
        start = int(part.meta.get("text_start", 0))
        assert text[start : start + len(part.text)] == part.text
        assert part.offsets is not None
        assert [part.text[a:b] for a, b in part.offsets] == list(part.tokens)
    if len(text) <= 1000:
        assert [part.id for part in parts] == ["tale"]
    kept = "".join(token for part in parts for token in part.tokens)
    assert kept == "".join(text.split())


def test_parts_are_cut_between_paragraphs() -> None:
    paragraph = "Marta slept. " * 20 + "\n\n"
    parts = read(paragraph * 10, part_size=1000)
    assert [part.id for part in parts] == ["tale#1", "tale#2", "tale#3", "tale#4"]
    assert all(len(part.text or "") % len(paragraph) == 0 for part in parts)
    assert [part.meta["part"] for part in parts] == ["1", "2", "3", "4"]


@pytest.mark.parametrize("size", [0, -1, "many", 1.5, "9" * 30])
def test_part_sizes_that_make_no_sense(size: object) -> None:
    with pytest.raises(ConfigError, match="part_size"):
        read("text", part_size=size)


def test_a_long_text_is_read_a_part_at_a_time() -> None:
    """The first part comes before the rest of the stream is touched."""

    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            words = (b"Marta slept well.\n\n" * (len(buffer) // 19 + 1))[: len(buffer)]
            buffer[:] = words
            return len(words)

    endless = Source("endless.txt", io.BufferedReader(Endless()), options={"part_size": 5000})
    reader = FORM.read(endless)
    assert [next(reader).id for _ in range(3)] == ["endless#1", "endless#2", "endless#3"]


@pytest.mark.slow
def test_five_megabytes_without_a_line_break() -> None:
    (first, second) = read("Marta fed the old dog at 5 p.m. and “it” slept. " * 100_000)
    assert len(first) + len(second) == 1_400_000


@pytest.mark.slow
@pytest.mark.corpora
def test_a_novel(corpora_path: Path) -> None:
    path = corpora_path / "novels/158_emma.txt"
    (document,) = read_documents(path)
    assert document.text == path.read_bytes().decode()
    assert document.offsets is not None
    assert all(
        document.text[a:b] == token for token, (a, b) in zip(document.tokens, document.offsets, strict=True)
    )
    lengths = sorted(end - start for start, end in document.sentences)
    assert 15 < lengths[len(lengths) // 2] < 30


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


def test_markdown_may_begin_with_a_tag_and_a_text_with_a_sign(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("<p align=center>Ann</p>\n\nAnn saw Bo.\n")
    (tmp_path / "b.txt").write_text("<Ann> I saw Bo. 1 <p 2.\n")
    for name in ("a.md", "b.txt"):
        assert [len(document.sentences) > 0 for document in read_documents(tmp_path / name)] == [True]
