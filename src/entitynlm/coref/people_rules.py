"""Rules of identity of the second pass, when the people of a text and the speakers of its quotations are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from entitynlm.discourse.discourse import NARRATION, Discourse
from entitynlm.discourse.identity import IdentityRules
from entitynlm.discourse.name_index import PRONOUN_GENDERS, NameIndex, Person
from entitynlm.discourse.speaker_features import Dialogue, find_narrator
from entitynlm.text.document import Document, Span

MOSTLY_TOLD = 0.2
"""The share of a person's names that stand in the narration from which the person is not its narrator."""


class Participants(NamedTuple):
    """Speaker and addressee of a quotation: a person, the narrator (True), or unknown (None)."""

    speaker: Person | bool | None
    addressee: Person | bool | None


class PeopleRules(IdentityRules):
    """Rules of identity that hold a name to its person, however far back it stands, and "I" and "you" to speaker and addressee.

    :param owners: the person of each mention that is a name.  :param participants: of each quotation.
    """

    def __init__(
        self,
        discourse: Discourse,
        spans: Sequence[Span],
        owners: Sequence[Person | None],
        participants: Sequence[Participants],
    ) -> None:
        super().__init__(discourse, spans)
        self._names_of, self._participants = owners, participants
        self._quotations = [discourse.quotation_of[start] for start, _ in spans]
        self._people: dict[int, Person] = {}
        self._entity_of: dict[int, int] = {}

    def find_entity(self, number: int) -> int | None:
        """Find the entity of a name's person, of the speaker for "I" in a quotation, and of the addressee for "you"."""
        person: Person | bool | None = self._names_of[number]
        if person is None and self._quotations[number] != NARRATION:
            said = self._participants[self._quotations[number]]
            form = self._readings[number].form
            person = said.speaker if form == "i" else said.addressee if form == "you" else None
        return super().find_entity(number) if person is None else self._find(person)

    def _find(self, person: Person | bool | None) -> int | None:
        return (
            self._entity_of.get(id(person))
            if isinstance(person, Person)
            else self.narrator
            if person
            else None
        )

    def allows(self, number: int, entity: int) -> bool:
        owner, person = self._names_of[number], self._people.get(entity)
        if owner is not None and person is not None:
            return owner is person
        if owner is not None and entity == self.narrator and owner.told > MOSTLY_TOLD * owner.names.total():
            return False
        gender = PRONOUN_GENDERS.get(self._readings[number].form or "")
        if gender is not None:
            if person is not None and person.gender not in (None, gender):
                return False
            if self._quotations[number] != NARRATION:
                said = self._participants[self._quotations[number]]
                if entity in (self._find(said.speaker), self._find(said.addressee)):
                    return False
        return super().allows(number, entity)

    def note(self, number: int, entity: int) -> None:
        super().note(number, entity)
        owner = self._names_of[number]
        if owner is not None:
            self._people[entity] = owner
            self._entity_of.setdefault(id(owner), entity)


def find_participants(document: Document, discourse: Discourse, index: NameIndex) -> list[Participants]:
    """Find the people who speak and are addressed in the quotations of a document whose entities were settled."""
    dialogue = Dialogue.of_document(discourse, document)
    narrator = find_narrator(dialogue)

    def find(entity: str | None) -> Person | bool | None:
        if entity is None or entity == narrator:
            return entity is not None or None
        names = dialogue.records[entity].names.most_common(1)
        return index.find_owner(names[0][0]) if names else None

    return [
        Participants(find(quotation.speaker), find(quotation.addressee)) for quotation in document.quotations
    ]
