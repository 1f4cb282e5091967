"""The lines of a brat ``.ann`` file, and which of its text spans are one entity.

Two schemes are known. In the usual one every ``T`` line is a mention with its type as label, and relations and equivalences with
a name like ``Coref`` join mentions. In LitBank's a span has two ``T`` lines, one with mention type and entity type (``PROP_PER``)
and one with its chain (``Marta-3``); relations there (``cop``, ``appos``) join nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from entitynlm.text.document import Span
from entitynlm.text.formats.base import Source

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


def read_annotations(source: Source, relations: Collection[str] = ()) -> Annotations:
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


def join_links(keys: Iterable[str], links: Iterable[tuple[str, ...]]) -> list[list[str]]:
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


def settle_types(found: Annotations, source: Source) -> None:
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
