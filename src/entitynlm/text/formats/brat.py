"""brat standoff: annotations in ``name.ann`` over the characters of ``name.txt`` (see ``docs/formats.md``).

Word boundaries never depend on the annotation: a mention that cuts a word is read as the whole word and reported.
"""

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from entitynlm.files import STANDARD, open_binary
from entitynlm.text.document import Document, Mention, Span
from entitynlm.text.formats.base import Source
from entitynlm.text.segmentation import Segmentation, align_span, segment_text, segment_whitespace

LINE = re.compile(
    rb"(T\d+\t\S+ \d+ \d+[;\t]|R\d+\t\S+ \S+:[TE]\d+ |\*\t\S+ T\d+ |[AM]\d+\t\S+ [TER]\d+|#\d+\tA)"
)
TEXT_BOUND = re.compile(r"(\S+) (\d{1,18} \d{1,18}(?:;\d{1,18} \d{1,18})*)")
RELATION = re.compile(r"(\S+) \S+?:(T\d+) \S+?:(T\d+)\s*")
COREFERENCE = re.compile(r"coref|anaph|ident|equiv", re.IGNORECASE)
KIND_AND_TYPE = re.compile(r"(?:PROP|NOM|PRON)_(.+)")
ANNOTATION_LINE = "a line such as T1<tab>Person 10 15<tab>Marta, or R1, *, E1, A1, N1, #1"
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
    """Recognise a file by its first line or its name; malformed lines are reported as errors."""
    start = sample.removeprefix(b"\xef\xbb\xbf").lstrip()
    return path.removesuffix(".gz").endswith(".ann") or bool(LINE.match(start))


def read(source: Source) -> Iterator[Document]:
    found, named = _read_lines(source)
    links = [keys for name, keys in named if COREFERENCE.search(name)]
    text = _read_text(source)
    others = sorted({name for name, _ in named})
    if not _settle_chains(found, links, source) and others and not links:
        source.report(f"no relation was read as coreference; there are {', '.join(others)}")
    cut = segment_whitespace(text)
    if not _is_tokenised(cut, found):
        cut = segment_text(text)
    spans: dict[str, Span] = {}
    for key, each in found.items():
        _check_surface(each, text, source)
        if span := _find_span(each, cut.offsets, source):
            spans[key] = span
    mentions, types = _join_mentions(spans, found, links, source)
    yield Document(source.stem, cut.tokens, cut.sentences, mentions, types, text=text, offsets=cut.offsets)


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


def _join_mentions(
    spans: Mapping[str, Span], found: Mapping[str, TextBound], links: list[Link], source: Source
) -> tuple[tuple[Mention, ...], dict[str, str]]:
    """Make mentions of linked annotations, with the first one's chain or key as entity, and find the types of the entities."""
    order = sorted(spans, key=lambda key: (spans[key][0], -spans[key][1]))
    types: dict[str, str] = {}
    mentions: list[Mention] = []
    for keys in _join_links(order, links):
        name = found[keys[0]].chain or keys[0]
        kinds = [kind for key in keys if (kind := found[key].type) is not None]
        if kinds:
            types[name] = kinds[0]
        if len(set(kinds)) > 1:
            listed = ", ".join(sorted(set(kinds)))
            source.report(f"entity {name!r} has mentions of the types {listed}; that of the first one counts")
        for key in keys:
            label = found[key].label
            attributes = (("label", label),) if label != types.get(name) else ()
            mentions.append(Mention(*spans[key], name, attributes=attributes))
    return tuple(mentions), types


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
            source.report(f"the link {name!r} names {missing}, which does not exist", number)
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


def _settle_chains(found: dict[str, TextBound], links: list[Link], source: Source) -> bool:
    """Recognise LitBank's scheme, where a second line names a mention's chain, and merge the two lines."""
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
