"""The writer of brat collections: ``name.txt``, ``name.ann``, brat's settings, and ``name.tokens``.

The last is JSON with what brat has no place for; brat ignores it, and by it the reader restores what was not edited in brat.
"""

import json
import re
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable
from itertools import count, pairwise
from pathlib import Path

from entitynlm.errors import DataError
from entitynlm.files import move_into_place, write_atomically
from entitynlm.text.document import Document, Entity, Mention, Span
from entitynlm.text.english import PRONOUNS
from entitynlm.text.formats.json_records import OURS, JsonObject, describe_mention, make_record
from entitynlm.text.segmentation import join_words

SIDECAR = ".tokens"  # JSON, but not called so: nothing that looks for data should take it for some
UNTYPED = "Mention"
QUOTATION, SPEAKER, ADDRESSEE = "Quotation", "Speaker", "Addressee"
NOTE = "entity: "
LONGEST_NOTE = 60
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
                _write(made / "annotation.conf", settings)
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


def _write(path: Path, text: str) -> None:
    with write_atomically(path) as stream:
        stream.write(text)


def hash_text(text: str) -> int:
    """A checksum by which the reader knows whether the text was changed since."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))


def _write_document(document: Document, base: Path) -> set[str]:
    """Write the three files of a document and give the labels that were used."""
    text, offsets = _choose_text(document)
    lines: list[str] = []
    described: dict[str, JsonObject] = {}
    members: dict[str, list[tuple[str, int]]] = {}  # keys and places of each entity's mentions

    def add_text_bound(mention: Mention, label: str, **details: object) -> str:
        key = f"T{len(described) + 1}"
        ranges = _find_ranges(mention, text, offsets)
        spelled = ";".join(f"{start} {end}" for start, end in ranges)
        surface = " ".join(re.sub(r"\s", " ", text[start:end]) for start, end in ranges)
        lines.append(f"{key}\t{label} {spelled}\t{surface}\n")
        spans = {"ranges": [list(each) for each in ranges], "span": list(mention.span)}
        described[key] = {"label": label, **spans, **details}
        return key

    for mention in document.mentions:
        type = document.entity_types.get(mention.entity)
        label = re.sub(r"[^A-Za-z0-9_-]", "_", dict(mention.attributes).get("label") or type or UNTYPED)
        kept = {} if type is None else {"type": type}
        key = add_text_bound(mention, label, entity=mention.entity, **kept, **describe_mention(mention))
        members.setdefault(mention.entity, []).append((key, mention.start))
    relations: list[str] = []
    for quotation in document.quotations:
        own = add_text_bound(Mention(*quotation.span, QUOTATION), QUOTATION)
        for role, who in ((SPEAKER, quotation.speaker), (ADDRESSEE, quotation.addressee)):
            if who is not None:
                near = min((abs(start - quotation.end), key) for key, start in members[who])[1]
                relations.append(f"{role} Arg1:{own} Arg2:{near}")
    for number, entity in enumerate(document.entities, start=1):
        keys = [key for key, _ in members[entity.id]]
        first = keys[0]
        described[first]["note"] = describe_entity(document, entity)
        lines.append(f"#{number}\tAnnotatorNotes {first}\t{described[first]['note']}\n")
        relations += [f"Coref Arg1:{later} Arg2:{earlier}" for earlier, later in pairwise(keys)]
    lines += [f"R{number}\t{relation}\n" for number, relation in enumerate(relations, start=1)]
    record = make_record(document.with_mentions(()).with_quotations(()))
    record[OURS] |= {
        "hash": hash_text(text),
        "places": [list(offset) for offset in offsets],
        "annotations": described,
        "text_is_file": document.text == text,
    }
    if document.text == text:
        del record[OURS]["text"]
    _write(base.with_name(base.name + ".txt"), text)
    _write(base.with_name(base.name + ".ann"), "".join(lines))
    _write(base.with_name(base.name + SIDECAR), json.dumps(record, ensure_ascii=False) + "\n")
    return {each["label"] for each in described.values()}


def describe_entity(document: Document, entity: Entity) -> str:
    """The note at an entity's first mention: its id and, in brackets, what it is called most often."""
    words = Counter(" ".join(document.words(*mention.span).split()) for mention in entity.mentions)
    named = {word: count for word, count in words.items() if word.lower() not in PRONOUNS} or words
    shown = re.sub(r"[\s()]+", " ", max(named, key=named.__getitem__))[:LONGEST_NOTE]
    return f"{NOTE}{' '.join(entity.id.split())} ({shown})"


def _choose_text(document: Document) -> tuple[str, tuple[Span, ...]]:
    """The raw text where every word has a place in it, else the words with spaces, a sentence a line."""
    if document.text is not None and document.offsets and all(start < end for start, end in document.offsets):
        return document.text, document.offsets
    words = [re.sub(r"\s", " ", token) for token in document.tokens]
    text = "".join(" ".join(words[start:end]) + "\n" for start, end in document.sentences)
    return text, join_words(words)[1]


def _find_ranges(mention: Mention, text: str, offsets: tuple[Span, ...]) -> list[Span]:
    """The characters of a mention, parted at line ends, which brat's spans may not contain."""
    ranges: list[Span] = []
    for start, end in mention.parts or (mention.span,):
        first = offsets[start][0]
        for piece in re.finditer(r"[^\r\n]+", text[first : offsets[end - 1][1]]):
            if piece[0].strip():
                ranges.append((first + piece.start(), first + piece.end()))
    return ranges or [(offsets[mention.start][0], offsets[mention.end - 1][1])]
