"""Records of persons: the names and the evidence of gender in an entity's mentions, with counts.

Rules of identity, name grouping and casts all read mentions by :class:`MentionReader` and collect what they read in a
:class:`PersonRecord`.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from entitynlm.discourse.names import (
    ARTICLE_TITLES,
    MALE_TITLES,
    PersonName,
    conflict,
    guess_gender,
    parse_name,
    parse_rank,
)
from entitynlm.text.document import Document, Span
from entitynlm.text.english import FEMALE, GENDERS, MALE, PRONOUNS

WORD_WEIGHT, TITLE_WEIGHT = 1, 2
"""The evidence for a gender in a pronoun, a first name or a noun ("the girl"), and in a title."""
SURE_SHARE = 0.75
"""The share of the evidence for one gender that excludes the other."""
LONGEST_NOUN = 4
"""Words of a description whose last word is its head."""


class MentionReading(NamedTuple):
    """What the words of one mention tell: a pronoun's citation form, a person's name, a gender and its weight as evidence.

    :param title: title that stands for a person's name: "the Colonel".
    """

    form: str | None
    name: PersonName | None
    gender: str | None
    weight: int
    title: str | None = None


class MentionReader:
    """Reads the mentions of one text, each span once.

    :param common: words whose capital does not mark a name.  :param genders: gender of names, from the pronouns after them.
    """

    def __init__(
        self, document: Document, common: frozenset[str], genders: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self.document, self._common, self._genders = document, common, genders
        self._read: dict[Span, MentionReading] = {}

    def read(self, span: Span) -> MentionReading:
        if span not in self._read:
            self._read[span] = self._read_words(*span)
        return self._read[span]

    def _read_words(self, start: int, end: int) -> MentionReading:
        words = self.document.tokens[start:end]
        form = PRONOUNS.get(" ".join(words).lower())
        if form is not None:
            return MentionReading(form, None, keep_gender(GENDERS.get(form)), WORD_WEIGHT)
        name = parse_name(words, self._common)
        if name is None:
            head = words[-1].lower() if end - start <= LONGEST_NOUN else ""
            return MentionReading(None, None, keep_gender(GENDERS.get(head)), WORD_WEIGHT, parse_rank(words))
        if start and self.document.tokens[start - 1].lower() == "the" and name.core[0] == 0:
            name = replace(name, has_article=name.title not in ARTICLE_TITLES)
        if name.gender is not None:
            return MentionReading(None, name, name.gender, TITLE_WEIGHT)
        if name.title:
            return MentionReading(None, name, MALE if name.title in MALE_TITLES else None, WORD_WEIGHT)
        return MentionReading(
            None, name, guess_gender(name.words[0]) or self._genders.get(name.words[0]), WORD_WEIGHT
        )


def keep_gender(gender: str | None) -> str | None:
    """Return male and female, and None for any other value."""
    return gender if gender in (MALE, FEMALE) else None


@dataclass
class PersonRecord:
    """Names and genders in an entity's mentions so far, and the number of its mentions that are "we" or "they"."""

    names: Counter[PersonName] = field(default_factory=Counter)
    genders: Counter[str] = field(default_factory=Counter)
    name_genders: Counter[str] = field(default_factory=Counter)
    mentions: int = 0
    plurals: int = 0

    def note(self, reading: MentionReading) -> None:
        self.mentions += 1
        self.plurals += reading.form in ("we", "they")
        if reading.name is not None:
            self.names[reading.name] += 1
        if reading.gender is not None:
            self.genders[reading.gender] += reading.weight
            self.name_genders[reading.gender] += reading.name is not None

    @property
    def gender(self) -> str | None:
        """The gender, if the evidence excludes the other: one "she" is enough, so that "he" is another person."""
        return find_gender(self.genders, 1)

    @property
    def is_group(self) -> bool:
        return 2 * self.plurals > self.mentions

    def fits_gender(self, gender: str | None) -> bool:
        return gender is None or self.gender in (None, gender)

    def fits_name(self, name: PersonName) -> bool:
        return not any(conflict(name, other) for other in self.names)


def find_gender(evidence: Mapping[str, float], least: float, share: float = SURE_SHARE) -> str | None:
    """Find the gender with at least ``least`` more evidence than the other, and at least this share of all evidence."""
    male, female = evidence.get(MALE, 0), evidence.get(FEMALE, 0)
    if abs(male - female) < least or max(male, female) < share * (male + female):
        return None
    return MALE if male > female else FEMALE
