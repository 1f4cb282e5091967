"""The writer of brat collections: ``name.txt``, ``name.ann``, brat's settings, and ``name.tokens``.

The last is the document as JSON, with all that brat has no place for; brat ignores it, the reader restores the document by it.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterable
from itertools import count, groupby
from pathlib import Path

from entitynlm.errors import DataError
from entitynlm.files import write_atomically
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.json_records import make_record
from entitynlm.text.segmentation import join_words

SIDECAR = ".tokens"  # JSON, but not called so: nothing that looks for data should take it for some
UNTYPED = "Mention"
SETTINGS = """\
# Made by entitynlm for the annotations in this folder.
[entities]
{labels}

[relations]
Coref\tArg1:<ENTITY>, Arg2:<ENTITY>, <REL-TYPE>:symmetric-transitive

[events]

[attributes]
"""

Annotation = tuple[Mention, str, tuple[Span, ...]]
"""A mention with its label and its ranges of characters."""


def write_folder(documents: Iterable[Document], folder: Path) -> None:
    """Write a collection; the files come into the folder only when all of them are made."""
    labels: set[str] = set()
    names: set[str] = set()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(".part", f".{folder.name}.", folder.parent) as temporary:
            made = Path(temporary)
            for document in documents:
                labels |= _write_document(document, made / _choose_name(document.id, names))
            if not (folder / "annotation.conf").exists():
                settings = SETTINGS.format(labels="\n".join(sorted(labels or {UNTYPED})))
                _write(made / "annotation.conf", settings)
            folder.mkdir(exist_ok=True)
            for file in sorted(made.iterdir()):
                shutil.move(file, folder / file.name)
    except OSError as error:
        raise DataError(f"can't be written ({error.strerror or error})", path=folder) from error


def _choose_name(identifier: str, names: set[str]) -> str:
    stem = re.sub(r"[^\w.-]+", "_", identifier).strip(".")[:100] or "document"
    numbered = (f"{stem}-{number}" if number > 1 else stem for number in count(1))
    name = next(name for name in numbered if name.casefold() not in names)
    names.add(name.casefold())
    return name


def _write(path: Path, text: str) -> None:
    with write_atomically(path) as stream:
        stream.write(text)


def _write_document(document: Document, base: Path) -> set[str]:
    """Write the three files of a document and give the labels that were used."""
    text, offsets = choose_text(document)
    annotations = annotate(document, text, offsets)
    lines: list[str] = []
    for _, group in groupby(annotations.items(), key=lambda item: item[1][0].entity):
        keys = []
        for key, (_, label, ranges) in group:
            spelled = ";".join(f"{start} {end}" for start, end in ranges)
            surface = " ".join(re.sub(r"\s", " ", text[start:end]) for start, end in ranges)
            lines.append(f"{key}\t{label} {spelled}\t{surface}\n")
            keys.append(key)
        if len(keys) > 1:
            lines.append(f"*\tCoref {' '.join(keys)}\n")
    _write(base.with_name(base.name + ".txt"), text)
    _write(base.with_name(base.name + ".ann"), "".join(lines))
    record = json.dumps(make_record(document), ensure_ascii=False)
    _write(base.with_name(base.name + SIDECAR), record + "\n")
    return {label for _, label, _ in annotations.values()}


def choose_text(document: Document) -> tuple[str, tuple[Span, ...]]:
    """The raw text where every word has a place in it, else the words with spaces, a sentence a line."""
    if document.text is not None and document.offsets and all(start < end for start, end in document.offsets):
        return document.text, document.offsets
    words = [re.sub(r"\s", " ", token) for token in document.tokens]
    text = "".join(" ".join(words[start:end]) + "\n" for start, end in document.sentences)
    return text, join_words(words)[1]


def annotate(document: Document, text: str, offsets: tuple[Span, ...]) -> dict[str, Annotation]:
    """The ``T`` lines of a document by their keys, entity by entity."""
    annotations: dict[str, Annotation] = {}
    for entity in document.entities:
        for mention in entity.mentions:
            label = dict(mention.attributes).get("label") or entity.type or UNTYPED
            ranges = tuple(_find_ranges(mention, text, offsets))
            key = f"T{len(annotations) + 1}"
            annotations[key] = (mention, re.sub(r"[^A-Za-z0-9_-]", "_", label), ranges)
    return annotations


def _find_ranges(mention: Mention, text: str, offsets: tuple[Span, ...]) -> list[Span]:
    """The characters of a mention, parted at line ends, which brat's spans may not contain."""
    ranges: list[Span] = []
    for start, end in mention.parts or (mention.span,):
        first = offsets[start][0]
        for piece in re.finditer(r"[^\r\n]+", text[first : offsets[end - 1][1]]):
            if piece[0].strip():
                ranges.append((first + piece.start(), first + piece.end()))
    return ranges or [(offsets[mention.start][0], offsets[mention.end - 1][1])]
