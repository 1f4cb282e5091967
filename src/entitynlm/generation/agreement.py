"""Which words may stand in a mention of an entity, so that what a reader sees agrees with the labels.

The network draws words by equation 6, which knows the entity by its vector alone: it may say "she" of a man, call Anna "Bob", or
take a verb into a mention. So a known entity is called what it was called before, or by a pronoun that fits: equation 6 decides
which. In the first mention of a new one, words that can't stand there have no probability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from entitynlm.text.english import (
    DETERMINERS,
    FEMALE,
    GENDERS,
    MALE,
    PREPOSITIONS,
    PRONOUNS,
    SPEECH_VERBS,
)

VERBS = frozenset(
    "is was are were be been being am had has have having do does did done will would shall should can could may might must "
    "went came got took made saw seen looked turned stood sat ran knew told gave found left felt seemed became put let".split()
)
OUTSIDE = (
    VERBS
    | (SPEECH_VERBS - {"returned", "added", "thought", "called"})
    | set("not never then when while if because".split())
)
NOT_LAST = {*DETERMINERS, *PREPOSITIONS, "and", "or", "very", "so", "too"} - {*PRONOUNS}
BACKWARD = {
    form for form, head in PRONOUNS.items() if head in ("he", "she", "it", "they")
}  # they refer to what is known
POSSESSIVE = frozenset(
    "my your his her its our their thy".split()
)  # the only pronouns that another word may follow
PLURAL = frozenset(
    "and these those two three four five both many several few children men women people".split()
)
PERSON = "person"
MARKS = frozenset([*".,;:!?\"'“”‘’()[]{}*_/-–—…", "--", "...", "``", "''", "'s", "’s", "n't"])
OWN = {*PRONOUNS} - {*DETERMINERS}


Form = tuple[str, ...]


@dataclass(frozen=True)
class Agreement:
    """What each entity has been called, by its number. Immutable, as the states of a story are."""

    called: Mapping[int, tuple[Form, ...]] = field(default_factory=dict)
    types: Mapping[int, str] = field(default_factory=dict)  # of entities, where the model has any

    def hear(self, entity: int, form: Form, type: str | None = None) -> Agreement:
        """The same after a mention."""
        known = self.called.get(entity, ())
        types = {**self.types, entity: type} if type else self.types
        return Agreement({**self.called, entity: known if form in known else (*known, form)}, types)

    def list_forms(self, entity: int) -> list[Form]:
        """What a known entity may be called: as before, or by a pronoun that fits; nothing for one that is new."""
        own = self.called.get(entity, ())
        words = frozenset(
            word.lower() for form in own for word in form if len(form) == 1 or word.lower() not in POSSESSIVE
        )  # "his" in "his wife" is not she
        if not own:
            return []
        pronouns = [(form,) for form in sorted(BACKWARD) if self._may_be(entity, PRONOUNS[form], words)]
        return list(dict.fromkeys([*own, *pronouns]))

    def list_unfit(self, *, first: bool, last: bool) -> set[str]:
        """The words, in lower case, that may not come next in a mention of a new entity.

        :param first: it is the mention's first word, and :param last: its last.
        """
        unfit = {*OUTSIDE, *MARKS, *BACKWARD, *(NOT_LAST if last else ())}
        if not first:
            unfit |= OWN
        elif not last:
            unfit |= OWN - POSSESSIVE
        return unfit | self._list_names()

    def _may_be(self, entity: int, head: str, known: frozenset[str]) -> bool:
        """Whether a pronoun's gender and number agree with what is known: one kind of pronoun once it was used, else titles."""
        used = {PRONOUNS[word] for word in known if word in PRONOUNS} & {"he", "she", "it", "they"}
        if used:
            return head in used
        if known & PLURAL:
            return head == "they"
        genders = {GENDERS[word] for word in known if GENDERS.get(word) in (MALE, FEMALE)}
        if genders:
            return {"he": MALE, "she": FEMALE}.get(head) in genders
        if entity in self.types:
            return head != "they" and (head == "it") != (self.types[entity] == PERSON)
        return True

    def _list_names(self) -> set[str]:
        """What the entities that are known are called, but for words that many things share."""
        words = {word.lower() for forms in self.called.values() for form in forms for word in form}
        return {word for word in words if word.isalpha()} - {*DETERMINERS, *PREPOSITIONS, *PRONOUNS}


def list_spellings(words: Sequence[str]) -> dict[str, list[int]]:
    """The numbers of words by their lower case."""
    found: dict[str, list[int]] = {}
    for number, word in enumerate(words):
        found.setdefault(word.lower(), []).append(number)
    return found
