"""The entities of a text so far, and what was said of each: the memory that a mention is compared with.

:class:`Cast` follows a text mention by mention. What it keeps can be read off the page (words, forms, places, quotations); what
can't, it has from a :class:`Lexicon`: whether a name is a man's or a woman's, and which nouns mean nearly the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from entitynlm.coref.linking.gender_prior import GenderPrior
from entitynlm.coref.ranker.attributes import NAME, NOUN, PRONOUN, MentionView, view_mentions
from entitynlm.coref.ranker.syntax import CandidateMention, guess_head
from entitynlm.text.document import Document, Span
from entitynlm.text.english import FEMALE, MALE, NEUTER, PLURAL, SINGULAR, UNKNOWN

NOBODY = -1
REMEMBERED = 80  # entities mentioned longest ago are candidates only if a word of theirs comes up again
HEADS = 12  # of an entity whose vectors are compared
OBJECTIVE = frozenset("me him us them whom thee".split())
POSSESSIVE = frozenset("my mine his hers its our ours their theirs your yours thy whose".split())
PREPOSITIONS = frozenset(
    "of to with in by for from at on upon into about against toward towards before after behind beside over under near through "
    "among between like than without".split()
)
TITLES = frozenset(
    "mr mr. mrs mrs. miss ms ms. lady lord sir dr dr. doctor captain colonel major uncle aunt king queen prince princess "
    "professor master madame monsieur count countess duke duchess father mother sister brother".split()
)
CLAUSE_BORDERS = frozenset((",", ";", ":", "--", "—", "“", "”", '"'))
GENDERED = (MALE, FEMALE, NEUTER)
NOUN_PREFERENCE = 0.7  # a noun ("the nurse") tells less than a name


@dataclass(frozen=True)
class Lexicon:
    """What is known of words before the text: leanings of names, and vectors of length 1 (None for unknown words)."""

    gender_prior: GenderPrior = field(default_factory=lambda: GenderPrior({}))
    find_vector: Callable[[str], np.ndarray | None] = lambda word: None


@dataclass(frozen=True)
class Place:
    """A mention where it stands: its case, what is before it, whose name it gives."""

    opened: bool
    inside: bool
    objective: bool
    possessive: bool
    reflexive: bool
    preposition: bool
    comma: bool
    gender_preference: float
    given_name: str | None = None
    title: str | None = None
    surname: str | None = None


@dataclass
class EntityRecord:
    """All that was said of one entity."""

    number: int
    type: str | None = None
    count: int = 0
    last: int = -1  # which mention of the text was its last
    view: MentionView | None = None
    place: Place | None = None
    openings: int = 0
    forms: Counter[str] = field(default_factory=Counter)
    sentences: list[int] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    lemmas: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    given_names: dict[str, set[str]] = field(default_factory=dict)  # by surname
    titles: dict[str, set[str]] = field(default_factory=dict)
    heads: dict[str, np.ndarray] = field(default_factory=dict)
    genders: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)
    gender_prior: list[float] = field(default_factory=list)
    gender: str = UNKNOWN
    grammatical_number: str = UNKNOWN
    gender_preference: float = 0.0

    def settle(self) -> None:
        """What most mentions say of gender and number. Pronouns tell more than names."""
        self.gender = _find_commonest(self.genders, GENDERED)
        self.grammatical_number = _find_commonest(self.numbers, (SINGULAR, PLURAL))
        he, she = self.forms["he"], self.forms["she"]
        if he + she:
            self.gender_preference = (he - she) / (he + she)
        elif self.gender in (MALE, FEMALE):
            self.gender_preference = 1.0 if self.gender == MALE else -1.0
        elif self.gender_prior:
            self.gender_preference = sum(self.gender_prior) / len(self.gender_prior)


def _find_commonest(counts: Counter[str], known: tuple[str, ...]) -> str:
    found = [(count, name) for name, count in counts.items() if name in known]
    return max(found)[1] if found else UNKNOWN


def view_spans(document: Document, spans: Sequence[Span]) -> list[MentionView]:
    """The mentions' words, looked at once."""
    found = [CandidateMention(start, end, guess_head(document, start, end)) for start, end in spans]
    return view_mentions(document, found)


