"""The reader of brat standoff: annotations in ``name.ann`` over the characters of ``name.txt`` beside it.

brat has no words. With the option ``tokens="whitespace"`` words stand between white space and a line is a sentence; with
``tokens="text"`` the text is segmented like plain text. The default is the first where the text looks tokenised (all
annotations begin and end at white space, and full stops and commas mostly stand alone), as LitBank's does. A file
``name.tokens`` from our writer has the words themselves.

A mention that cuts a word is read as the whole word and reported: word boundaries must not depend on the annotation.

Two annotation schemes are known. In the usual one every ``T`` line is a mention with its type as label, and relations and
equivalences with a name like ``Coref`` join mentions. In LitBank's a span has two ``T`` lines, one with mention and entity type
(``PROP_PER``) and one with its chain (``Marta-3``); relations there (``cop``, ``appos``) join nothing.
"""

from __future__ import annotations

import codecs
import dataclasses
import io
import itertools
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from entitynlm.errors import DataError
from entitynlm.files import STANDARD, open_binary
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.base import Source
from entitynlm.text.formats.brat.writer import SIDECAR, UNTYPED, hash_text
from entitynlm.text.formats.json_records import (
    OURS,
    JsonObject,
    restore_document,
    restore_mention,
    take,
    take_spans,
)
from entitynlm.text.segmentation import align_span, segment_text, segment_whitespace

LINE = re.compile(
    rb"(T\d+\t\S+ \d+ \d+[;\t]|R\d+\t\S+ \S+:[TE]\d+ |\*\t\S+ T\d+ |[AM]\d+\t\S+ [TER]\d+|#\d+\tA)"
)
TEXT_BOUND = re.compile(r"(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)")
RELATION = re.compile(r"(\S+) \S+?:(T\d+) \S+?:(T\d+)\s*")
COREFERENCE = re.compile(r"coref|anaph|ident|equiv", re.IGNORECASE)
KIND_AND_TYPE = re.compile(r"(?:PROP|NOM|PRON)_(.+)")
EXPECTED = "a line such as T1<tab>Person 10 15<tab>Marta, or R1, *, E1, A1, N1, #1"
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


@dataclass
class Annotations:
    """The mentions of a file, and the groups of their keys that are one entity."""

    mentions: dict[str, TextBound] = field(default_factory=dict)
    links: list[tuple[str, ...]] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)  # relations other than coreference, by name


@dataclass
class _Segmented:
    """A document without its mentions, the offsets of its words in the text, and the details of mentions by their key."""

    document: Document
    text: str
    offsets: Sequence[Span]
    details: dict[str, JsonObject]


def recognise(path: str, sample: bytes) -> bool:
    """The first line is an annotation; a file without any is brat's by its name only."""
    start = sample.removeprefix(b"\xef\xbb\xbf").lstrip()
    if LINE.match(start):
        return True
    return path.removesuffix(".gz").endswith(".ann") and not start


def read(source: Source) -> Iterator[Document]:
    """The one document of an ``.ann`` file and its text."""
    relations = [name for name in str(source.options.get("relations", "")).split(",") if name]
    how = source.choose("tokens", ("auto", "whitespace", "text"))
    found = _read_annotations(source, relations)
    readings = _read_text(_find_text(source))
    kept = _read_sidecar(source, readings) if how == "auto" else None
    if kept is None:
        _settle_types(found, source)
        text = max(readings, key=lambda text: sum(_agrees(each, text) for each in found.mentions.values()))
        document = _cut_text(source, text, how, found)
        kept = _Segmented(document, text, document.offsets or (), {})
    for each in found.mentions.values():
        _check_surface(each, kept.text, source)
    with source.naming():
        document = _add_mentions(kept, found, source)
    yield document


def _find_text(source: Source) -> Path:
    given = source.options.get("text")
    if given is not None:
        return Path(str(given))
    if source.path == STANDARD:
        hint = "Name the text by the option text"
        raise DataError("brat annotations from standard input have no text beside them", hint=hint)
    base = source.path.removesuffix(".gz").removesuffix(".ann")
    for path in (Path(f"{base}.txt"), Path(f"{base}.txt.gz")):
        if path.is_file():
            return path
    raise source.error("the text of these annotations is missing", expected=f"a file {base}.txt beside it")


def _read_text(path: Path) -> list[str]:
    """The text in the ways that annotations may count it: editors differ on byte-order marks and line ends."""
    with open_binary(path) as stream:
        data = b"".join(Source(str(path), stream).chunks())
    text = "".join(Source(str(path), io.BytesIO(data)).text_chunks())
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


