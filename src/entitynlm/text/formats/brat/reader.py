"""The reader of brat standoff: annotations in ``name.ann`` over the characters of ``name.txt`` (see ``docs/formats.md``).

Word boundaries never depend on the annotation: a mention that cuts a word is read as the whole word and reported.
"""

import codecs
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec import structs

from entitynlm.errors import DataError
from entitynlm.files import STANDARD, open_binary
from entitynlm.text.document import Document, Mention, Quotation, Span
from entitynlm.text.formats.base import Source
from entitynlm.text.formats.brat.writer import (
    ADDRESSEE,
    NOTE,
    QUOTATION,
    SIDECAR,
    SPEAKER,
    UNTYPED,
    hash_text,
)
from entitynlm.text.formats.json_records import OURS, JsonObject, restore_document, restore_mention, take
from entitynlm.text.segmentation import Segmentation, align_span, segment_text, segment_whitespace

LINE = re.compile(
    rb"(T\d+\t\S+ \d+ \d+[;\t]|R\d+\t\S+ \S+:[TE]\d+ |\*\t\S+ T\d+ |[AM]\d+\t\S+ [TER]\d+|#\d+\tA)"
)
TEXT_BOUND = re.compile(r"(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)")
RELATION = re.compile(r"(\S+) \S+?:(T\d+) \S+?:(T\d+)\s*")
COREFERENCE = re.compile(r"coref|anaph|ident|equiv", re.IGNORECASE)
KIND_AND_TYPE = re.compile(r"(?:PROP|NOM|PRON)_(.+)")
ANNOTATION_LINE = "a line such as T1<tab>Person 10 15<tab>Marta, or R1, *, E1, A1, N1, #1"
ANNOTATOR_NOTE = re.compile(r"#\d*\tAnnotatorNotes (T\d+)\t(.*)")
ENTITY_NOTE = re.compile(rf"{NOTE}(.*?\S)(?: \([^()]*\))?\s*")
ROLES = (SPEAKER, ADDRESSEE)
CHAIN = re.compile(r".+-\d+")


@dataclass
class TextBound:
    """A ``T`` line: a label on some ranges of characters."""

    key: str
    label: str
    ranges: tuple[Span, ...]
    surface: str
    line: int
    type: str | None = None
    chain: str | None = None


Link = tuple[str, ...]
"""Keys of mentions that are one entity."""


@dataclass
class _SegmentedText:
    """A document without its mentions, the offsets of its words, and what our writer kept of each mention."""

    document: Document
    text: str
    offsets: Sequence[Span]
    written: dict[str, JsonObject]


def recognise(path: str, sample: bytes) -> bool:
    """Recognise a file by its first line or its name; lines that are no annotation are told as errors."""
    start = sample.removeprefix(b"\xef\xbb\xbf").lstrip()
    return path.removesuffix(".gz").endswith(".ann") or bool(LINE.match(start))


def read(source: Source) -> Iterator[Document]:
    relations = [name for name in source.options.get("relations", "").split(",") if name]
    found, named, notes = _read_lines(source)
    quoted = {key: found.pop(key) for key, each in list(found.items()) if each.label == QUOTATION}
    participants = {(keys[0], name): keys[1] for name, keys in named if name in ROLES and len(keys) == 2}
    named = [(name, keys) for name, keys in named if name not in ROLES]
    links = [keys for name, keys in named if (name in relations if relations else COREFERENCE.search(name))]
    texts = _read_text(_find_text(source))
    words = _read_sidecar(source, texts)
    if words is not None:
        links += _close_gaps(words.written, found)
    else:
        if not _settle_chains(found, links, source) and named and not links:
            names = ", ".join(f"{n!r} ({count})" for n, count in sorted(Counter(n for n, _ in named).items()))
            source.report(f"no relation was read as coreference; there are {names}, see the option relations")
        text = max(texts, key=lambda text: sum(_agrees(each, text) for each in found.values()))
        cut = segment_whitespace(text)
        if not _is_tokenised(cut, found):
            cut = segment_text(text)
        document = Document(source.stem, cut.tokens, cut.sentences, text=text, offsets=cut.offsets)
        words = _SegmentedText(document, text, cut.offsets, {})
    for each in (*found.values(), *quoted.values()):
        _check_surface(each, words.text, source)
    with source.naming():
        document, entities = _add_mentions(words, found, links, notes, source)
        document = document.with_quotations(
            Quotation(*span, *(entities.get(participants.get((key, role), "")) for role in ROLES))
            for key, each in quoted.items()
            if (span := _find_span(key, each, words, source))
        )
    yield document


