"""All that a report on one text shows, as plain values: cast, timeline, company, movement of vectors, surprising referents.

The surprisal tables hold the figures; here they are grouped by entity and cut to what a page can show. Drawing is the
interfaces' business.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from entitynlm.coref.entity_names import choose_names, show_name
from entitynlm.lm.entity_words import list_near_words
from entitynlm.lm.surprisal import MentionRow, Surprisal
from entitynlm.model.pretrained import Pretrained
from entitynlm.text.document import Document, Mention

SHOWN_ENTITIES = 24
"""Entities with a colour, a line in the timeline and a place in the network; others are shown in grey."""

SHOWN_MOVEMENTS = 8
SHOWN_REFERENTS = 12
CONTEXT_TOKENS = 9


@dataclass(frozen=True)
class Character:
    """One entity. ``number`` counts by how often entities are mentioned, from 1; ``places`` are its mentions' numbers."""

    number: int
    entity: str
    name: str
    type: str | None
    places: tuple[int, ...]

    @property
    def mentions(self) -> int:
        return len(self.places)


@dataclass(frozen=True)
class Company:
    """Two entities and in how many sentences both are mentioned."""

    first: int
    second: int
    sentences: int


@dataclass(frozen=True)
class Movement:
    """How one entity's vector moved: a value per word of its mentions.

    :param tokens: where.  :param gates: how much of the vector stayed.  :param away: distance from its birth (1 - cosine).
    :param early: words near it after its first mention, and :param late: after its last.
    """

    character: Character
    tokens: tuple[int, ...]
    gates: tuple[float, ...]
    away: tuple[float, ...]
    early: tuple[str, ...]
    late: tuple[str, ...]


@dataclass(frozen=True)
class Surprise:
    """A mention whose referent was hard to foresee, in its context."""

    row: MentionRow
    number: int
    expected: str
    before: str
    after: str


@dataclass(frozen=True)
class Report:
    """What is shown of one text.

    :param mentions: the mentions that are shown, in text order, and :param rows: their rows.
    :param characters: all entities, those mentioned most often first.
    :param owner: the character's number of each mention.
    """

    document: Document
    tables: Surprisal
    mentions: tuple[Mention, ...]
    rows: tuple[MentionRow, ...]
    owner: tuple[int, ...]
    characters: tuple[Character, ...]
    company: tuple[Company, ...]
    movements: tuple[Movement, ...]
    surprises: tuple[Surprise, ...]
    unit: str


def make_report(pretrained: Pretrained, tables: Surprisal) -> Report:
    """Group a text's surprisal tables for a page."""
    document = tables.analysed
    _, _, originals = pretrained.encoder.encode_with_report(document)
    characters = list_characters(document, originals)
    number_of = {character.entity: character.number for character in characters}
    owner = tuple(number_of[mention.entity] for mention in originals)
    shown = characters[:SHOWN_ENTITIES]
    return Report(
        document=document,
        tables=tables,
        mentions=originals,
        rows=tables.mentions,
        owner=owner,
        characters=characters,
        company=list_company(document, originals, shown),
        movements=follow_vectors(pretrained, tables, characters[:SHOWN_MOVEMENTS]),
        surprises=pick_surprises(document, tables.mentions, originals, characters),
        unit={2.0: "bits", math.e: "nats"}.get(tables.base, f"log {tables.base:g}"),
    )


def list_characters(document: Document, mentions: Sequence[Mention]) -> tuple[Character, ...]:
    """The entities, those mentioned most often first, then those that come first."""
    names = choose_names(document, mentions)
    places: dict[str, list[int]] = {}
    for place, mention in enumerate(mentions):
        places.setdefault(mention.entity, []).append(place)
    order = sorted(places, key=lambda entity: (-len(places[entity]), places[entity][0]))
    return tuple(
        Character(
            number,
            entity,
            show_name(document, names[entity]),
            document.entity_types.get(entity),
            tuple(places[entity]),
        )
        for number, entity in enumerate(order, start=1)
    )


def list_company(
    document: Document, mentions: Sequence[Mention], characters: Sequence[Character]
) -> tuple[Company, ...]:
    """Who is mentioned together with whom, sentence by sentence."""
    number_of = {character.entity: character.number for character in characters}
    present: dict[int, set[int]] = {}
    for mention in mentions:
        if mention.entity in number_of:
            sentence = document.sentence_of[mention.start]
            present.setdefault(sentence, set()).add(number_of[mention.entity])
    counts = Counter(pair for numbers in present.values() for pair in combinations(sorted(numbers), 2))
    return tuple(Company(a, b, count) for (a, b), count in sorted(counts.items()))


def follow_vectors(
    pretrained: Pretrained, tables: Surprisal, characters: Sequence[Character]
) -> tuple[Movement, ...]:
    """The movement of the entities mentioned more than once, and the words near each vector early and late."""
    trace, encoded = tables.trace, tables.encoded
    moving = [character for character in characters if character.mentions > 1]
    if not moving:
        return ()
    rows = [character.places[0] for character in moving] + [character.places[-1] for character in moving]
    kinds = [trace.referents[row].mention_type for row in rows]
    near = list_near_words(
        pretrained.get("generative"), pretrained.encoder.vocabulary, trace.after[rows], kinds, trace.contexts
    )
    found = []
    for at, character in enumerate(moving):
        number = trace.referents[character.places[0]].entity
        words = np.flatnonzero(encoded.e == number)
        found.append(
            Movement(
                character,
                tuple(encoded.origin[words].tolist()),
                tuple(trace.gates[words].tolist()),
                tuple(trace.away[words].tolist()),
                tuple(near[at]),
                tuple(near[at + len(moving)]),
            )
        )
    return tuple(found)


def pick_surprises(
    document: Document,
    rows: Sequence[MentionRow],
    mentions: Sequence[Mention],
    characters: Sequence[Character],
) -> tuple[Surprise, ...]:
    """The mentions whose referents were least expected, the most surprising first."""
    by_entity = {character.entity: character for character in characters}
    order = sorted(range(len(rows)), key=lambda place: -rows[place].referent_surprisal)[:SHOWN_REFERENTS]
    found = []
    for place in order:
        mention, row = mentions[place], rows[place]
        low, high = max(0, mention.start - CONTEXT_TOKENS), min(len(document), mention.end + CONTEXT_TOKENS)
        expected = by_entity[row.expected].name if row.expected in by_entity else "somebody new"
        found.append(
            Surprise(
                row,
                by_entity[row.entity].number,
                expected,
                " ".join(document.words(low, mention.start).split()),
                " ".join(document.words(mention.end, high).split()),
            )
        )
    return tuple(found)
