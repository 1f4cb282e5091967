"""LitBank's quotations with their speakers, beside its coreference: ``*.ann`` with lines QUOTE and ATTRIB (not brat's)."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from entitynlm.errors import DataError
from entitynlm.text.corpora.corpus import open_corpus
from entitynlm.text.document import Document, Quotation
from entitynlm.text.formats.registry import read_documents

QUOTATION_LINES = (
    "QUOTE<tab>id<tab>sentence<tab>token<tab>sentence<tab>token<tab>text, or ATTRIB<tab>id<tab>speaker"
)


def read_quoted_documents(litbank: Path, quotations: Path, split: str) -> Iterator[Document]:
    """Read the documents of a split with the typed mentions of LitBank's standoff files, and its quotations.

    The raw text is left out: its lines are sentences, where people expect paragraphs.
    """
    for path in open_corpus(litbank).files(split):
        (document,) = read_documents(litbank / "brat" / f"{path.stem}.ann")
        found = read_quotations(quotations / f"{path.stem}.ann", document)
        yield dataclasses.replace(document, text=None, offsets=None, quotations=tuple(found))


def read_quotations(path: Path, document: Document) -> list[Quotation]:
    """Read the quotations of a file; sentences and tokens are counted from 0, ends are the last token."""
    if not path.is_file():
        raise DataError(
            "there are no quotations of this document", path=path, hint="Name LitBank's folder quotations"
        )
    spans: dict[str, tuple[int, int]] = {}
    speakers: dict[str, str] = {}
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        kind, *fields = line.split("\t")
        try:
            if kind == "QUOTE":
                name, first, token, last, end = fields[:5]
                start = document.sentences[int(first)][0] + int(token)
                spans[name] = (start, document.sentences[int(last)][0] + int(end) + 1)
            elif kind == "ATTRIB":
                name, speakers[name] = fields[:2]
            elif line.strip():
                raise ValueError
        except (ValueError, IndexError):
            raise DataError(
                "this is no quotation", path=path, line=number, found=line[:80], expected=QUOTATION_LINES
            ) from None
    return [Quotation(*span, speakers.get(name)) for name, span in spans.items()]
