"""Rules of identity: mentions that can't be one person, which coreference obeys while it links, whatever its scores.

"His father" is not he, nor "Ida's father" Ida; who says "…, Ida" is not Ida. A name does not join an entity that has another
first name, title or surname; "she" does not join an entity that is called "Mr."; the narrator, "I" outside of quotations, is one
entity from beginning to end, and is not "he" in the narration.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from entitynlm.discourse.discourse import NARRATION, Discourse
from entitynlm.discourse.names import conflict
from entitynlm.discourse.records import MentionReader, PersonRecord, Reading
from entitynlm.text.document import Span
from entitynlm.text.english import POSSESSIVE_PRONOUNS, QUOTATION_VERBS

NAMING = frozenset(("called", "named", "nicknamed", "alias", "as", "christened"))
"""Between two names of one person: "Miss Cowley, known as Tuppence"."""

INTRODUCING = frozenset(("is", "am", "'m", "’m"))
"""Before a name that a speaker tells as the own one."""
TAG_WORDS = 3
"""Tokens between a quotation and the person in its tag."""


@dataclass
class _Facts:
    """Names, genders and roles that an entity has shown so far, and where it was mentioned last."""

    record: PersonRecord = field(default_factory=PersonRecord)
    narrates: bool = False
    is_told: bool = False
    end: int = -1


class IdentityRules:
    """Tell whether a mention may join an entity, and note which one it joined; mentions come in text order."""

    def __init__(self, discourse: Discourse, spans: Sequence[Span]) -> None:
        self.document, self.spans = discourse.document, spans
        reader = MentionReader(discourse)
        self._readings = [reader.read(span) for span in spans]
        self._quoted = [discourse.quotation_of[start] != NARRATION for start, _ in spans]
        self._facts: dict[int, _Facts] = {}
        self._entities: list[int] = []
        self._last: dict[str, int] = {}  # the last entity of each gender
        self._owners = [self._find_owner(span, reader) for span in spans]
        self._tags = self._find_tags(discourse)
        self._narrated = len(set(self.document.column("speaker"))) == 1  # in a transcript everybody says "I"
        self.narrator: int | None = None

    def find_entity(self, number: int) -> int | None:
        """Find the entity that a mention must belong to: the narrator, for each "I" outside of quotations after the first."""
        narrates = self._narrated and self._readings[number].form == "i" and not self._quoted[number]
        return self.narrator if narrates else None

    def allows(self, number: int, entity: int) -> bool:
        """Tell whether names, genders and the narrator's role permit a mention to join an entity."""
        facts = self._facts.get(entity)
        if facts is None:
            return True
        form, name, gender, _ = self._readings[number]
        told = self._narrated and not self._quoted[number]
        if told and form == "i" and (facts.is_told or facts.record.names):
            return False
        if told and facts.narrates and (form in ("he", "she", "it", "they") or name is not None):
            return False
        if (
            not facts.record.fits_gender(gender)
            or self._owns(number, entity)
            or self._addresses(number, entity)
        ):
            return False
        return name is None or facts.record.fits_name(name) or self._is_renamed(number, facts)

    def _is_renamed(self, number: int, facts: _Facts) -> bool:
        between = self.document.tokens[facts.end : self.spans[number][0]]
        return 0 < len(between) <= 4 and any(word.lower() in NAMING for word in between)

    def _find_owner(self, span: Span, reader: MentionReader) -> Reading | None:
        """Read the possessor in "his father" and "Ida's father"."""
        tokens = self.document.tokens[span[0] : span[1]]
        if len(tokens) > 1 and tokens[0].lower() in POSSESSIVE_PRONOUNS | {"her"}:
            return reader.read((span[0], span[0] + 1))
        place = next((place for place, token in enumerate(tokens[:-1]) if token in ("'s", "’s")), 0)
        return reader.read((span[0], span[0] + place)) if place else None

    def _owns(self, number: int, entity: int) -> bool:
        """Tell whether an entity is the possessor of a mention, or a mention the possessor of an entity."""
        owner, facts, span = self._owners[number], self._facts[entity], self.spans[number]
        outer = number - 1
        while outer >= 0 and self.spans[outer][0] == span[0]:
            if self._owners[outer] is not None and self._entities[outer] == entity:
                return True
            outer -= 1
        if owner is None:
            return False
        if owner.name is not None:
            return any(not conflict(owner.name, name) for name in facts.record.names)
        if owner.form == "i":
            return facts.narrates and not self._quoted[number]
        return owner.gender is not None and self._last.get(owner.gender) == entity

    def _find_tags(self, discourse: Discourse) -> dict[int, list[int]]:
        """Find the mentions in tags ("…," said Ida) and the names in the quotations beside them: each excludes the others."""
        tokens = self.document.tokens
        speaks: dict[int, list[int]] = {}
        named: dict[int, list[int]] = {}
        before = {start: quotation for quotation, (start, _) in enumerate(discourse.quotations)}
        after = {end: quotation for quotation, (_, end) in enumerate(discourse.quotations)}
        for number, (start, end) in enumerate(self.spans):
            if self._quoted[number]:
                told = {token.lower() for token in tokens[max(0, start - 2) : start]}
                if self._readings[number].name is not None and told.isdisjoint(INTRODUCING):
                    named.setdefault(discourse.quotation_of[start], []).append(number)
                continue
            for place in range(max(0, start - TAG_WORDS), start + 1):
                verbs = tokens[place:start] or tokens[end : end + TAG_WORDS - 1]
                if place in after and any(verb.lower() in QUOTATION_VERBS for verb in verbs):
                    speaks.setdefault(after[place], []).append(number)
            for place in range(end, min(end + TAG_WORDS + 1, len(tokens))):
                verbs = tokens[end:place]
                if place in before and any(verb.lower() in QUOTATION_VERBS for verb in verbs):
                    speaks.setdefault(before[place], []).append(number)
        found: dict[int, list[int]] = {}
        for quotation, numbers in speaks.items():
            for number in numbers:
                for other in named.get(quotation, ()):
                    found.setdefault(number, []).append(other)
                    found.setdefault(other, []).append(number)
        return found

    def _addresses(self, number: int, entity: int) -> bool:
        """Tell whether a mention speaks a quotation that names an entity, or is named in one that the entity speaks."""
        return any(other < number and self._entities[other] == entity for other in self._tags.get(number, ()))

    def note(self, number: int, entity: int) -> None:
        facts = self._facts.setdefault(entity, _Facts())
        facts.record.note(self._readings[number])
        facts.end = self.spans[number][1]
        self._entities.append(entity)
        gender = self._readings[number].gender or facts.record.gender
        if gender is not None:
            self._last[gender] = entity
        if not self._quoted[number]:
            form = self._readings[number].form
            if form == "i":
                facts.narrates, self.narrator = True, entity
            facts.is_told = facts.is_told or form in ("he", "she")