def _find_span(key: str, each: TextBound, words: _SegmentedText, source: Source) -> Span | None:
    """The words of a quotation."""
    known = words.written.get(key, {})
    if known.get("ranges") == [list(characters) for characters in each.ranges]:
        span: Span = take(known.get("span"), Span, "span")
        return span
    parts = _find_parts(each, words.offsets, source)
    return (parts[0][0], parts[-1][1]) if parts else None


def _find_text(source: Source) -> Path:
    if source.path == STANDARD or source.most is not None:
        message = "brat annotations that come without a folder have no text beside them"
        raise source.error(message, hint="Name the .ann file on the command line")
    base = source.path.removesuffix(".gz").removesuffix(".ann")
    for path in (Path(f"{base}.txt"), Path(f"{base}.txt.gz")):
        if path.is_file():
            return path
    raise source.error("the text of these annotations is missing", expected=f"a file {base}.txt beside it")


def _read_text(path: Path) -> list[str]:
    """The text in the ways that annotations may count it: editors differ on byte-order marks and line ends."""
    with open_binary(path) as stream:
        source = Source(str(path), stream)
        data = b"".join(source.chunks())
    text = source.decode(data)
    readings = [text]
    if data.startswith(codecs.BOM_UTF8):
        readings.append("\ufeff" + text)
    if "\r\n" in text:
        readings.append(text.replace("\r\n", "\n"))
    return readings


def _show(each: TextBound, text: str) -> str:
    return " ".join(text[start:end] for start, end in each.ranges)


def _agrees(each: TextBound, text: str) -> bool:
    return _show(each, text).split() == each.surface.split()


def _check_surface(each: TextBound, text: str, source: Source) -> None:
    if each.ranges[-1][1] > len(text):
        message = f"{each.key} ends at character {each.ranges[-1][1]}, but the text has {len(text)}"
        raise source.error(message, each.line, hint="The text and the annotations do not belong together")
    if each.surface and not _agrees(each, text):
        shown = _show(each, text)[:40]
        source.report(f"{each.key} says {each.surface[:40]!r} where the text has {shown!r}", each.line)


def _is_tokenised(cut: Segmentation, found: Mapping[str, TextBound]) -> bool:
    """Tell whether annotations begin and end at white space and punctuation mostly stands alone."""
    starts, ends = {start for start, _ in cut.offsets}, {end for _, end in cut.offsets}
    if any(start not in starts or end not in ends for each in found.values() for start, end in each.ranges):
        return False
    attached = sum(len(word) > 1 and word[-1] in ",;:!?" for word in cut.tokens)
    return sum(word in ".,;:!?" for word in cut.tokens) > attached


def _read_sidecar(source: Source, texts: list[str]) -> _SegmentedText | None:
    """Read what our writer kept of the document, if the file is there and the text was not changed."""
    path = Path(source.path.removesuffix(".gz").removesuffix(".ann") + SIDECAR)
    if source.path == STANDARD or not path.is_file():
        return None
    try:
        record = take(json.loads(path.read_text("utf-8")), dict, "record")
        extras = take(record.get(OURS), dict, OURS)
        text = next((text for text in texts if hash_text(text) == extras.get("hash")), None)
        if text is None:
            source.report(f"the text was changed since {path.name} was written; it is cut into words anew")
            return None
        if extras.get("text_is_file"):
            extras["text"] = text
        document = restore_document({**record, OURS: extras}, source.report)
        places = take(extras.get("places"), list[Span], "places")
        if len(places) != len(document):
            raise DataError(f"{len(places)} places for {len(document)} words")
        written = take(extras.get("annotations"), dict[str, JsonObject], "annotations")
        return _SegmentedText(document, text, places, written)
    except (OSError, ValueError, RecursionError, DataError) as error:
        source.report(f"{path.name} is damaged and was left out ({error})")
        return None


