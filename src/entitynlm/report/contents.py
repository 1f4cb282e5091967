"""Contents of a report on one text, as plain values: the surprisal tables grouped by entity and cut to what a page can show."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from entitynlm.discourse.naming import choose_names, show_name
from entitynlm.errors import ConfigError
from entitynlm.lm.entity_words import list_near_words
from entitynlm.lm.surprisal import MentionRow, Surprisal
from entitynlm.model.pretrained import Pretrained
from entitynlm.prediction.referents import Referent, find_cosine
from entitynlm.text.document import Document, Mention

SHOWN_ENTITIES = 24  # with a colour, a line in the timeline and a node in the network; others are grey
PALETTE = (
    "#1f77b4", "#d1495b", "#2a9d5c", "#8e5bbf", "#e08a00", "#00a0a8",
    "#c2478f", "#6b7f1e", "#3f51b5", "#a65628", "#0f7d6d", "#7a6f9b",
)  # fmt: skip
GREY = "#9a958a"
SHOWN_MOVEMENTS = 8
SHOWN_REFERENTS = 12
CONTEXT_TOKENS = 9


@dataclass(frozen=True)
class ShownEntity:
    """One entity; ``number`` counts from 1 by frequency, ``places`` are the indices of its mentions."""

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


@dataclass(frozen=True)
class Cooccurrence:
    """Two entities, by number, and in how many sentences both are mentioned."""

    first: int
    second: int
    sentences: int


@dataclass(frozen=True)
class Movement:
    """The movement of one entity's vector, with a value per word of the mentions that the model sees.

    :param tokens: where.  :param gates: how much of the vector stayed.  :param away: 1 - cosine with its first vector.
    :param early: words near it after its first mention, and :param late: after its last.
    :param moved: 1 - cosine of its vectors after the first and after the last mention.
    :param turn: the place in ``Report.mentions`` of the mention after the first at which the vector moved most.
    """

    character: ShownEntity
    tokens: tuple[int, ...]
    gates: tuple[float, ...]
    away: tuple[float, ...]
    early: tuple[str, ...]
    late: tuple[str, ...]
    moved: float
    turn: int

    @property
    def kept(self) -> tuple[str, ...]:
        """Words that are near the vector from beginning to end."""
        return tuple(word for word in self.early if word in self.late)


@dataclass(frozen=True)
class Surprise:
    """A mention whose referent was improbable, in its context."""

    row: MentionRow
    number: int
    expected: str
    before: str
    after: str


@dataclass(frozen=True)
class Report:
    """All values; ``rows``, ``referents`` and ``owner`` (the number of the character) are aligned with ``mentions``.

    ``mentions`` are all of the document's, in text order. One that P can't see (it is inside of another, or too long) has no row
    and no referent.
    """

    document: Document
    tables: Surprisal
    mentions: tuple[Mention, ...]
    rows: tuple[MentionRow | None, ...]
    referents: tuple[Referent | None, ...]
    owner: tuple[int, ...]
    characters: tuple[ShownEntity, ...]
    cooccurrences: tuple[Cooccurrence, ...]
    movements: tuple[Movement, ...]
    surprises: tuple[Surprise, ...]
    unit: str


def make_report(pretrained: Pretrained, tables: Surprisal) -> Report:
    """Group a text's surprisal tables for a page."""
    document, mentions = tables.analysed, tables.analysed.mentions
    if len(tables.mentions) != len(tables.originals):
        raise ConfigError(
            "a report needs the mentions of the whole text: measure surprisal with hindsight=True"
        )
    characters = list_shown(document, mentions)
    number_of = {character.entity: character.number for character in characters}
    owner = tuple(number_of[mention.entity] for mention in mentions)
    together = count_cooccurrences(document, mentions, owner)
    seen = {mention: place for place, mention in enumerate(tables.originals)}
    places = [seen.get(mention) for mention in mentions]  # among the mentions that P sees
    rows = tuple(None if place is None else tables.mentions[place] for place in places)
    referents = tuple(None if place is None else tables.trace.referents[place] for place in places)
    movements = follow_vectors(pretrained, tables, characters[:SHOWN_MOVEMENTS], places)
    surprises = pick_surprises(document, rows, mentions, characters)
    unit = {2.0: "bits", math.e: "nats"}.get(tables.base, f"log {tables.base:g}")
    shown = (characters, together, movements, surprises, unit)
    return Report(document, tables, mentions, rows, referents, owner, *shown)