class EntityMemory:
    """The entities of a text so far. Compare a mention with them, decide, then ``add`` it."""

    def __init__(self, document: Document, lexicon: Lexicon | None = None) -> None:
        self.document = document
        self.lexicon = lexicon or Lexicon()
        self.members: list[EntityRecord] = []
        self.mentions = 0
        self.voices: dict[int, int] = {}  # quotation → who speaks (NOBODY: somebody new)
        self.last_form: dict[tuple[str, bool], int] = {}
        self.last_head: dict[str, int] = {}
        self.of_word: dict[str, set[int]] = {}
        self.recent: list[int] = []  # entity numbers, the last mentioned last
        self._talks: dict[int, dict[str, int]] = {}  # quotation → who says I, who is you
        self._earlier_talk: dict[str, int] = {}  # the same of the quotation before
        borders = np.cumsum([token in CLAUSE_BORDERS for token in document.tokens], dtype=np.int64)
        self.borders: list[int] = [0, *borders.tolist()]

    def add(self, view: MentionView, entity: int, type: str | None = None) -> int:
        """Note a mention of an entity (:data:`NOBODY`: of a new one); the entity's number."""
        place = self.locate(view)
        if entity == NOBODY:
            entity = len(self.members)
            self.members.append(EntityRecord(entity, type))
        else:
            self.recent.remove(entity)
        self.recent.append(entity)
        member = self.members[entity]
        self.mentions += 1
        member.count += 1
        member.last, member.view, member.place = self.mentions, view, place
        member.openings += place.opened
        member.forms[view.form] += 1
        member.genders[view.gender] += 1
        member.numbers[view.number] += 1
        member.sentences.append(view.sentence)
        self.last_form[view.form, view.quote > 0] = entity
        if view.kind == PRONOUN:
            self._note_talk(view, entity)
        else:
            self._note_words(member, view, place)
        member.settle()
        return entity

    def _note_words(self, member: EntityRecord, view: MentionView, place: Place) -> None:
        member.texts.add(view.text)
        member.lemmas.add(view.lemma)
        member.words |= view.content
        if place.gender_preference:
            member.gender_prior.append(place.gender_preference)
        if view.kind == NAME:
            member.names |= view.content
        if place.surname and place.given_name:
            member.given_names.setdefault(place.surname, set()).add(place.given_name)
        if place.surname and place.title:
            member.titles.setdefault(place.surname, set()).add(place.title)
        if view.head not in member.heads and len(member.heads) < HEADS:
            vector = self.lexicon.find_vector(view.head)
            if vector is not None:
                member.heads[view.head] = vector
        self.last_head[view.lemma] = member.number
        for word in (*view.content, view.lemma):
            self.of_word.setdefault(word, set()).add(member.number)

    # -- speech -----------------------------------------------------------------------------------------------------------

    def _note_talk(self, view: MentionView, entity: int) -> None:
        if not view.quote or view.form not in ("i", "you"):
            return
        if view.quote not in self._talks and self._talks:
            self._earlier_talk = self._talks[max(self._talks)]
            self._talks = {}
        self._talks.setdefault(view.quote, {})[view.form] = entity
        if view.form == "i" and self.voices.get(view.quote, NOBODY) == NOBODY:
            self.voices[view.quote] = entity

    def find_talker(self, form: str, quote: int) -> int | None:
        """Who was called "I" or "you" in this quotation so far."""
        return self._talks.get(quote, {}).get(form)

    def find_earlier_talker(self, form: str, quote: int) -> int | None:
        """Who was called so in the quotation before this one."""
        if self._talks and quote not in self._talks:
            return self._talks[max(self._talks)].get(form)
        return self._earlier_talk.get(form)

    def find_turns(self, quote: int) -> tuple[int | None, int | None]:
        """The last two who spoke before this quotation, its own speaker left out: whoever answers is often one of them."""
        current = self.voices.get(quote)
        found: list[int] = []
        for earlier in range(quote - 1, max(0, quote - 9), -1):
            voice = self.voices.get(earlier, NOBODY)
            if voice not in (NOBODY, current, *found[-1:]):
                found.append(voice)
            if len(found) == 2:
                break
        return (found[0] if found else None, found[1] if len(found) > 1 else None)

    # -- what a mention is compared by ----------------------------------------------------------------------------------------

    def find_candidates(self, view: MentionView) -> list[int]:
        """Entities that may be meant, the last mentioned first."""
        recent = self.recent[-REMEMBERED:][::-1]
        if len(self.recent) <= REMEMBERED or view.kind == PRONOUN:
            return recent
        near = set(recent)
        words = (*view.content, view.lemma)
        far = {n for word in words for n in self.of_word.get(word, ())} - near
        return recent + sorted(far, key=lambda n: -self.members[n].last)[:REMEMBERED]

    def locate(self, view: MentionView) -> Place:
        """The facts of a mention that depend on where it stands."""
        tokens = self.document.tokens
        start, end = view.mention.span
        first = tokens[start].lower()
        before = tokens[start - 1].lower() if start else ""
        pronoun = view.kind == PRONOUN
        outer = self.members[self.recent[-1]].view if self.recent else None
        inside = outer is not None and outer.mention.end >= end and outer.mention.span != (start, end)
        given_name, title, surname = self._split_name(view) if view.kind == NAME else (None, None, None)
        return Place(
            opened=start == self.document.sentences[view.sentence][0],
            inside=inside,
            objective=pronoun and first in OBJECTIVE,
            possessive=pronoun and (first in POSSESSIVE or (first == "her" and inside)),
            reflexive=pronoun and first.endswith(("self", "selves")),
            preposition=before in PREPOSITIONS,
            comma=before == ",",
            gender_preference=self._find_gender_preference(view),
            given_name=given_name,
            title=title,
            surname=surname,
        )

    def _find_gender_preference(self, view: MentionView) -> float:
        if view.gender in (MALE, FEMALE):
            return 1.0 if view.gender == MALE else -1.0
        if view.kind == NAME:
            found = (self.lexicon.gender_prior.find(word) for word in self._find_capitals(view))
            return next((gender_preference for gender_preference in found if gender_preference), 0.0)
        if view.kind == NOUN and view.number == SINGULAR:
            return NOUN_PREFERENCE * self.lexicon.gender_prior.find(view.head)
        return 0.0

    def _split_name(self, view: MentionView) -> tuple[str | None, str | None, str | None]:
        """Given name, title and surname."""
        words = [word.lower() for word in self._find_capitals(view)]
        if not words:
            return None, None, None
        given = [word for word in words[:-1] if word not in TITLES]
        title = words[0].rstrip(".") if len(words) > 1 and words[0] in TITLES else None
        return given[0] if given else None, title, words[-1]

    def _find_capitals(self, view: MentionView) -> list[str]:
        words = self.document.tokens[view.mention.start : view.mention.head + 1]
        return [word for word in words if word[0].isupper()]