def _add_mentions(
    words: _SegmentedText,
    found: Mapping[str, TextBound],
    links: list[Link],
    notes: Mapping[str, str],
    source: Source,
) -> tuple[Document, dict[str, str]]:
    """The document with its mentions, and the entity of each text annotation; entities of one name in notes are joined."""
    mentions: dict[str, Mention] = {}
    noted: dict[str, list[str]] = {}
    for key, each in found.items():
        known = words.written.get(key, {})
        name = take(known.get("entity", each.chain or key), str, "entity")
        note = ENTITY_NOTE.fullmatch(notes.get(key, ""))
        if note and notes[key] != known.get("note"):
            name = note[1]
        if note:
            noted.setdefault(name, []).append(key)
        ranges = [list(characters) for characters in each.ranges]
        if (known.get("label"), known.get("ranges")) == (each.label, ranges):
            mentions[key] = restore_mention(take(known.get("span"), Span, "span"), name, known)
            each.type = take(known.get("type"), str | None, "type")
        elif parts := _find_parts(each, words.offsets, source):
            split = tuple(parts) if len(parts) > 1 else ()
            attributes = (("label", each.label),) if each.label not in (each.type, UNTYPED) else ()
            mentions[key] = Mention(parts[0][0], parts[-1][1], name, split, attributes=attributes)
    order = sorted(mentions, key=lambda key: (mentions[key].start, -mentions[key].end))
    types: dict[str, str] = {}
    joined: list[Mention] = []
    used: set[str] = set()
    entities: dict[str, str] = {}
    for keys in _join_links(order, [*links, *map(tuple, noted.values())]):
        own_names = (mentions[key].entity for key in keys)
        new_names = (f"{keys[0]}-{number}" for number in itertools.count(2))
        name = next(name for name in itertools.chain(own_names, keys, new_names) if name not in used)
        used.add(name)
        kinds = [kind for key in keys if (kind := found[key].type) not in (None, UNTYPED)]
        if kinds:
            types[name] = str(kinds[0])
        if len(set(kinds)) > 1:
            listed = ", ".join(sorted({str(kind) for kind in kinds}))
            source.report(f"entity {name!r} has mentions of the types {listed}; that of the first one counts")
        for key in keys:
            mention, each = mentions[key], found[key]
            if each.type not in (None, UNTYPED, types.get(name)) and "label" not in dict(mention.attributes):
                labelled = (*mention.attributes, ("label", each.label))  # a type that is not the entity's
                mention = structs.replace(mention, attributes=labelled)
            joined.append(structs.replace(mention, entity=name))
            entities[key] = name
    return words.document.with_mentions(joined, types), entities


def _find_parts(each: TextBound, offsets: Sequence[Span], source: Source) -> list[Span]:
    """The words of a text annotation; parts with no word between them are one."""
    parts: list[Span] = []
    for start, end in each.ranges:
        words, whole = align_span(offsets, start, end)
        if words is None:
            continue
        if not whole:
            source.report(f"{each.key} cuts a word; it is read as whole words", each.line)
        if parts and words[0] <= parts[-1][1]:
            words = (parts.pop()[0], words[1])
        parts.append(words)
    if not parts:
        source.report(f"{each.key} has no word in it and was left out", each.line)
    return parts


