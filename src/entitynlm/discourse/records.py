"""Records of persons: the names that an entity has shown, and the evidence for its gender, with counts.

Rules of identity, the joining of entities by names and casts all read mentions by :class:`MentionReader` and gather what they
read in a :class:`PersonRecord`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from entitynlm.discourse.discourse import Discourse
from entitynlm.discourse.lexicon import KIN_GENDERS, MALE_TITLES, TITLE_GENDERS, guess_gender
from entitynlm.discourse.names import PersonName, conflict, parse_name
from entitynlm.discourse.quotation_marks import MARKS
from entitynlm.text.document import Document, Span
from entitynlm.text.english import FEMALE, GENDERS, MALE, PRONOUNS
from entitynlm.text.word_forms import list_lemmas

WORD_WEIGHT, TITLE_WEIGHT = 1, 2
"""The evidence for a gender in a pronoun, a first name or a noun ("the girl"), and in a title."""
SURE_EVIDENCE = 2
"""The evidence for one gender beyond that for the other, after which the other is excluded; 1 if a first name tells it."""
SURE_SHARE = 0.75
PRONOUN_REACH = 8
"""Tokens after a name in which a pronoun tells its gender."""
LEXICON_VOTES = 3
"""Pronouns after a name that the lexicon of first names is worth."""
FEWEST_ARTICLES = 2
"""Names with an article that a ship or an inn has at least."""
LONGEST_NOUN = 4
"""Words of a description whose last word is its head."""


class Reading(NamedTuple):
    """The words of one mention: a pronoun's citation form, a person's name, the gender that they tell and how surely."""

    form: str | None
    name: PersonName | None
    gender: str | None
    weight: int


class MentionReader:
    """Read the mentions of one text."""

    def __init__(self, discourse: Discourse) -> None:
        self.document, self._common = discourse.document, discourse.common_words
        self._genders = self._count_genders()

    def read(self, span: Span) -> Reading:
        start, end = span
        words = self.document.tokens[start:end]
        form = PRONOUNS.get(" ".join(words).lower())
        if form is not None:
            return Reading(form, None, _keep_gender(GENDERS.get(form)), WORD_WEIGHT)
        name = parse_name(words, self._common)
        if name is None:
            head = words[-1].lower() if end - start <= LONGEST_NOUN else ""
            return Reading(None, None, _keep_gender(GENDERS.get(head)), WORD_WEIGHT)
        if name.gender is not None:
            return Reading(None, name, name.gender, TITLE_WEIGHT)
        return Reading(None, name, self.guess_gender(name), WORD_WEIGHT)

    def guess_gender(self, name: PersonName) -> str | None:
        """Guess the gender of a name, by the pronouns that follow it in this text and by the lexicon."""
        votes = Counter(self._genders.get(name.words[0], {}))
        known = MALE if name.title in MALE_TITLES else None if name.title else guess_gender(name.words[0])
        if known is not None:
            votes[known] += LEXICON_VOTES
        gender, count = max(votes.items(), key=lambda pair: pair[1], default=(None, 0))
        return gender if count >= max(LEXICON_VOTES, SURE_SHARE * votes.total()) else None

    def _count_genders(self) -> dict[str, Counter[str]]:
        """Count the pronouns "he" and "she" that follow each name, before another; those of Mr. Vale tell nothing of a Vale."""
        tokens, found = self.document.tokens, dict[str, Counter[str]]()
        proper = {
            token
            for before, token in pairwise(tokens)
            if token[0].isupper() and (before[0].isalnum() or before == ",")
        }
        titled: dict[str, Counter[str]] = {}
        name, title, end, goes_on = "", None, 0, False
        for place, token in enumerate(tokens):
            word = token.rstrip(".").lower()
            form = PRONOUNS.get(word)
            if form is None and token in proper and word not in self._common:
                if not goes_on:
                    title = TITLE_GENDERS.get(word)
                    goes_on = word not in TITLE_GENDERS or title is not None  # "Dr." tells nothing
                    name = word if goes_on and title is None and word not in KIN_GENDERS else ""
                elif title is not None:
                    titled.setdefault(word, Counter())[title] += LEXICON_VOTES
                    title = None
                end = place + PRONOUN_REACH
                continue
            if name and word in ("he", "she") and place <= end:
                found.setdefault(name, Counter())[MALE if form == "he" else FEMALE] += 1
            if form in ("he", "she") or token in MARKS:
                name = ""
            goes_on = False
        for name, votes in titled.items():
            if not votes[FEMALE]:  # Mr. Vale: Vale is a man, unless there is a Mrs. Vale
                found.setdefault(name, Counter()).update(votes)
        return found


def _keep_gender(gender: str | None) -> str | None:
    return gender if gender in (MALE, FEMALE) else None


@dataclass
class PersonRecord:
    """Names and genders that the mentions of an entity have shown so far."""

    names: Counter[PersonName] = field(default_factory=Counter)
    genders: Counter[str] = field(default_factory=Counter)
    has_clear_name: bool = False

    def note(self, reading: Reading) -> None:
        if reading.name is not None:
            self.names[reading.name] += 1
            self.has_clear_name = self.has_clear_name or reading.gender is not None
        if reading.gender is not None:
            self.genders[reading.gender] += reading.weight

    @property
    def gender(self) -> str | None:
        """The gender that excludes the other one."""
        return self.find_gender(1 if self.has_clear_name else SURE_EVIDENCE, SURE_SHARE)

    def find_gender(self, least: int, share: float) -> str | None:
        """Find the gender that has ``least`` more evidence than the other, and this share of it."""
        for gender, other in ((MALE, FEMALE), (FEMALE, MALE)):
            evidence = self.genders[gender]
            if evidence - self.genders[other] >= least and evidence >= share * self.genders.total():
                return gender
        return None

    def fits_gender(self, gender: str | None) -> bool:
        return gender is None or self.gender in (None, gender)

    def fits_name(self, name: PersonName) -> bool:
        return not any(conflict(name, other) for other in self.names)


def find_things(document: Document, discourse: Discourse) -> dict[str, str]:
    """Find entities that are taken for persons and are ships or inns, with their types.

    Their names (nearly) always have an article and no common noun: "the Mary Ellen", but not "the White Rabbit".
    """
    reader, found = MentionReader(discourse), dict[str, str]()
    for entity in document.entities:
        readings = (
            [reader.read(mention.span) for mention in entity.mentions] if entity.type == "person" else ()
        )
        names = [reading.name for reading in readings if reading.name is not None]
        things = [name for name in names if name.has_article and _is_proper(name)]
        if len(things) >= FEWEST_ARTICLES and len(things) >= SURE_SHARE * len(names):
            female = any(reading.form == "she" for reading in readings)
            found[entity.id] = "vehicle" if female else "place"
    return found


def _is_proper(name: PersonName) -> bool:
    return name.title is not None or not any("NOUN" in list_lemmas(word) for word in name.words)
