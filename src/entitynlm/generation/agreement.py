"""Agreement of a mention's words with its entity in number, gender and name.

Equation 6 knows the entity by its vector alone: it may draw "she" for a man, call Anna "Bob", or draw a verb inside a mention. So
a known entity is mentioned by one of its earlier expressions or an agreeing pronoun, whichever equation 6 prefers, and the first
mention of a new entity contains no word that cannot be part of such a mention.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from entitynlm.discourse.names import guess_gender
from entitynlm.text.english import (
    ADJECTIVES,
    DETERMINERS,
    FEMALE,
    GENDERS,
    HUMAN,
    MALE,
    NOT_IN_NOUN_PHRASES,
    PERSONS,
    PREPOSITIONS,
    PRONOUNS,
    TITLES,
    find_past,
    list_lemmas,
)

NOT_IN_MENTIONS = NOT_IN_NOUN_PHRASES | {"via"} | (PREPOSITIONS - {"of"})
NOT_LAST = {*DETERMINERS, *ADJECTIVES, *"all better of worse two three four five six ten".split()}
BACKWARD = {form for form, head in PRONOUNS.items() if head in ("he", "she", "it", "they")}
"""Pronouns that refer to a known entity."""
SPEAKING = ("i", "you", "we")
"""Pronouns that may introduce an entity."""
POSSESSIVE_FORMS = frozenset("my your his her its our their thy".split())
"""The only pronouns that another word of a mention may follow."""
PLURALS = frozenset(
    "and these those two three four five both many several few children men women people".split()
)
COMMON_OPENERS = {*PRONOUNS, *DETERMINERS} - {"i"}
"""Words that have a capital only where a sentence starts."""


Expression = tuple[str, ...]


@dataclass(frozen=True)
class MentionAgreement:
    """The expressions of each entity so far, by its number; immutable, as story states are."""

    called: Mapping[int, tuple[Expression, ...]] = field(default_factory=dict)

    def record(self, entity: int, form: Expression) -> "MentionAgreement":
        """Return a copy with one more expression of an entity."""
        known = self.called.get(entity, ())
        return MentionAgreement({**self.called, entity: known if form in known else (*known, form)})

    def list_forms(self, entity: int, *, again: bool = False) -> list[Expression]:
        """List the expressions for a known entity: earlier ones and agreeing pronouns; none for a new entity.

        :param again: the entity was mentioned immediately before, so that only a possessive fits: "Bob told him" has two persons.
        """
        own = self.called.get(entity, ())
        words = frozenset(
            word.lower()
            for form in own
            for word in form
            if len(form) == 1 or word.lower() not in POSSESSIVE_FORMS
        )  # "his" in "his wife" is not she
        if not own:
            return []
        said = {PRONOUNS[word] for word in words if word in PRONOUNS} & {*SPEAKING}
        # no 'im, no himself
        plain = (form for form in sorted(PRONOUNS) if form.isalpha() and "sel" not in form)
        named = any(form[0][0].isupper() and form[0].lower() not in COMMON_OPENERS for form in own)
        pronouns = [
            (form,)
            for form in plain
            if PRONOUNS[form] in said or (form in BACKWARD and self._may_be(PRONOUNS[form], words, named))
        ]
        if again:
            return [form for form in pronouns if form[0] in POSSESSIVE_FORMS]
        return list(dict.fromkeys([*own, *pronouns]))

    def introduces(self, word: str, before: Expression, *, last: bool) -> bool:
        """Tell whether a word may come next in the first mention of a new entity, which is a name or begins with a determiner.

        :param before: the mention's words before it.  :param last: whether the mention ends with it.
        """
        low, kinds = word.lower(), list_lemmas(word.lower())
        if not word.replace("-", "").isalpha() or low in NOT_IN_MENTIONS | BACKWARD | self._list_names():
            return False
        if low.rstrip("s") in {each.lower().rstrip("s") for each in before}:
            return False  # "the hotel hotel", "the road roads"
        if low in PRONOUNS:
            return not before and (low in POSSESSIVE_FORMS if not last else PRONOUNS[low] in SPEAKING)
        if low in (NOT_LAST if last else DETERMINERS) and (last or before):
            return False
        if not before and (low in DETERMINERS or word[0].islower()):
            return low in DETERMINERS
        if len(word) < 2 or low in TITLES:
            return False
        noun, after_determiner = "NOUN" in kinds, bool(before) and before[-1].lower() in DETERMINERS
        if last and low in kinds.get("ADJ", ()) and (after_determiner or word[0].islower()):
            return False  # "a dark", "the Royal", "the key inside"
        if word[0].isupper():
            if before and before[-1].islower() and not after_determiner and before[-1] != "of":
                return False  # "the cars Sheldon" would be a clause: "the cars Sheldon drove"
            if not kinds or "PROPN" in kinds or guess_gender(low):
                return True
            return noun and (
                bool(before) or not {"VERB", "ADJ"} & {*kinds}
            )  # "Suddenly", "Take", "Dear" are no names
        if before and not after_determiner and {"VERB", "ADV"} & {*kinds}:
            return False  # "the ice melts" is a clause
        after_noun = bool(before) and {"NOUN"} == {*list_lemmas(before[-1].lower())} - {"VERB"}
        if after_noun and low in kinds.get("ADJ", ()):
            return False  # "a thing good"
        return noun or (not last and "ADJ" in kinds)

    def fits_outside_mentions(self, word: str, *, begins: bool, after: str = "", people: bool = True) -> bool:
        """Tell whether a word can stand outside of mentions: names, titles, "he" and "she" can't, because they refer to a person.

        A noun right after a mention can't either, because it would continue the mention ("the storm | day").

        :param begins: whether the word is the first of a sentence or quotation.
        :param after: the word before it, if that word ended a mention and is no possessive.
        :param people: whether nouns for persons can; if not, only entities of the story are persons.
        """
        low, kinds = word.lower(), list_lemmas(word.lower())
        if PRONOUNS.get(low) in ("he", "she") and "sel" not in low:
            return False
        nouns = kinds.get("NOUN", ())
        last = low.rpartition("-")[2]  # of "half-sister"
        person = (*list_lemmas(last).get("NOUN", ()), last.removesuffix("s"))
        told = any(noun in GENDERS or noun in PERSONS for noun in person)
        if not people and told and PRONOUNS.get(low, "someone") == "someone":
            return False
        if word[:1].isupper() and low not in PRONOUNS:
            named = low in TITLES or low in self._list_names() or guess_gender(low)
            return begins and not named
        if not after or not nouns or low in NOT_IN_MENTIONS or "ADV" in kinds:
            return True
        plural = after in SPEAKING or after == "they" or after not in list_lemmas(after).get("NOUN", (after,))
        return "VERB" in kinds and (plural or low not in nouns or find_past(low) is not None)

    @staticmethod
    def _may_be(head: str, known: frozenset[str], named: bool) -> bool:
        """Tell whether a pronoun agrees with an entity's number, titles and names, else with its earlier pronouns.

        An entity without a name that is not known to be human is a thing.
        """
        if known & PLURALS:
            return head == "they"
        if "we" in known:
            return False
        genders = {
            GENDERS[word] for word in known if GENDERS.get(word) in (MALE, FEMALE) and word not in PRONOUNS
        }
        genders = genders or {gender for word in known if named and (gender := guess_gender(word))}
        if genders:
            return {"he": MALE, "she": FEMALE}.get(head) in genders
        used = {PRONOUNS[word] for word in known if word in PRONOUNS} & {"he", "she", "it", "they"}
        if used:
            return head in used
        human = named or any(GENDERS.get(word) == HUMAN for word in known)
        return head in ("he", "she") if human else head == "it"

    def _list_names(self) -> set[str]:
        """List the words of known entities' names, except for words that are also common nouns."""
        words = {word.lower() for forms in self.called.values() for form in forms for word in form}
        return {word for word in words if word.isalpha()} - {*DETERMINERS, *PREPOSITIONS, *PRONOUNS}