def _cut_text(source: Source, text: str, how: str, found: Annotations) -> Document:
    cut = segment_whitespace(text)
    if how == "text" or (how == "auto" and not _is_tokenised(cut.offsets, cut.tokens, found)):
        cut = segment_text(text)
    return Document(source.stem, cut.tokens, cut.sentences, text=text, offsets=cut.offsets)


def _is_tokenised(offsets: Sequence[Span], words: Sequence[str], found: Annotations) -> bool:
    starts, ends = {start for start, _ in offsets}, {end for _, end in offsets}
    ranges = [range_ for each in found.mentions.values() for range_ in each.ranges]
    if any(start not in starts or end not in ends for start, end in ranges):
        return False
    alone = sum(word in ".,;:!?" for word in words)
    attached = sum(len(word) > 1 and word[-1] in ",;:!?" for word in words)
    return alone > attached


def _read_sidecar(source: Source, readings: list[str]) -> _Segmented | None:
    """What our writer kept of the document, if it is there and the text is still the same."""
    path = Path(source.path.removesuffix(".gz").removesuffix(".ann") + SIDECAR)
    if source.path == STANDARD or not path.is_file():
        return None
    try:
        record = take(json.loads(path.read_text("utf-8")), dict, "record")
        extras = take(record.get(OURS), dict, OURS)
        text = next((text for text in readings if hash_text(text) == extras.get("hash")), None)
        if text is None:
            source.report(f"the text was changed since {path.name} was written; it is cut into words anew")
            return None
        if extras.get("text_is_file"):
            extras["text"] = text
        document = restore_document(record, source.report)
        places = take_spans(extras.get("places"), "places")
        if len(places) != len(document):
            raise DataError(f"{len(places)} places for {len(document)} words")
        details = take(extras.get("annotations"), dict, "annotations")
        return _Segmented(
            document, text, places, {key: take(each, dict, key) for key, each in details.items()}
        )
    except (OSError, ValueError, RecursionError, DataError) as error:
        source.report(f"{path.name} is damaged and was left out ({error})")
        return None


def _add_mentions(kept: _Segmented, found: Annotations, source: Source) -> Document:
    mentions: dict[str, Mention] = {}
    for key, each in found.mentions.items():
        known = kept.details.get(key, {})
        name = take(known.get("entity", each.chain or key), str, "entity")
        ranges = [list(range_) for range_ in each.ranges]
        if known.get("ranges") == ranges and known.get("label") == each.label:
            (span,) = take_spans([known.get("span")], "span")
            mentions[key] = restore_mention(span, name, known)
            each.type = None if known.get("type") is None else take(known["type"], str, "type")
        elif parts := _find_parts(each, kept.offsets, source):
            split = tuple(parts) if len(parts) > 1 else ()
            attributes = (("label", each.label),) if each.label not in (each.type, UNTYPED) else ()
            mentions[key] = Mention(parts[0][0], parts[-1][1], name, split, attributes=attributes)
    order = sorted(mentions, key=lambda key: (mentions[key].start, -mentions[key].end))
    links = [tuple(key for key in link if key in mentions) for link in found.links]
    types: dict[str, str] = {}
    joined: list[Mention] = []
    used: set[str] = set()
    for keys in _join_links(order, (link for link in links if link)):
        own_names = (mentions[key].entity for key in keys)
        new_names = (f"{keys[0]}-{number}" for number in itertools.count(2))
        name = next(name for name in itertools.chain(own_names, keys, new_names) if name not in used)
        used.add(name)
        kinds = [kind for key in keys if (kind := found.mentions[key].type) not in (None, UNTYPED)]
        if kinds:
            types[name] = str(kinds[0])
        if len(set(kinds)) > 1:
            listed = ", ".join(sorted({str(kind) for kind in kinds}))
            source.report(f"entity {name!r} has mentions of the types {listed}; that of the first one counts")
        for key in keys:
            mentions[key] = dataclasses.replace(mentions[key], entity=name)
            joined.append(_keep_label(mentions[key], found.mentions[key], types.get(name)))
    return kept.document.with_mentions(joined, types)


def _keep_label(mention: Mention, each: TextBound, kind: str | None) -> Mention:
    """A mention whose type is not its entity's keeps it as an attribute."""
    if each.type in (None, UNTYPED, kind) or "label" in dict(mention.attributes):
        return mention
    return dataclasses.replace(mention, attributes=(*mention.attributes, ("label", each.label)))


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


# -- the lines of an .ann file --------------------------------------------------------------------------------


