"""The writer of CoNLL-U with coreference."""

import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

from entitynlm.text.document import Document
from entitynlm.text.formats.conllu.entities import DEFAULT_HEADER, make_cells
from entitynlm.text.formats.conllu.reader import FIELD_COLUMNS
from entitynlm.text.formats.conllu.spacing import note_spaces


def write(documents: Iterable[Document], stream: IO[Any]) -> None:
    for document in documents:
        stream.writelines(_render(document))


def flatten(text: str) -> str:
    """Replace tabs and line breaks, which would end a field, by blanks."""
    return re.sub(r"[\t\n\r]", " ", text)


def _render(document: Document) -> Iterator[str]:
    yield f"# newdoc id = {flatten(document.id)}\n"
    yield f"# global.Entity = {DEFAULT_HEADER}\n"
    for key, value in document.meta.items():
        yield f"# meta::{flatten(key).replace('=', '_')} = {flatten(value)}\n"
    cells = make_cells(document)
    notes, paragraphs = note_spaces(document)
    fields = [[flatten(value) if value else "_" for value in document.column(name)] for name in FIELD_COLUMNS]
    for number, (start, end) in enumerate(document.sentences, start=1):
        if start in paragraphs:
            yield "# newpar\n"
        yield f"# sent_id = {flatten(document.id)}-{number}\n"
        if speaker := document.column("speaker")[start]:
            yield f"# speaker = {flatten(speaker)}\n"
        if document.text is not None and document.offsets is not None:
            yield f"# text = {' '.join(document.words(start, end).split())}\n"
        for token in range(start, end):
            *before, deprel = (column[token] for column in fields)
            above = document.heads[token] if document.heads is not None else None
            head = "_" if above is None else str(above - start + 1) if start <= above < end else "0"
            entity = [f"Entity={cells[token]}"] if token in cells else []
            misc = "|".join(entity + notes[token]) or "_"
            row = (str(token - start + 1), flatten(document.tokens[token]), *before, head, deprel, "_", misc)
            yield "\t".join(row) + "\n"
        yield "\n"
    if not document.sentences:
        yield "\n"
