"""The writer of CoNLL-U with coreference; columns without a place of their own become MISC items."""

from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

from entitynlm.text.document import Document
from entitynlm.text.formats.conllu.entities import choose_header, escape, make_cells
from entitynlm.text.formats.conllu.reader import FIELD_COLUMNS, SENTENCE_COLUMNS
from entitynlm.text.formats.conllu.spacing import TEXT_KEYS, TextNotes, describe_text, escape_misc, flatten

_OWN_PLACE = frozenset((*FIELD_COLUMNS, "mwt", "Entity", *TEXT_KEYS))


def write(documents: Iterable[Document], stream: IO[Any]) -> None:
    for document in documents:
        stream.writelines(_render(document))


def _render(document: Document) -> Iterator[str]:
    forms = [flatten(token) for token in document.tokens]
    header = choose_header(document)
    notes = describe_text(document, forms)
    commented = [name for name in SENTENCE_COLUMNS if _fits_comments(document, name)]
    elsewhere = _OWN_PLACE.union(commented)
    columns = document.columns.items()
    extra = [name for name, values in columns if name not in elsewhere and any(v is not None for v in values)]
    yield from _render_document_comments(document, header, extra)
    misc = _make_misc(document, header, notes, extra)
    fields = [[flatten(value) if value else "_" for value in document.column(name)] for name in FIELD_COLUMNS]
    for number, (start, end) in enumerate(document.sentences, start=1):
        yield from _render_sentence_comments(document, number, notes, commented)
        for token in range(start, end):
            if notes is not None and token in notes.groups:
                group = notes.groups[token]
                together = "|".join(group.misc) or "_"
                place = f"{token - start + 1}-{group.end - start}"
                yield f"{place}\t{group.surface}\t_\t_\t_\t_\t_\t_\t_\t{together}\n"
            *before, deprel = (column[token] for column in fields)
            above = document.heads[token] if document.heads is not None else None
            head = "_" if above is None else str(above - start + 1) if start <= above < end else "0"
            yield (
                "\t".join((str(token - start + 1), forms[token], *before, head, deprel, "_", misc[token]))
                + "\n"
            )
        yield "\n"
    if not document.sentences:
        yield "\n"


def _render_document_comments(
    document: Document, header: Sequence[str], extra: Sequence[str]
) -> Iterator[str]:
    yield f"# newdoc id = {flatten(document.id)}\n"
    yield f"# global.Entity = {'-'.join(header)}\n"
    if extra:
        yield f"# entitynlm.columns = {' '.join(_quote(name) for name in extra)}\n"
    for key, value in document.meta.items():
        if key != "global.Entity":
            yield f"# meta::{flatten(key).replace('=', '_')} = {flatten(value)}\n"


def _render_sentence_comments(
    document: Document, number: int, notes: TextNotes | None, commented: Sequence[str]
) -> Iterator[str]:
    first = document.sentences[number - 1][0]
    if notes is not None and first in notes.paragraphs:
        yield "# newpar\n"
    values = {name: document.columns[name][first] for name in commented}
    yield f"# sent_id = {values.pop('sent_id', None) or f'{flatten(document.id)}-{number}'}\n"
    for name, value in values.items():
        if value is not None:
            yield f"# {name} = {value}\n"
    if notes is not None:
        yield f"# text = {notes.sentence_texts[number - 1]}\n"


def _fits_comments(document: Document, name: str) -> bool:
    """Tell whether a column has one value per sentence, and all of them fit on the line of a comment."""
    values = document.columns.get(name)
    if values is None or any(len(set(values[start:end])) > 1 for start, end in document.sentences):
        return False
    return all(value is None or (value and value == flatten(value).strip()) for value in values)


def _quote(name: str) -> str:
    return escape(name).replace("=", "%3D")


def _make_misc(
    document: Document, header: Sequence[str], notes: TextNotes | None, extra: Sequence[str]
) -> list[str]:
    """The MISC column: entity brackets, extra columns, notes on the text."""
    cells = make_cells(document, header)
    columns = [(_quote(name), document.columns[name]) for name in extra]
    misc = []
    for token in range(len(document)):
        items = [f"Entity={cells[token]}"] if token in cells else []
        found = ((name, values[token]) for name, values in columns)
        items += [f"{name}={escape_misc(value)}" for name, value in found if value is not None]
        misc.append("|".join(items + (notes.misc[token] if notes is not None else [])) or "_")
    return misc
