"""Rules of identity for the second pass, when the people of a text and the speakers of its quotations are known."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from entitynlm.discourse.conversations import LONGEST_PASSAGE, NARRATOR_SHARE
from entitynlm.discourse.discourse import NARRATION, Discourse
from entitynlm.discourse.identity import IdentityRules
from entitynlm.discourse.name_index import PRONOUN_GENDERS, NameIndex, Person
from entitynlm.discourse.speaker_features import Dialogue, find_narrator
from entitynlm.text.document import Document, Span

MOSTLY_TOLD = 0.2
"""A person with at least this share of its names in the narration is not the narrator."""


ONLY_RELATIVES = frozenset("father mother grandfather grandmother husband wife uncle papa mamma".split())
"""Kinds of relatives of which a person (mostly) has only one."""
FEWEST_CALLS, FEWEST_CALLS_IN_BOOKS = 2, 5
"""Least number of times that others call the narrator by name."""


class Participants(NamedTuple):
    """Speaker and addressee of a quotation: a person, the narrator (True), or unknown (None)."""

    speaker: Person | bool | None
    addressee: Person | bool | None


class PeopleRules(IdentityRules):
    """Rules that link a name to its person, however distant, and "I" and "you" in quotations to speaker and addressee.

    :param owners: person of each mention that is a name or a title.  :param participants: speaker and addressee of each
        quotation.
    :param narrator: person who tells the text, if others call the narrator by name.
    """

    def __init__(
        self,
        discourse: Discourse,
        spans: Sequence[Span],
        owners: Sequence[Person | None],
        participants: Sequence[Participants],
        narrator: Person | None = None,
    ) -> None:
        super().__init__(discourse, spans)
        self._names_of, self._participants, self._teller = owners, participants, narrator
        self._voices = [discourse.voice_of[start] for start, _ in spans]
        self._people: dict[int, Person] = {}
        self._entity_of: dict[int, int] = {}

    def find_entity(self, number: int) -> int | None:
        """Find the entity of a name's person, the speaker for "I" in a quotation, or the addressee for "you"."""
        person: Person | bool | None = self._names_of[number]
        if person is None and self._voices[number] >= 0:
            said = self._participants[self._voices[number]]
            form = self._readings[number].form
            person = said.speaker if form == "i" else said.addressee if form == "you" else None
        return super().find_entity(number) if person is None else self._find(person)

    def _find(self, person: Person | bool | None) -> int | None:
        if isinstance(person, Person) and person is not self._teller:
            return self._entity_of.get(id(person))
        return self.narrator if person else None

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
            if self._voices[number] >= 0:
                said = self._participants[self._voices[number]]
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
    """Find the speaker and the addressee of each quotation, as persons, after the first pass."""
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


def find_relatives(document: Document, discourse: Discourse, spans: Sequence[Span]) -> dict[Span, Person]:
    """Find mentions of one nameless relative, such as "Leo's mother" and "his mother" where the first pass links "his" to Leo."""
    entities = {mention.span: mention.entity for mention in document.mentions}
    records = Dialogue.of_document(discourse, document).records
    groups: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for start, end in spans:
        kin = document.tokens[end - 1].lower()
        whose = entities.get((start, end - 1)) or entities.get((start, end - 2))
        if kin in ONLY_RELATIVES and whose is not None and (start, end) in entities:
            groups[whose, kin].append((start, end))
    found: dict[Span, Person] = {}
    for (whose, _), group in groups.items():
        others = {entities[span] for span in group} - {whose}
        if len(group) > 1 and not any(records[other].names for other in others):
            found |= dict.fromkeys(group, Person(-1))
    return found


def find_named_narrator(
    discourse: Discourse, spans: Sequence[Span], owners: Sequence[Person | None]
) -> Person | None:
    """Find the narrator's name: the person whom others name most often and whom the narration (nearly) never names."""
    told = sum(
        discourse.reader.read(span).form == "i" and discourse.voice_of[span[0]] == NARRATION for span in spans
    )
    length = len(discourse.document)
    if told < NARRATOR_SHARE * length:
        return None
    people = {id(owner): owner for owner in owners if owner is not None}
    calls = Counter(
        id(owner)
        for span, owner in zip(spans, owners, strict=True)
        if owner is not None and discourse.quotation_of[span[0]] != NARRATION and discourse.is_address(span)
    )
    fewest = FEWEST_CALLS if length < LONGEST_PASSAGE else FEWEST_CALLS_IN_BOOKS
    return next(
        (
            people[who]
            for who, count in calls.most_common()
            if count >= fewest and people[who].told <= MOSTLY_TOLD * people[who].names.total()
        ),
        None,
    )
