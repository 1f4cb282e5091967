"""Agreement of the words of a mention with its entity, so that a reader sees what the labels say.

The network draws words by equation 6, which knows the entity by its vector alone: it may say "she" of a man, call Anna "Bob", or
take a verb into a mention. So a known entity is called as before, or by a pronoun that fits, whichever equation 6 prefers. In the
first mention of a new one, words that can't stand there have no probability.
"""

from __future__ import annotations

from collections.abc import Mapping
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

COMMON_VERBS = frozenset(
    "is was are were be been being am had has have having do does did done will would shall should can could may might must "
    "went came got took made saw seen looked turned stood sat ran knew told gave found left felt seemed became put let".split()
)
NOT_IN_MENTIONS = COMMON_VERBS | (SPEECH_VERBS - {"returned", "added", "thought", "called"})
NOT_IN_MENTIONS |= set("not never then when while if because".split())
NOT_LAST = {*DETERMINERS, *PREPOSITIONS, "and", "or", "very", "so", "too"} - {*PRONOUNS}
BACKWARD = {form for form, head in PRONOUNS.items() if head in ("he", "she", "it", "they")}
"""Pronouns that refer to a known entity."""
POSSESSIVE_FORMS = frozenset("my your his her its our their thy".split())
"""The only pronouns that another word of a mention may follow."""
PLURALS = frozenset(
    "and these those two three four five both many several few children men women people".split()
)
PUNCTUATION = frozenset([*".,;:!?\"'“”‘’()[]{}*_/-–—…", "--", "...", "``", "''", "'s", "’s", "n't"])
OWN_PRONOUNS = {*PRONOUNS} - {*DETERMINERS}


Expression = tuple[str, ...]


@dataclass(frozen=True)
class MentionAgreement:
    """The expressions of each entity so far, by its number. Immutable, as the states of a story are."""

    called: Mapping[int, tuple[Expression, ...]] = field(default_factory=dict)

    def hear(self, entity: int, form: Expression) -> MentionAgreement:
        """Add the expression of a mention."""
        known = self.called.get(entity, ())
        return MentionAgreement({**self.called, entity: known if form in known else (*known, form)})

    def list_forms(self, entity: int) -> list[Expression]:
        """List the expressions for a known entity: those before, and pronouns that fit; none for a new one."""
        own = self.called.get(entity, ())
        words = frozenset(
            word.lower()
            for form in own
            for word in form
            if len(form) == 1 or word.lower() not in POSSESSIVE_FORMS
        )  # "his" in "his wife" is not she
        if not own:
            return []
        plain = (form for form in sorted(BACKWARD) if form.isalpha())  # "'im" begins as a quotation does
        pronouns = [(form,) for form in plain if self._may_be(PRONOUNS[form], words)]
        return list(dict.fromkeys([*own, *pronouns]))

    def list_unfit(self, *, first: bool, last: bool) -> set[str]:
        """List the words, in lower case, that may not come next in a mention of a new entity.

        :param first: it is the mention's first word, and :param last: its last.
        """
        unfit = {*NOT_IN_MENTIONS, *PUNCTUATION, *BACKWARD, *(NOT_LAST if last else ())}
        if not first:
            unfit |= OWN_PRONOUNS
        elif not last:
            unfit |= OWN_PRONOUNS - POSSESSIVE_FORMS
        return unfit | self._list_names()

    @staticmethod
    def _may_be(head: str, known: frozenset[str]) -> bool:
        """Tell whether a pronoun agrees with pronouns that were used for an entity, else with its number or titles."""
        used = {PRONOUNS[word] for word in known if word in PRONOUNS} & {"he", "she", "it", "they"}
        if used:
            return head in used
        if known & PLURALS:
            return head == "they"
        genders = {GENDERS[word] for word in known if GENDERS.get(word) in (MALE, FEMALE)}
        return not genders or {"he": MALE, "she": FEMALE}.get(head) in genders

    def _list_names(self) -> set[str]:
        """List the words of the names of known entities, but for words that many things share."""
        words = {word.lower() for forms in self.called.values() for form in forms for word in form}
        return {word for word in words if word.isalpha()} - {*DETERMINERS, *PREPOSITIONS, *PRONOUNS}
