"""Rules of identity: mentions that can't be one person, which coreference obeys while it links, whatever its scores.

Who says "…, Ida" is not Ida. A name does not join an entity that has another
first name, title or surname; "she" does not join an entity that is called "Mr."; the narrator, "I" outside of quotations, is one
entity from beginning to end, and is not "he" in the narration.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from entitynlm.discourse.discourse import NARRATION, Discourse
from entitynlm.discourse.records import PersonRecord
from entitynlm.text.document import Span
from entitynlm.text.english import QUOTATION_VERBS

INTRODUCING = frozenset(("is", "am", "'m", "’m"))
"""Before a name that a speaker tells as the own one."""
TAG_WORDS = 3
"""Tokens between a quotation and the person in its tag."""


@dataclass
class _Facts:
    """Names, genders and roles that an entity has shown so far."""

    record: PersonRecord = field(default_factory=PersonRecord)
    narrates: bool = False
    is_told: bool = False


class IdentityRules:
    """Tell whether a mention may join an entity, and note which one it joined; mentions come in text order."""

    def __init__(self, discourse: Discourse, spans: Sequence[Span]) -> None:
        self.document, self.spans = discourse.document, spans
        self._readings = [discourse.reader.read(span) for span in spans]
        self._quoted = [discourse.quotation_of[start] != NARRATION for start, _ in spans]
        self._facts: dict[int, _Facts] = {}
        self._entities: list[int] = []
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
        if not facts.record.fits_gender(gender) or self._addresses(number, entity):
            return False
        return name is None or facts.record.fits_name(name)

    def _find_tags(self, discourse: Discourse) -> dict[int, list[int]]:
        """Find the mentions in tags ("…," said Ida) and the names in the quotations beside them: each excludes the others."""
        tokens = self.document.tokens
        named: dict[int, list[int]] = {}
        for number, (start, _) in enumerate(self.spans):
            told = {token.lower() for token in tokens[max(0, start - 2) : start]}
            if (
                self._quoted[number]
                and self._readings[number].name is not None
                and told.isdisjoint(INTRODUCING)
            ):
                named.setdefault(discourse.quotation_of[start], []).append(number)
        found: dict[int, list[int]] = {}
        for quotation, numbers in find_tag_mentions(discourse, self.spans).items():
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
        self._entities.append(entity)
        if not self._quoted[number]:
            form = self._readings[number].form
            if form == "i":
                facts.narrates, self.narrator = True, entity
            facts.is_told = facts.is_told or form in ("he", "she")


def find_tag_mentions(discourse: Discourse, spans: Sequence[Span]) -> dict[int, list[int]]:
    """Find the mentions in the tags of quotations by their numbers; the tag between two quotations belongs to both."""
    tokens = discourse.document.tokens
    before = {start: quotation for quotation, (start, _) in enumerate(discourse.quotations)}
    after = {end: quotation for quotation, (_, end) in enumerate(discourse.quotations)}
    found: dict[int, list[int]] = {}
    for number, (start, end) in enumerate(spans):
        if discourse.quotation_of[start] != NARRATION:
            continue
        told: list[int] = []
        for place in range(max(0, start - TAG_WORDS), start + 1):
            words = tokens[place:start] or tokens[end : end + TAG_WORDS - 1]
            if place in after and has_quotation_verb(words):
                told.append(after[place])
        for place in range(end, min(end + TAG_WORDS + 1, len(tokens))):
            if place in before and (told or has_quotation_verb(tokens[end:place])):
                told.append(before[place])
        for quotation in told:
            found.setdefault(quotation, []).append(number)
    return found


def has_quotation_verb(words: Sequence[str]) -> bool:
    return any(word.lower() in QUOTATION_VERBS for word in words)
