"""E-books, documents and pages: real files made on the spot, read as their text with chapters at their headings."""

import io
import sys
import zipfile
from pathlib import Path

import pytest

from entitynlm.characters.chapters import find_chapters
from entitynlm.discourse.discourse import read_discourse
from entitynlm.errors import DataError, MissingExtraError
from entitynlm.text.document import Document
from entitynlm.text.formats.base import Oddity
from entitynlm.text.formats.registry import read_documents, recognise_format

pypandoc = pytest.importorskip("pypandoc")

LINES = " ".join(["Anna saw the mill and waited for Bert, who was late."] * 5)
BOOK = f"""
# The Two Mills

## Upstream

“Where is *he*?” asked Anna.[^1] She had:

- a lamp
- a rope

{LINES}

## The Weir

> Nobody came.

{LINES}

[^1]: A footnote.
"""
TEXT = f"""The Two Mills

Upstream

“Where is he?” asked Anna. She had:

a lamp

a rope

{LINES}

The Weir

Nobody came.

{LINES}
"""


def make_file(folder: Path, ending: str) -> Path:
    """The book as pandoc writes it."""
    path = folder / f"mills.{ending}"
    if ending == "md":
        path.write_text(BOOK, encoding="utf-8")
    else:
        options = ["--standalone", "--metadata=title:", "--quiet"]
        pypandoc.convert_text(BOOK, ending, "markdown", outputfile=str(path), extra_args=options)
    return path


def read_book(path: Path, oddities: list[Oddity] | None = None) -> Document:
    (document,) = read_documents(path, on_oddity=[].append if oddities is None else oddities.append)
    return document


@pytest.mark.parametrize("ending", ["epub", "docx", "odt", "rtf", "html", "md"])
def test_a_book_is_read_as_its_text_with_chapters_at_its_headings(tmp_path: Path, ending: str) -> None:
    document = read_book(make_file(tmp_path, ending))
    assert document.id == "mills"
    assert document.text is not None and document.offsets is not None
    text = document.text.replace("• ", "")  # RTF has lists only as bullets
    assert text.strip().split("\n\n") == TEXT.strip().split("\n\n")
    assert [document.text[a:b] for a, b in document.offsets] == list(document.tokens)
    chapters = find_chapters(read_discourse(document))
    assert [chapter.title for chapter in chapters] == ["Upstream", "The Weir"]


def test_rtf_is_read(tmp_path: Path) -> None:
    path = tmp_path / "letter.rtf"
    path.write_bytes(rb"{\rtf1\ansi Anna said \'93Come!\'94 and left.\par Bert came.\par}")
    assert read_book(path).text == "Anna said “Come!” and left.\n\nBert came.\n"


def test_pages_without_a_head_are_recognised() -> None:
    for page in (b"<p>Anna ran.</p>", b"<!DOCTYPE html>\n<html>", b'<?xml version="1.0"?>\n<html xmlns="x">'):
        assert recognise_format("-", page).name == "pandoc"
    assert recognise_format("-", b"<Anna> ran .").name == "text"


def test_nothing_that_a_page_names_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("a secret")
    path = tmp_path / "page.html"
    path.write_text(f'<p>Anna ran.</p><iframe src="{tmp_path}/secret.txt"></iframe><p>Bert too.</p>')
    assert "secret" not in (read_book(path).text or "")


def zip_files(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zip_files(a=b"x", b=b"y"), "a zip archive, and no e-book or text document; found 'a, b'"),
        (zip_files(a=b"x")[:40], "a damaged zip archive"),
        (
            zip_files(word__document=b"<", **{"word__document.xml": b"<broken"}),
            "pandoc can't convert this docx",
        ),
        (zip_files(mimetype=b"application/epub+zip"), "pandoc can't convert this epub"),
    ],
    ids=["zip", "damaged", "docx", "epub"],  # an archive has the time in its bytes
)
def test_what_is_no_document_gets_a_sentence(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "book.epub"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(read_documents(path))


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("entitynlm.text.formats.pandoc.MOST_IN_ARCHIVE", 1 << 20)
    path = tmp_path / "book.epub"
    path.write_bytes(zip_files(mimetype=b"application/epub+zip", big=bytes(2 << 20)))
    with pytest.raises(DataError, match="more than 1 MB when it is unpacked"):
        list(read_documents(path))


def test_the_message_names_the_extra_where_pandoc_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_file(tmp_path, "docx")
    monkeypatch.setitem(sys.modules, "pypandoc", None)
    with pytest.raises(MissingExtraError, match=r"reading docx files needs.*entitynlm\[documents\]"):
        list(read_documents(path))
