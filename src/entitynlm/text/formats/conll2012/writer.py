"""The writer of CoNLL-2012; ``conll2012`` says what becomes of what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count
from typing import IO, Any

from entitynlm.text.document import Document
from entitynlm.text.formats.bracketed import assign_layers
from entitynlm.text.formats.conll2012.reader import COLUMNS, blank_parse, is_number, make_id

_WHITESPACE = re.compile(r"\s")
_PLAIN_NUMBER = re.compile(r"(?:0|[1-9][0-9]*)\Z")


def write(documents: Iterable[Document], stream: IO[Any]) -> None:
    """Write documents one by one, each as a part with a name."""
    for document in documents:
        stream.writelines(_render(document))


def _render(document: Document) -> Iterator[str]:
    name, part = _find_header(document)
    cells, same_entity = _make_cells(document)
    for number, original in same_entity:
        yield f"#entity {number} = {original}\n"
    yield f"#begin document ({name});{f' part {part}' if part else ''}\n"
    words = [_tidy(token) for token in document.tokens]
    columns = _make_columns(document)
    start_of_row = f"{_tidy(name)}\t{part.lstrip('0') or '0'}"
    for start, end in document.sentences:
        arguments = _make_arguments(document, start, end)
        for index in range(start, end):
            yield (
                "\t".join(
                    (
                        start_of_row,
                        str(index - start),
                        words[index],
                        *(column[index] for column in columns),
                        *arguments[index - start],
                        cells.get(index, "-"),
                    )
                )
                + "\n"
            )
        yield "\n"
    yield "#end document\n"


def _find_header(document: Document) -> tuple[str, str]:
    """Name and part as they were read, if the id still tells of them; else the id is the name of a single part."""
    name, part = _one_line(document.meta.get("name", "")), document.meta.get("part", "")
    known = make_id(name, part)
    if (
        name
        and (not part or is_number(part))
        and (document.id == known or document.id.startswith(f"{known}~"))
    ):
        return name, part
    return _one_line(document.id), "000"


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n]", " ", text)


def _tidy(text: str) -> str:
    return _WHITESPACE.sub("_", text)


def _make_columns(document: Document) -> list[list[str]]:
    columns = []
    for name in COLUMNS:
        values = document.columns.get(name)
        if values is not None and any(value is not None for value in values):
            columns.append([_tidy(value) if value else "-" for value in values])
        elif name == "parse":
            columns.append(blank_parse(document.sentences))
        else:
            columns.append([{"pos": "XX", "ner": "*"}.get(name, "-")] * len(document))
    return columns


def _make_arguments(document: Document, start: int, end: int) -> list[list[str]]:
    """The predicate columns of one sentence; every row has as many as the richest."""
    rows = [value.split() if value else [] for value in document.column("args")[start:end]]
    width = max(len(row) for row in rows)
    return [row + ["*" if row else "-"] * (width - len(row)) for row in rows]


def _make_cells(document: Document) -> tuple[dict[int, str], list[tuple[str, str]]]:
    """The coreference cell of each token that has one, and the numbers that stand for the same entity as another."""
    taken = {entity.id for entity in document.entities if _PLAIN_NUMBER.match(entity.id)}
    free = (number for number in map(str, count()) if number not in taken)
    same_entity: list[tuple[str, str]] = []
    opening: dict[int, list[str]] = {}
    closing: dict[int, list[tuple[int, str]]] = {}
    labels: dict[tuple[str, int], str] = {}
    layers = {
        entity.id: iter(assign_layers([m.span for m in entity.mentions])) for entity in document.entities
    }
    for mention in document.mentions:
        layer = next(layers[mention.entity])
        if (mention.entity, 0) not in labels:
            labels[mention.entity, 0] = mention.entity if mention.entity in taken else next(free)
        if (mention.entity, layer) not in labels:
            labels[mention.entity, layer] = next(free)
            same_entity.append((labels[mention.entity, layer], labels[mention.entity, 0]))
        label = labels[mention.entity, layer]
        if len(mention) == 1:
            opening.setdefault(mention.start, []).append(f"({label})")
        else:
            opening.setdefault(mention.start, []).append(f"({label}")
            closing.setdefault(mention.end - 1, []).append((-mention.start, f"{label})"))
    cells: dict[int, str] = {}
    for token in opening.keys() | closing.keys():
        closed = [text for _, text in sorted(closing.get(token, ()))]
        cells[token] = "|".join(closed + opening.get(token, []))
    return cells, same_entity
