"""The writer of brat collections: ``name.txt``, ``name.ann``, brat's settings, and ``name.tokens``.

The last is the document as JSON, which brat ignores; by it the reader restores what was not edited in brat.
"""

import re
import tempfile
from collections.abc import Iterable
from itertools import count, pairwise
from pathlib import Path
from typing import NamedTuple

from entitynlm.errors import DataError
from entitynlm.files import move_into_place, write_text
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.segmentation import join_words

SIDECAR = ".tokens"  # JSON, but not called so: nothing that looks for data should take it for some
UNTYPED = "Mention"
QUOTATION, SPEAKER, ADDRESSEE = "Quotation", "Speaker", "Addressee"
SETTINGS = Path(__file__).parents[3] / "resources" / "brat" / "annotation.conf"


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
                settings = SETTINGS.read_text("utf-8").format(labels="\n".join(sorted(labels or {UNTYPED})))
                write_text(made / "annotation.conf", settings)
            folder.mkdir(exist_ok=True)
            move_into_place(made, folder)
    except OSError as error:
        raise DataError(f"can't be written ({error.strerror or error})", path=folder) from error


def _choose_name(identifier: str, names: set[str]) -> str:
    stem = re.sub(r"[^\w.-]+", "_", identifier).strip(".")[:100] or "document"
    numbered = (f"{stem}-{number}" if number > 1 else stem for number in count(1))
    name = next(name for name in numbered if name.casefold() not in names)
    names.add(name.casefold())
    return name


class WrittenAnnotation(NamedTuple):
    """The text annotation of a mention or quotation."""

    label: str
    ranges: tuple[Span, ...]
    mention: Mention


def make_annotations(document: Document) -> dict[str, WrittenAnnotation]:
    """Make the text annotations T1, T2, … of all mentions, then of all quotations."""
    text, offsets = choose_text(document)
    made: dict[str, WrittenAnnotation] = {}
    for mention in document.mentions:
        kind = dict(mention.attributes).get("label") or document.entity_types.get(mention.entity) or UNTYPED
        label = re.sub(r"[^A-Za-z0-9_-]", "_", kind)
        ranges = _find_ranges(mention.span, text, offsets)
        made[f"T{len(made) + 1}"] = WrittenAnnotation(label, ranges, mention)
    for quotation in document.quotations:
        ranges = _find_ranges(quotation.span, text, offsets)
        span = Mention(*quotation.span, QUOTATION)
        made[f"T{len(made) + 1}"] = WrittenAnnotation(QUOTATION, ranges, span)
    return made


def _write_document(document: Document, base: Path) -> set[str]:
    """Write the three files of a document and give the labels that were used."""
    text, _ = choose_text(document)
    made = make_annotations(document)
    lines: list[str] = []
    for key, each in made.items():
        spelled = ";".join(f"{start} {end}" for start, end in each.ranges)
        surface = " ".join(re.sub(r"\s", " ", text[start:end]) for start, end in each.ranges)
        lines.append(f"{key}\t{each.label} {spelled}\t{surface}\n")
    keys = list(made)
    members: dict[str, list[str]] = {}
    for key, mention in zip(keys, document.mentions, strict=False):
        members.setdefault(mention.entity, []).append(key)
    relations: list[str] = []
    for own, quotation in zip(keys[len(document.mentions) :], document.quotations, strict=True):
        for role, who in ((SPEAKER, quotation.speaker), (ADDRESSEE, quotation.addressee)):
            if who is not None:
                near = min((abs(made[key].mention.start - quotation.end), key) for key in members[who])[1]
                relations.append(f"{role} Arg1:{own} Arg2:{near}")
    for chain in members.values():
        relations += [f"Coref Arg1:{later} Arg2:{earlier}" for earlier, later in pairwise(chain)]
    lines += [f"R{number}\t{relation}\n" for number, relation in enumerate(relations, start=1)]
    write_text(base.with_name(base.name + ".txt"), text)
    write_text(base.with_name(base.name + ".ann"), "".join(lines))
    write_text(base.with_name(base.name + SIDECAR), document.to_json() + "\n")
    return {each.label for each in made.values()}


def choose_text(document: Document) -> tuple[str, tuple[Span, ...]]:
    """Take the raw text where every word has a place in it, else the words with spaces, a sentence a line."""
    if document.text is not None and document.offsets and all(start < end for start, end in document.offsets):
        return document.text, document.offsets
    words = [re.sub(r"\s", " ", token) for token in document.tokens]
    text = "".join(" ".join(words[start:end]) + "\n" for start, end in document.sentences)
    return text, join_words(words)[1]


def _find_ranges(span: Span, text: str, offsets: tuple[Span, ...]) -> tuple[Span, ...]:
    """Find the characters of a mention, parted at line ends, which brat's spans may not contain."""
    first, last = offsets[span[0]][0], offsets[span[1] - 1][1]
    pieces = [piece for piece in re.finditer(r"[^\r\n]+", text[first:last]) if piece[0].strip()]
    return tuple((first + piece.start(), first + piece.end()) for piece in pieces) or ((first, last),)
