"""The reader of brat standoff: annotations in ``name.ann`` over the characters of ``name.txt`` (see ``docs/formats.md``).

Word boundaries never depend on the annotation: a mention that cuts a word is read as the whole word and reported.
"""

import itertools
import re
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
    QUOTATION,
    SIDECAR,
    SPEAKER,
    UNTYPED,
    WrittenAnnotation,
    choose_text,
    make_annotations,
)
from entitynlm.text.segmentation import Segmentation, align_span, segment_text, segment_whitespace

LINE = re.compile(
    rb"(T\d+\t\S+ \d+ \d+[;\t]|R\d+\t\S+ \S+:[TE]\d+ |\*\t\S+ T\d+ |[AM]\d+\t\S+ [TER]\d+|#\d+\tA)"
)
TEXT_BOUND = re.compile(r"(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)")
RELATION = re.compile(r"(\S+) \S+?:(T\d+) \S+?:(T\d+)\s*")
COREFERENCE = re.compile(r"coref|anaph|ident|equiv", re.IGNORECASE)
KIND_AND_TYPE = re.compile(r"(?:PROP|NOM|PRON)_(.+)")
ANNOTATION_LINE = "a line such as T1<tab>Person 10 15<tab>Marta, or R1, *, E1, A1, N1, #1"
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


def recognise(path: str, sample: bytes) -> bool:
    """Recognise a file by its first line or its name; lines that are no annotation are told as errors."""
    start = sample.removeprefix(b"\xef\xbb\xbf").lstrip()
    return path.removesuffix(".gz").endswith(".ann") or bool(LINE.match(start))


def read(source: Source) -> Iterator[Document]:
    found, named = _read_lines(source)
    quoted = {key: found.pop(key) for key, each in list(found.items()) if each.label == QUOTATION}
    participants = {(keys[0], name): keys[1] for name, keys in named if name in ROLES and len(keys) == 2}
    links = [keys for name, keys in named if COREFERENCE.search(name)]
    text = _read_text(source)
    document = _read_sidecar(source, text)
    written = {} if document is None else make_annotations(document)
    if document is not None:
        links += _close_gaps(written, found)
    else:
        others = sorted({name for name, _ in named if name not in ROLES})
        if not _settle_chains(found, links, source) and others and not links:
            source.report(f"no relation was read as coreference; there are {', '.join(others)}")
        cut = segment_whitespace(text)
        if not _is_tokenised(cut, found):
            cut = segment_text(text)
        document = Document(source.stem, cut.tokens, cut.sentences, text=text, offsets=cut.offsets)
    for each in (*found.values(), *quoted.values()):
        _check_surface(each, text, source)
    spans: dict[str, Mention] = {}  # entities are settled below
    _, offsets = choose_text(document)
    for key, each in (*found.items(), *quoted.items()):
        known = written.get(key)
        if known and (known.label, known.ranges) == (each.label, each.ranges):
            spans[key] = known.mention
            each.type = document.entity_types.get(known.mention.entity)
        elif span := _find_span(each, offsets, source):
            attributes = (("label", each.label),) if each.label not in (each.type, UNTYPED) else ()
            entity = known.mention.entity if known else each.chain or key
            spans[key] = Mention(*span, entity, attributes=attributes)
    with source.naming():
        mentions = {key: spans[key] for key in found if key in spans}
        joined, types = _join_mentions(mentions, found, links, source)
        entities = {key: mention.entity for key, mention in joined.items()}
        quotations = [
            Quotation(*spans[key].span, *(entities.get(participants.get((key, role), "")) for role in ROLES))
            for key in quoted
            if key in spans
        ]
        document = document.with_quotations(()).with_mentions(joined.values(), types)
        yield document.with_quotations(quotations)


def _read_text(source: Source) -> str:
    """Read the text beside the annotations."""
    if source.path == STANDARD or source.most is not None:
        message = "brat annotations that come without a folder have no text beside them"
        raise source.error(message, hint="Name the .ann file on the command line")
    base = source.path.removesuffix(".gz").removesuffix(".ann")
    for path in (f"{base}.txt", f"{base}.txt.gz"):
        if Path(path).is_file():
            with open_binary(path) as stream:
                beside = Source(path, stream, source.on_oddity)
                return beside.decode(b"".join(beside.chunks()))
    raise source.error("the text of these annotations is missing", expected=f"a file {base}.txt beside it")


