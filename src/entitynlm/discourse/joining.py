"""Joining of entities by their names: over the length of a book coreference loses people and finds them as new ones.

Two entities are joined where names and genders permit it and they share a full name, or where one has only a first name or
surname that only one person of the text has in full.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

from entitynlm.discourse.discourse import Discourse
from entitynlm.discourse.names import PersonName, conflict, is_same_first_name
from entitynlm.discourse.records import MentionReader, PersonRecord
from entitynlm.discourse.speaker_features import may_speak
from entitynlm.text.document import Document

MUCH = 4.0
"""A bare name is that of the person who has it this many times as often as all others together."""


@dataclass
class _Person:
    """An entity with a name."""

    id: str
    size: int
    record: PersonRecord = field(default_factory=PersonRecord)

    def fits(self, other: _Person) -> bool:
        """Tell whether names and genders permit that two entities are one person."""
        if not self.record.fits_gender(other.record.gender):
            return False
        names, others = self.record.names, other.record.names
        full = [set(name.words) for name in (*names, *others) if name.full]
        return not any(
            conflict(one, two) and not _are_parts(one, two, full) for one in names for two in others
        )

    def absorb(self, other: _Person) -> None:
        self.record.absorb(other.record)
        self.size += other.size


def _are_parts(one: PersonName, other: PersonName, full: list[set[str]]) -> bool:
    """Tell whether a first name and a surname ("Sir Henry", "Vale") are those of a full name."""
    titled = None not in (one.title, other.title) and one.title != other.title
    words = {*one.words, *other.words}
    return len(words) == 2 and not (one.full or other.full or titled) and any(words <= name for name in full)


def find_same_names(document: Document, discourse: Discourse) -> dict[str, str]:
    """Find entities of one name; each maps to the one of them that has the most mentions and stays."""
    people = _list_people(document, MentionReader(discourse))
    joined: dict[str, str] = {}

    def join(one: _Person, other: _Person) -> None:
        large, small = (one, other) if one.size >= other.size else (other, one)
        large.absorb(small)
        joined[small.id] = large.id
        del people[small.id]

    _join_alike(people, join)
    _join_bare(people, join)
    found = {}
    for entity, target in joined.items():
        while target in joined:
            target = joined[target]
        found[entity] = target
    return found


def _list_people(document: Document, reader: MentionReader) -> dict[str, _Person]:
    people: dict[str, _Person] = {}
    for entity in document.entities:
        if may_speak(entity.type):
            person = _Person(entity.id, len(entity.mentions))
            for mention in entity.mentions:
                person.record.note(reader.read(mention.span))
            if person.record.names:
                people[entity.id] = person
    return people


def _join_alike(people: dict[str, _Person], join: Callable[[_Person, _Person], None]) -> None:
    """Join entities that have a name in common, the commonest first."""
    owners: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for person in sorted(people.values(), key=lambda person: -person.size):
        for name in person.record.names:
            if person.id not in owners[name.words]:
                owners[name.words].append(person.id)
    for ids in owners.values():
        living = [people[id] for id in ids if id in people]
        for place, one in enumerate(living):
            for other in living[place + 1 :]:
                if one.id in people and other.id in people and one.fits(other):
                    join(one, other)


def _join_bare(people: dict[str, _Person], join: Callable[[_Person, _Person], None]) -> None:
    """Join an entity that has only a first name or a surname to the one person who has it in full."""
    for person in sorted(people.values(), key=lambda person: -person.size):
        if person.id not in people or any(name.full for name in person.record.names):
            continue
        full = [other for other in people.values() if other is not person and _has_in_full(other, person)]
        fitting = sorted((other for other in full if other.fits(person)), key=lambda other: -other.size)
        if fitting and fitting[0].size >= MUCH * sum(other.size for other in fitting[1:]):
            join(fitting[0], person)


def _has_in_full(full: _Person, bare: _Person) -> bool:
    names = [name for name in full.record.names if name.full]
    return any(
        word in name.words or is_same_first_name(word, name.words[0])
        for own in bare.record.names
        for word in own.words
        for name in names
    )
