"""Rules of identity: mentions that can't be one person, which coreference obeys while it links, whatever its scores.

A name does not join an entity that has another first name, title or surname; "she" does not join an entity that is called "Mr.";
the narrator, "I" outside of quotations, is one entity from beginning to end, and is not "he" in the narration.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from entitynlm.discourse.discourse import NARRATION, Discourse
from entitynlm.discourse.names import PersonName, conflict, parse_name
from entitynlm.text.document import Span
from entitynlm.text.english import FEMALE, GENDERS, MALE, PRONOUNS

NAMING = frozenset(("called", "named", "nicknamed", "alias", "as", "christened"))
"""Between two names of one person: "Miss Cowley, known as Tuppence"."""
SURE_PRONOUNS = 2
"""Pronouns of one gender, none of the other, after which the other gender is excluded."""


@dataclass
class _Facts:
    """Names, genders and roles that an entity has shown so far."""

    names: set[PersonName] = field(default_factory=set)
    genders: Counter[str] = field(default_factory=Counter)
    titled: str | None = None
    narrates: bool = False
    is_told: bool = False
    end: int = -1

    @property
    def gender(self) -> str | None:
        if self.titled:
            return self.titled
        male, female = self.genders[MALE], self.genders[FEMALE]
        if male >= SURE_PRONOUNS and not female:
            return MALE
        return FEMALE if female >= SURE_PRONOUNS and not male else None


class IdentityRules:
    """Tell whether a mention may join an entity, and note which one it joined; mentions come in text order."""

    def __init__(self, discourse: Discourse, spans: Sequence[Span]) -> None:
        self.document, self.spans = discourse.document, spans
        self._names: list[PersonName | None] = []
        self._forms: list[str | None] = []
        self._quoted = [discourse.quotation_of[start] != NARRATION for start, _ in spans]
        for start, end in spans:
            words = self.document.tokens[start:end]
            self._names.append(parse_name(words, discourse.common_words))
            self._forms.append(PRONOUNS.get(" ".join(words).lower()))
        self._facts: dict[int, _Facts] = {}
        self._narrated = len(set(self.document.column("speaker"))) == 1  # in a transcript everybody says "I"
        self.narrator: int | None = None

    def find_entity(self, number: int) -> int | None:
        """Find the entity that a mention must belong to: the narrator, for each "I" outside of quotations after the first."""
        narrates = self._narrated and self._forms[number] == "i" and not self._quoted[number]
        return self.narrator if narrates else None

    def allows(self, number: int, entity: int) -> bool:
        """Tell whether names, genders and the narrator's role permit a mention to join an entity."""
        facts = self._facts.get(entity)
        if facts is None:
            return True
        name, form = self._names[number], self._forms[number]
        told = self._narrated and not self._quoted[number]
        if told and form == "i" and (facts.is_told or facts.names):
            return False
        if told and facts.narrates and (form in ("he", "she", "it", "they") or name is not None):
            return False
        gender = self._find_gender(number)
        if gender is not None and facts.gender not in (None, gender):
            return False
        if name is None or not any(conflict(name, other) for other in facts.names):
            return True
        return self._is_renamed(number, facts)

    def _is_renamed(self, number: int, facts: _Facts) -> bool:
        between = self.document.tokens[facts.end : self.spans[number][0]]
        return 0 < len(between) <= 4 and any(word.lower() in NAMING for word in between)

    def _find_gender(self, number: int) -> str | None:
        name, form = self._names[number], self._forms[number]
        found = name.gender if name is not None else GENDERS.get(form or self._find_head(number))
        return found if found in (MALE, FEMALE) else None

    def _find_head(self, number: int) -> str:
        start, end = self.spans[number]
        return self.document.tokens[end - 1].lower() if end - start <= 4 else ""

    def note(self, number: int, entity: int) -> None:
        facts = self._facts.setdefault(entity, _Facts())
        name, form, gender = self._names[number], self._forms[number], self._find_gender(number)
        facts.end = self.spans[number][1]
        if name is not None:
            facts.names.add(name)
            facts.titled = facts.titled or name.gender
        if gender is not None:
            facts.genders[gender] += 1
        if not self._quoted[number]:
            if form == "i":
                facts.narrates, self.narrator = True, entity
            facts.is_told = facts.is_told or form in ("he", "she")