def _read_lines(
    source: Source,
) -> tuple[dict[str, TextBound], list[tuple[str, Link]], dict[str, str]]:
    """The mentions of an ``.ann`` file by their keys, its links, each with its name, and its notes on mentions."""
    notes: dict[str, str] = {}
    found: dict[str, TextBound] = {}
    links: list[tuple[int, str, Link]] = []
    for number, line in source.lines():
        if not line.strip():
            continue
        key, _, rest = line.partition("\t")
        if re.fullmatch(r"T\d+", key):
            each = _parse_text_bound(key, rest, source, number)
            if found.setdefault(key, each) is not each:
                source.report(f"{key} is given twice; the second one was left out", number)
        elif key == "*":
            name, *members = rest.split() or [""]
            links.append((number, name, tuple(members)))
        elif re.fullmatch(r"R\d+", key):
            if match := RELATION.fullmatch(rest):
                links.append((number, match[1], (match[2], match[3])))
            else:
                message = f"the relation {key} does not join two text annotations and was left out"
                source.report(message, number)
                links.append((number, rest.split(" ")[0] or key, ()))
        elif note := ANNOTATOR_NOTE.fullmatch(line):
            notes[note[1]] = note[2]
        elif not re.fullmatch(r"[A-Z#]\d*", key):
            raise source.error(
                "this is not a brat annotation", number, found=line[:80], expected=ANNOTATION_LINE
            )
    for number, name, keys in links:  # at the end, because a link may stand before what it joins
        if missing := ", ".join(each for each in keys if each not in found):
            source.report(f"the link {name!r} names {missing}, which there is not", number)
    named = [(name, tuple(key for key in keys if key in found)) for _, name, keys in links]
    return found, named, notes


def _parse_text_bound(key: str, rest: str, source: Source, number: int) -> TextBound:
    head, _, surface = rest.partition("\t")
    match = TEXT_BOUND.fullmatch(head.strip())
    numbers = [int(each) for each in re.split("[ ;]", match[2])] if match else []
    ranges = tuple(sorted(zip(numbers[::2], numbers[1::2], strict=True)))
    if match is None or any(start >= end for start, end in ranges):
        message = "this text annotation has no label or no ranges of characters"
        if match:
            message = "a range of characters is empty or runs backwards"
        raise source.error(message, number, found=f"{key}\t{rest}"[:80], expected=ANNOTATION_LINE)
    kind = KIND_AND_TYPE.fullmatch(match[1])
    return TextBound(key, match[1], ranges, surface, number, kind[1] if kind else match[1])


def _join_links(keys: Iterable[str], links: Iterable[Link]) -> list[list[str]]:
    """The classes of the equivalence that the links generate, in the order of their first members."""
    class_of = {key: {key} for key in keys}
    for link in links:
        for one, other in itertools.pairwise(key for key in link if key in class_of):
            small, large = sorted((class_of[one], class_of[other]), key=len)
            large |= small
            class_of.update(dict.fromkeys(small, large))
    order = {key: place for place, key in enumerate(class_of)}
    return [sorted(keys, key=order.__getitem__) for keys in {id(c): c for c in class_of.values()}.values()]


def _close_gaps(written: Mapping[str, JsonObject], found: Mapping[str, TextBound]) -> Iterator[Link]:
    """Link the neighbours of mentions that were deleted: brat deletes their relations with them, which held them together."""
    chains: dict[str, list[str]] = {}
    for key, known in written.items():
        if "entity" in known:
            chains.setdefault(str(known["entity"]), []).append(key)
    for keys in chains.values():
        kept = [place for place, key in enumerate(keys) if key in found]
        yield from ((keys[one], keys[next]) for one, next in itertools.pairwise(kept) if next > one + 1)


def _settle_chains(found: dict[str, TextBound], links: list[Link], source: Source) -> bool:
    """Tell whether this is LitBank's scheme, where a second line names the chain; if so, the two lines become one."""
    chained = {key for key, each in found.items() if not KIND_AND_TYPE.fullmatch(each.label)}
    if not 0 < len(chained) < len(found) or not all(CHAIN.fullmatch(found[key].label) for key in chained):
        return False
    by_ranges: dict[tuple[Span, ...], TextBound] = {}
    moved: dict[str, str] = {}
    chains: dict[str, list[str]] = {}
    for key in sorted(found, key=lambda key: key in chained):  # stable: lines with a type first
        each = found[key]
        known = by_ranges.setdefault(each.ranges, each)
        moved[key] = known.key
        if key not in chained:
            if known is not each:
                source.report(f"the span of {key} has a type already; the second one was left out", each.line)
        elif known.chain is not None:
            source.report(f"the span of {key} is in a chain already; the second one was left out", each.line)
        else:
            known.chain = each.label
            known.type = None if known is each else known.type
            chains.setdefault(each.label, []).append(known.key)
    links[:] = [*(tuple(moved[key] for key in link) for link in links), *map(tuple, chains.values())]
    for key, target in moved.items():
        if key != target:
            del found[key]
    return True
