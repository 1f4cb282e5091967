"""Contents of a report on one text, as plain values: the surprisal tables grouped by entity and shortened for a page."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from entitynlm.discourse.naming import name_entities
from entitynlm.lm.surprisal import MentionRow, Surprisal
from entitynlm.prediction.referents import Referent, find_cosine
from entitynlm.text.document import Document, Mention, Span

SHOWN_ENTITIES = 24  # with a colour, a line in the timeline and a node in the network; others are grey
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f")
"""Okabe and Ito's colours, which the colour-blind can tell apart; after seven entities the line under a mention changes."""
LINES = ("solid", "dotted", "dashed", "double")
GREY = "#9a958a"
SHOWN_MOVEMENTS = 8
SHOWN_REFERENTS = 12
CONTEXT_TOKENS = 9


@dataclass(frozen=True)
class ShownEntity:
    """One entity; ``number`` counts from 1, ``places`` are the indices of its mentions."""

    number: int
    entity: str
    name: str
    type: str | None
    places: tuple[int, ...]

    @property
    def mentions(self) -> int:
        return len(self.places)

    @property
    def colour(self) -> str:
        return PALETTE[(self.number - 1) % len(PALETTE)] if self.number <= SHOWN_ENTITIES else GREY

    @property
    def line(self) -> str:
        return LINES[(self.number - 1) // len(PALETTE)] if self.number <= SHOWN_ENTITIES else LINES[0]


@dataclass(frozen=True)
class Movement:
    """The movement of one entity's vector, with a value per word of the mentions that the model sees.

    :param tokens: tokens of these words.  :param gates: share of the vector that stayed.  :param away: 1 - cosine with its first
        vector.
    :param moved: 1 - cosine of its vectors after the first and after the last mention.
    :param turn: index in ``Report.mentions`` of the mention after the first at which the vector moved most.
    """

    character: ShownEntity
    tokens: tuple[int, ...]
    gates: tuple[float, ...]
    away: tuple[float, ...]
    moved: float
    turn: int


@dataclass(frozen=True)
class Report:
    """All values; ``rows`` and ``referents`` are aligned with ``mentions``.

    ``mentions`` are all of the document's, in text order. A mention that P can't see (nested or too long) has no row and no
    referent.
    """

    document: Document
    tables: Surprisal
    mentions: tuple[Mention, ...]
    rows: tuple[MentionRow | None, ...]
    referents: tuple[Referent | None, ...]
    characters: tuple[ShownEntity, ...]
    cooccurrences: Mapping[tuple[int, int], int]
    movements: tuple[Movement, ...]
    surprises: tuple[tuple[MentionRow, Mention], ...]
    unit: str

    @property
    def surprisal_of_referents(self) -> dict[Span, float]:
        """The surprisal of referents by the spans of the mentions that P sees."""
        pairs = zip(self.mentions, self.rows, strict=True)
        return {mention.span: row.referent_surprisal for mention, row in pairs if row is not None}


def make_report(tables: Surprisal) -> Report:
    """Group a text's surprisal tables for a page."""
    document, mentions = tables.analysed, tables.analysed.mentions
    characters = list_shown(document, name_entities(document))
    together = count_cooccurrences(document, characters[:SHOWN_ENTITIES])
    seen = {mention: place for place, mention in enumerate(tables.originals)}
    places = [seen.get(mention) for mention in mentions]  # among the mentions that P sees
    rows = tuple(None if place is None else tables.mentions[place] for place in places)
    referents = tuple(None if place is None else tables.trace.referents[place] for place in places)
    movements = follow_vectors(tables, characters[:SHOWN_MOVEMENTS], places)
    seen_rows = [(row, mention) for row, mention in zip(rows, mentions, strict=True) if row is not None]
    surprises = tuple(sorted(seen_rows, key=lambda pair: -pair[0].referent_surprisal)[:SHOWN_REFERENTS])
    unit = {2.0: "bits", math.e: "nats"}.get(tables.base, f"log {tables.base:g}")
    shown = (characters, together, movements, surprises, unit)
    return Report(document, tables, mentions, rows, referents, *shown)


def list_shown(
    document: Document, names: Mapping[str, str], numbers: Mapping[str, int] | None = None
) -> tuple[ShownEntity, ...]:
    """List the entities, the most frequent first, then in text order; number them in this order unless numbers are given."""
    places: dict[str, list[int]] = {}
    for place, mention in enumerate(document.mentions):
        places.setdefault(mention.entity, []).append(place)
    order = sorted(places, key=lambda entity: (-len(places[entity]), places[entity][0]))
    numbers = numbers or {entity: number for number, entity in enumerate(order, start=1)}
    types = document.entity_types
    return tuple(
        ShownEntity(numbers[who], who, names[who], types.get(who), tuple(places[who])) for who in order
    )


def count_cooccurrences(document: Document, shown: Sequence[ShownEntity]) -> dict[tuple[int, int], int]:
    """Count the sentences in which each pair of entities, given by their numbers, is mentioned."""
    present: dict[int, set[int]] = {}
    for who in shown:
        for place in who.places:
            sentence = document.sentence_of[document.mentions[place].start]
            present.setdefault(sentence, set()).add(who.number)
    return Counter(pair for numbers in present.values() for pair in combinations(sorted(numbers), 2))


def follow_vectors(
    tables: Surprisal, characters: Sequence[ShownEntity], places: Sequence[int | None]
) -> tuple[Movement, ...]:
    """Follow the vectors of entities that P sees more than once.

    :param places: for each mention of the document, its index among those that P sees.
    """
    trace, encoded = tables.trace, tables.encoded
    seen = {
        character: [(own, place) for own in character.places if (place := places[own]) is not None]
        for character in characters
    }
    moving = [character for character in characters if len(seen[character]) > 1]
    found = []
    for character in moving:
        vectors = trace.after[[place for _, place in seen[character]]]
        words = np.flatnonzero(encoded.e == trace.referents[seen[character][0][1]].entity)
        columns = encoded.origin, trace.gates, trace.away
        tokens, gates, away = (tuple(values[words].tolist()) for values in columns)
        steps = np.linalg.norm(np.diff(vectors, axis=0), axis=1)
        turn, _ = seen[character][1 + int(np.argmax(steps))]
        moved = 1 - find_cosine(vectors[0], vectors[-1])
        found.append(Movement(character, tokens, gates, away, moved, turn))
    return tuple(found)


def show_context(document: Document, mention: Mention) -> tuple[str, str]:
    """Return some words before and after a mention."""
    low, high = max(0, mention.start - CONTEXT_TOKENS), min(len(document), mention.end + CONTEXT_TOKENS)
    before, after = document.words(low, mention.start), document.words(mention.end, high)
    return " ".join(before.split()), " ".join(after.split())