def _check_surface(each: TextBound, text: str, source: Source) -> None:
    if each.ranges[-1][1] > len(text):
        message = f"{each.key} ends at character {each.ranges[-1][1]}, but the text has {len(text)}"
        raise source.error(message, each.line, hint="The text and the annotations do not belong together")
    shown = " ".join(text[start:end] for start, end in each.ranges)
    if each.surface and shown.split() != each.surface.split():
        source.report(f"{each.key} says {each.surface[:40]!r} where the text has {shown[:40]!r}", each.line)


def _is_tokenised(cut: Segmentation, found: Mapping[str, TextBound]) -> bool:
    """Tell whether annotations begin and end at white space and punctuation mostly stands alone."""
    starts, ends = {start for start, _ in cut.offsets}, {end for _, end in cut.offsets}
    if any(start not in starts or end not in ends for each in found.values() for start, end in each.ranges):
        return False
    attached = sum(len(word) > 1 and word[-1] in ",;:!?" for word in cut.tokens)
    return sum(word in ".,;:!?" for word in cut.tokens) > attached


def _read_sidecar(source: Source, text: str) -> Document | None:
    """Read the document that our writer kept, if the file is there and the text was not changed."""
    path = Path(source.path.removesuffix(".gz").removesuffix(".ann") + SIDECAR)
    if not path.is_file():
        return None
    try:
        document = Document.from_json(path.read_text("utf-8"))
    except (OSError, ValueError, DataError) as error:
        source.report(f"{path.name} is damaged and was left out ({error})")
        return None
    if choose_text(document)[0] == text:
        return document
    source.report(f"the text was changed since {path.name} was written; it is cut into words anew")
    return None


def _join_mentions(
    mentions: Mapping[str, Mention], found: Mapping[str, TextBound], links: list[Link], source: Source
) -> tuple[dict[str, Mention], dict[str, str]]:
    """Give linked mentions one entity, the first name among theirs that is not taken; and the types of entities."""
    order = sorted(mentions, key=lambda key: (mentions[key].start, -mentions[key].end))
    types: dict[str, str] = {}
    joined: dict[str, Mention] = {}
    used: set[str] = set()
    for keys in _join_links(order, links):
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
            joined[key] = structs.replace(mention, entity=name)
    return joined, types


def _find_span(each: TextBound, offsets: Sequence[Span], source: Source) -> Span | None:
    """Find the words from the first to the last character of an annotation."""
    words, whole = align_span(offsets, each.ranges[0][0], each.ranges[-1][1])
    if words is None:
        source.report(f"{each.key} has no word in it and was left out", each.line)
    elif not whole:
        source.report(f"{each.key} cuts a word; it is read as whole words", each.line)
    return words


def _read_lines(source: Source) -> tuple[dict[str, TextBound], list[tuple[str, Link]]]:
    """Read the mentions of an ``.ann`` file by their keys, and its links, each with its name."""
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
        elif not re.fullmatch(r"[A-Z#]\d*", key):
            raise source.error(
                "this is not a brat annotation", number, found=line[:80], expected=ANNOTATION_LINE
            )
    for number, name, keys in links:  # at the end, because a link may stand before what it joins
        if missing := ", ".join(each for each in keys if each not in found):
            source.report(f"the link {name!r} names {missing}, which there is not", number)
    named = [(name, tuple(key for key in keys if key in found)) for _, name, keys in links]
    return found, named


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
    """Join linked keys to classes, in the order of their first members; links are transitive."""
    class_of = {key: {key} for key in keys}
    for link in links:
        for one, other in itertools.pairwise(key for key in link if key in class_of):
            small, large = sorted((class_of[one], class_of[other]), key=len)
            large |= small
            class_of.update(dict.fromkeys(small, large))
    order = {key: place for place, key in enumerate(class_of)}
    return [sorted(keys, key=order.__getitem__) for keys in {id(c): c for c in class_of.values()}.values()]


def _close_gaps(written: Mapping[str, WrittenAnnotation], found: Mapping[str, TextBound]) -> Iterator[Link]:
    """Link the neighbours of mentions that were deleted: brat deletes their relations with them, which held them together."""
    chains: dict[str, list[str]] = {}
    for key, each in written.items():
        if each.label != QUOTATION:
            chains.setdefault(each.mention.entity, []).append(key)
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