def _read_annotations(source: Source, relations: Collection[str] = ()) -> Annotations:
    """Read an ``.ann`` file; ``relations`` are names that mean coreference, instead of those that sound like it."""
    found = Annotations()
    links: list[tuple[int, str, tuple[str, ...]]] = []
    for number, line in source.lines():
        if not line.strip():
            continue
        key, _, rest = line.partition("\t")
        if re.fullmatch(r"T\d+", key):
            _add_text_bound(found, key, rest, source, number)
        elif re.fullmatch(r"\*|R\d+", key):
            links.append((number, *_parse_link(key, rest, source, number)))
        elif not re.fullmatch(r"[A-Z#]\d*", key):
            raise source.error("this is not a brat annotation", number, found=line[:80], expected=EXPECTED)
    for number, name, keys in links:  # at the end, because a link may stand before what it joins
        known = tuple(each for each in keys if each in found.mentions)
        if len(known) < len(keys):
            missing = ", ".join(each for each in keys if each not in found.mentions)
            source.report(f"the link {name!r} names {missing}, which there is not", number)
        if name in relations or (not relations and COREFERENCE.search(name)):
            found.links.append(known)
        else:
            found.ignored[name] += 1
    return found


def _join_links(keys: Iterable[str], links: Iterable[tuple[str, ...]]) -> list[list[str]]:
    """The classes of the equivalence that the links generate, in the order of their first members."""
    leader = {key: key for key in keys}

    def find(key: str) -> str:
        while leader[key] != key:
            leader[key] = leader[leader[key]]
            key = leader[key]
        return key

    for link in links:
        for key in link[1:]:
            leader[find(key)] = find(link[0])
    classes: dict[str, list[str]] = {}
    for key in leader:
        classes.setdefault(find(key), []).append(key)
    return list(classes.values())


def _add_text_bound(found: Annotations, key: str, rest: str, source: Source, number: int) -> None:
    head, _, surface = rest.partition("\t")
    line = f"{key}\t{rest}"[:80]
    match = TEXT_BOUND.fullmatch(head.strip())
    if match is None:
        message = "this text annotation has no label or no ranges of characters"
        raise source.error(message, number, found=line, expected=EXPECTED)
    numbers = [int(each) for each in re.split("[ ;]", match[2])]
    ranges = tuple(sorted(zip(numbers[::2], numbers[1::2], strict=True)))
    if any(start >= end for start, end in ranges):
        message = "a range of characters is empty or runs backwards"
        raise source.error(message, number, found=line, expected=EXPECTED)
    if key in found.mentions:
        source.report(f"{key} is given twice; the second one was left out", number)
        return
    found.mentions[key] = TextBound(key, match[1], ranges, surface, number)


def _parse_link(key: str, rest: str, source: Source, number: int) -> tuple[str, tuple[str, ...]]:
    if key == "*":
        name, *keys = rest.split() or [""]
        return name, tuple(keys)
    match = RELATION.fullmatch(rest)
    if match is None:
        source.report(f"the relation {key} does not join two text annotations and was left out", number)
        return rest.split(" ")[0] or key, ()
    return match[1], (match[2], match[3])


def _settle_types(found: Annotations, source: Source) -> None:
    """Find each mention's type in its label and, in LitBank's scheme, make one mention of a span's two lines."""
    kinds = {key: KIND_AND_TYPE.fullmatch(each.label) for key, each in found.mentions.items()}
    for key, each in found.mentions.items():
        kind = kinds[key]
        each.type = kind[1] if kind else each.label
    others = {key for key, kind in kinds.items() if kind is None}
    chained = all(CHAIN.fullmatch(found.mentions[key].label) for key in others)
    if chained and 0 < len(others) < len(kinds):
        _join_layers(found, others, source)
    elif found.ignored and not found.links:
        names = ", ".join(f"{name!r} ({count})" for name, count in sorted(found.ignored.items()))
        source.report(f"no relation was read as coreference; there are {names}, see the option relations")


def _join_layers(found: Annotations, chained: set[str], source: Source) -> None:
    by_ranges: dict[tuple[Span, ...], TextBound] = {}
    moved: dict[str, str] = {}
    for key in sorted(found.mentions, key=lambda key: key in chained):  # stable: lines with a type first
        each = found.mentions[key]
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
    found.mentions = {each.key: each for each in by_ranges.values()}
    found.links = [tuple(moved[key] for key in link) for link in found.links]
    chains: dict[str, list[str]] = {}
    for each in found.mentions.values():
        if each.chain is not None:
            chains.setdefault(each.chain, []).append(each.key)
    found.links += [tuple(keys) for keys in chains.values()]