def list_shown(document: Document, mentions: Sequence[Mention]) -> tuple[ShownEntity, ...]:
    """The entities, the most frequent first, then in text order."""
    names = choose_names(document, mentions)
    places: dict[str, list[int]] = {}
    for place, mention in enumerate(mentions):
        places.setdefault(mention.entity, []).append(place)
    order = sorted(places, key=lambda entity: (-len(places[entity]), places[entity][0]))
    types = document.entity_types
    return tuple(
        ShownEntity(number, who, show_name(document, names[who]), types.get(who), tuple(places[who]))
        for number, who in enumerate(order, start=1)
    )


def count_cooccurrences(
    document: Document, mentions: Sequence[Mention], owner: Sequence[int]
) -> tuple[Cooccurrence, ...]:
    """In how many sentences each pair of the shown entities is mentioned."""
    present: dict[int, set[int]] = {}
    for mention, number in zip(mentions, owner, strict=True):
        if number <= SHOWN_ENTITIES:
            present.setdefault(document.sentence_of[mention.start], set()).add(number)
    counts = Counter(pair for numbers in present.values() for pair in combinations(sorted(numbers), 2))
    return tuple(Cooccurrence(first, second, count) for (first, second), count in sorted(counts.items()))


def follow_vectors(
    pretrained: Pretrained,
    tables: Surprisal,
    characters: Sequence[ShownEntity],
    places: Sequence[int | None],
) -> tuple[Movement, ...]:
    """The movement of entities that P sees more than once, with the words near their vectors early and late.

    :param places: for each mention of the document, its place among those that P sees.
    """
    trace, encoded = tables.trace, tables.encoded
    seen = {
        character: [(own, place) for own in character.places if (place := places[own]) is not None]
        for character in characters
    }
    moving = [character for character in characters if len(seen[character]) > 1]
    if not moving:
        return ()
    rows = [seen[character][end][1] for end in (0, -1) for character in moving]
    types = [trace.referents[row].mention_type for row in rows]
    network, tokenizer = pretrained.get("generative"), pretrained.encoder.tokenizer
    near = list_near_words(network, tokenizer, trace.after[rows], types, trace.contexts)
    vectors = [trace.after[[place for _, place in seen[character]]] for character in moving]
    found = []
    for at, character in enumerate(moving):
        words = np.flatnonzero(encoded.e == trace.referents[seen[character][0][1]].entity)
        columns = encoded.origin, trace.gates, trace.away
        tokens, gates, away = (tuple(values[words].tolist()) for values in columns)
        early, late = tuple(near[at]), tuple(near[at + len(moving)])
        steps = np.linalg.norm(np.diff(vectors[at], axis=0), axis=1)
        turn, _ = seen[character][1 + int(np.argmax(steps))]
        moved = 1 - find_cosine(vectors[at][0], vectors[at][-1])
        found.append(Movement(character, tokens, gates, away, early, late, moved, turn))
    return tuple(found)


def pick_surprises(
    document: Document,
    rows: Sequence[MentionRow | None],
    mentions: Sequence[Mention],
    characters: Sequence[ShownEntity],
) -> tuple[Surprise, ...]:
    """The mentions with the least probable referents, the most surprising first."""
    by_entity = {character.entity: character for character in characters}
    known = [(row, mention) for row, mention in zip(rows, mentions, strict=True) if row is not None]
    found = []
    for row, mention in sorted(known, key=lambda pair: -pair[0].known_surprisal)[:SHOWN_REFERENTS]:
        expected = by_entity[row.expected].name if row.expected in by_entity else "somebody new"
        context = show_context(document, mention)
        found.append(Surprise(row, by_entity[row.entity].number, expected, *context))
    return tuple(found)


def show_context(document: Document, mention: Mention) -> tuple[str, str]:
    """Some words before and after a mention."""
    low, high = max(0, mention.start - CONTEXT_TOKENS), min(len(document), mention.end + CONTEXT_TOKENS)
    before, after = document.words(low, mention.start), document.words(mention.end, high)
    return " ".join(before.split()), " ".join(after.split())
