"""Scores of an annotated novel against PDNC: coreference inside quotations, names, speakers, and the cast.

Clusters are compared with characters by B³, and by the best one-to-one map of clusters to characters, because over a whole book
each character should be one entity. A mention counts as found if its first and last letter are right.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from entitynlm.characters.character import Cast
from entitynlm.characters.tables import ROW_ENTRIES
from entitynlm.discourse.discourse import read_discourse
from entitynlm.discourse.speaker_features import Dialogue
from entitynlm.discourse.speech_tags import NAME, TagReader
from entitynlm.errors import DataError
from entitynlm.text.corpora.pdnc import Novel
from entitynlm.text.document import Document, Mention, Quotation, Span
from entitynlm.text.english import FEMALE, MALE

SHOWN_CATEGORIES = ("major", "intermediate")
GENDER_LETTERS = {"M": MALE, "F": FEMALE}
KINDS = ("explicit", "anaphoric", "implicit")
WORD = re.compile(r"[A-Za-z0-9]+")
LONGEST_TITLE = 14
"""Letters before a name that a mention of it may begin with: "poor Miss "."""
FEWEST_OF_A_KIND = 20
"""A kind of quotation that a novel has no more than this often has no figure."""

ClusterPairs = Sequence[tuple[Hashable | None, str]]
"""The cluster of each item, None where it was not found, and its character."""


def measure_book(novel: Novel, document: Document) -> dict[str, float | None]:
    """Measure mentions in quotations, names and speakers, in %; None where a novel has no such mentions."""
    if document.offsets is None or document.text != novel.text:
        raise DataError(f"the document {document.id!r} is not an annotation of the text of {novel.name}")
    clusters = _find_clusters(document)
    last = max((end for _, end in clusters), default=0)
    gold = {trim(novel.text, span): who for span, who in novel.mentions.items()}
    meant = [(clusters.get(span), who) for span, who in gold.items() if span[1] <= last]
    names = _pair_names(clusters, {s: who for s, who in novel.find_names().items() if s[1] <= last})
    return {
        **_measure("mentions", meant),
        **_measure("names", names),
        **_measure_speakers(novel, document, last),
    }


def trim(text: str, span: Span) -> Span:
    """Cut a span of characters to its first and last letter or digit."""
    start, end = span
    words = list(WORD.finditer(text, start, end))
    return (words[0].start(), words[-1].end()) if words else span


def _find_clusters(document: Document) -> dict[Span, str]:
    offsets, text = document.offsets or (), document.text or ""
    ordered = [mention for entity in document.entities for mention in entity.mentions]
    return {trim(text, (offsets[m.start][0], offsets[m.end - 1][1])): m.entity for m in ordered}


def _pair_names(clusters: Mapping[Span, str], names: Mapping[Span, str]) -> ClusterPairs:
    """Pair each name with the shortest mention that ends with it."""
    ending: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for (start, end), cluster in clusters.items():
        ending[end].append((start, cluster))
    found = []
    for (start, end), who in names.items():
        near = [pair for pair in ending.get(end, ()) if start - LONGEST_TITLE <= pair[0] <= start]
        found.append((max(near, key=lambda pair: pair[0])[1] if near else None, who))
    return found


def _measure(name: str, pairs: ClusterPairs) -> dict[str, float | None]:
    found = sum(cluster is not None for cluster, _ in pairs)
    return {
        f"{name} found": 100 * found / len(pairs) if pairs else None,
        f"{name} B³": 100 * score_b_cubed(pairs) if pairs else None,
        f"{name} one to one": 100 * _count_right(pairs, map_one_to_one(pairs)) / len(pairs)
        if pairs
        else None,
    }


def _measure_speakers(novel: Novel, document: Document, last: int) -> dict[str, float | None]:
    """Measure the speakers of the quotations whose first part overlaps a found one, over all annotated quotations."""
    offsets = document.offsets or ()
    found = [(offsets[q.start][0], offsets[q.end - 1][1], q.speaker) for q in document.quotations]
    pairs: list[tuple[str | None, str]] = []
    kinds: dict[str, list[tuple[str | None, str]]] = defaultdict(list)
    hits = 0
    for quotation in novel.quotations:
        start, end = quotation.parts[0]
        if end > last or not quotation.has_speaker:
            continue
        place = bisect_right(found, start, key=lambda row: row[1])
        hit = place < len(found) and found[place][0] < end
        hits += hit
        pairs.append((found[place][2] if hit else None, quotation.speaker))
        kinds[quotation.kind].append(pairs[-1])
    right = map_one_to_one(pairs)
    by_kind = {
        f"{kind} speakers": 100 * _count_right(kinds[kind], right) / len(kinds[kind])
        if len(kinds[kind]) > FEWEST_OF_A_KIND
        else None
        for kind in KINDS
    }
    return {
        "quotations found": 100 * hits / len(pairs) if pairs else None,
        "speakers": 100 * _count_right(pairs, right) / len(pairs) if pairs else None,
        **by_kind,
    }


def measure_cast(novel: Novel, cast: Cast) -> dict[str, int]:
    """Count the major and intermediate characters, those with a row of their own, and those whose row is right.

    A character's row is the entity that most occurrences of its names belong to; it is the character's own if no other of these
    characters has the same. It is right if its gender is right and no alias in the table belongs to another character alone.
    """
    owners = {" ".join(novel.text[slice(*span)].split()): who for span, who in novel.find_names().items()}
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for cluster, who in _pair_names(_find_clusters(cast.document), novel.find_names()):
        if cluster is not None:
            votes[who][str(cluster)] += 1
    rows = {character.id: character for character in cast.characters}
    wanted = [character for character in novel.characters if character.category in SHOWN_CATEGORIES]
    chosen = {c.name: max(sorted(votes[c.name]), key=votes[c.name].__getitem__, default="") for c in wanted}
    taken = Counter(chosen.values())
    own = [c for c in wanted if chosen[c.name] in rows and taken[chosen[c.name]] == 1]
    right = 0
    for character in own:
        row = rows[chosen[character.name]]
        aliases = list(row.aliases)[:ROW_ENTRIES]
        foreign = any(owners.get(alias, character.name) != character.name for alias in aliases)
        right += not foreign and GENDER_LETTERS.get(character.gender, row.gender) == row.gender
    return {"characters": len(wanted), "own rows": len(own), "right rows": right}


def measure_baselines(novel: Novel, document: Document) -> dict[str, float | None]:
    """Measure the speakers that baselines find for the same quotations and entities."""
    discourse = read_discourse(document, [quotation.span for quotation in document.quotations])
    dialogue = Dialogue.of_document(discourse, document)
    found = {
        "nearest name": find_nearest_names(dialogue),
        "nearest mention": find_nearest_mentions(dialogue),
        "alternation": alternate_speakers(dialogue),
    }
    figures = {}
    for name, speakers in found.items():
        spoken = [Quotation(*span, who) for span, who in zip(dialogue.quotations, speakers, strict=True)]
        figures[name] = measure_book(novel, document.with_quotations(spoken))["speakers"]
    return figures


def score_b_cubed(pairs: ClusterPairs) -> float:
    """Score clusters by B³ F1 over the annotated mentions; a mention that was not found is a cluster of its own."""
    known = [
        (("alone", place) if cluster is None else cluster, who) for place, (cluster, who) in enumerate(pairs)
    ]
    clusters, characters = Counter(cluster for cluster, _ in known), Counter(who for _, who in known)
    both = Counter(known)
    precision = sum(both[pair] / clusters[pair[0]] for pair in known) / len(known)
    recall = sum(both[pair] / characters[pair[1]] for pair in known) / len(known)
    return 2 * precision * recall / (precision + recall)


def map_one_to_one(pairs: ClusterPairs) -> set[tuple[Hashable | None, str]]:
    """Map clusters to characters, one to one, so that as many mentions as possible are right."""
    clusters = list(dict.fromkeys(cluster for cluster, _ in pairs if cluster is not None))
    characters = sorted({who for _, who in pairs})
    counts = Counter(pairs)
    table = np.array([[counts[cluster, who] for who in characters] for cluster in clusters])
    if not table.size:
        return set()
    rows, columns = linear_sum_assignment(-table)
    return {(clusters[row], characters[column]) for row, column in zip(rows, columns, strict=True)}


def _count_right(
    pairs: Iterable[tuple[Hashable | None, str]], right: set[tuple[Hashable | None, str]]
) -> int:
    return sum(pair in right for pair in pairs)


NEAREST = 8
"""Mentions on each side of a quotation among which the nearest one is looked for: mentions nest."""


def find_nearest_names(dialogue: Dialogue) -> list[str | None]:
    """Choose speakers by a baseline: the entity whose name stands nearest to the quotation, outside of all quotations."""
    tokens = dialogue.tokens
    named = [
        mention
        for mention in dialogue.outside
        if not dialogue.is_pronoun(mention)
        and any(word[0].isupper() for word in tokens[mention.start : mention.end])
    ]
    return find_nearest_mentions(dialogue, named)


def find_nearest_mentions(dialogue: Dialogue, mentions: Sequence[Mention] | None = None) -> list[str | None]:
    """Choose speakers by a baseline: the entity that is mentioned nearest to the quotation, outside of all quotations.

    :param mentions: candidate mentions in text order; by default all that are outside of quotations.
    """
    chosen = dialogue.outside if mentions is None else mentions
    starts = [mention.start for mention in chosen]
    found: list[str | None] = []
    for start, end in dialogue.quotations:
        place = bisect_left(starts, start)
        near = chosen[max(0, place - NEAREST) : place + NEAREST]
        distances = [(m.start - end if m.start >= end else start - m.end, m.entity) for m in near]
        found.append(min(distances, key=lambda pair: pair[0])[1] if distances else None)
    return found


def alternate_speakers(dialogue: Dialogue) -> list[str | None]:
    """Choose speakers by a baseline: a tag with a name, else two persons take turns from paragraph to paragraph."""
    reader = TagReader(dialogue)
    paragraphs = [dialogue.discourse.paragraph_of(start) for start, _ in dialogue.quotations]
    found: list[str | None] = []
    current: str | None = None
    other: str | None = None
    for number, paragraph in enumerate(paragraphs):
        tag = reader.read(number)
        named = tag.entity if tag is not None and tag.form == NAME else None
        goes_on = number > 0 and paragraph == paragraphs[number - 1]
        following = named or (current if goes_on else other or current)
        if following != current:
            current, other = following, current
        found.append(current)
    return found
