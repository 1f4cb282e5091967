"""LitBank's quotation files, read into the document that they belong to."""

from pathlib import Path

import pytest

from entitynlm.errors import DataError
from entitynlm.text.corpora.quotations import read_quotations, read_quoted_documents
from entitynlm.text.document import Document, Quotation

TEXT = "“ Stay , ” said Nora .\nIda left .\n“ Go ! ”\n“ Why ? ”\n"
QUOTES = "QUOTE\tQ1\t0\t0\t0\t3\t“ Stay , ”\nQUOTE\tQ2\t2\t0\t3\t3\t“ Go ! ” …\nATTRIB\tQ1\tNora-0\n"


def make_document() -> Document:
    lines = [line.split() for line in TEXT.splitlines()]
    return Document(
        "x", tuple(word for line in lines for word in line), ((0, 7), (7, 10), (10, 14), (14, 18))
    )


def test_places_are_counted_in_sentences_and_ends_are_inclusive(tmp_path: Path) -> None:
    path = tmp_path / "x.ann"
    path.write_text(QUOTES)
    assert read_quotations(path, make_document()) == [Quotation(0, 4, "Nora-0"), Quotation(10, 18)]


@pytest.mark.parametrize(
    "line", ["QUOTE\tQ1\t9\t0\t9\t3\tx", "QUOTE\tQ1\tx", "SPEAKER\tQ1\tNora", "ATTRIB\tQ1"]
)
def test_what_is_no_quotation_is_an_error_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.ann"
    path.write_text(f"{QUOTES}{line}\n")
    with pytest.raises(DataError, match="no quotation") as raised:
        read_quotations(path, make_document())
    assert raised.value.line == 4


def test_a_missing_file_says_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no quotations of this document"):
        read_quotations(tmp_path / "x.ann", make_document())


@pytest.mark.corpora
def test_every_speaker_of_litbank_is_one_of_its_entities(corpora_path: Path) -> None:
    documents = list(
        read_quoted_documents(corpora_path / "litbank", corpora_path / "litbank-quotations", "dev")
    )
    assert sum(len(document.quotations) for document in documents) == 172
    assert all(quotation.speaker for document in documents for quotation in document.quotations)
