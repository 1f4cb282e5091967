"""What a mention's words say about who is meant: the evidence that a vocabulary of 16,000 words can't see.

Names of a new text are unknown words to a language model, all alike. Whether two mentions are spelt alike, whether "she" fits
someone who was called "he", whether "I" is said in the same quotation: all that can be read off the page. :class:`Cast` follows a
text mention by mention, keeps what was said of every entity so far, and describes a mention's possible referents as rows of
numbers, one per entity and one for "somebody new".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from entitynlm.baselines.ranker.attributes import NAME, NOUN, PRONOUN, MentionView, view_mentions
from entitynlm.baselines.ranker.english import DETERMINERS, FEMALE, MALE, NEUTER, PLURAL, SINGULAR, UNKNOWN
from entitynlm.baselines.ranker.syntax import CandidateMention, guess_head
from entitynlm.data.document import Document, Span

REMEMBERED = 80  # entities mentioned longest ago are candidates only if a word of theirs comes up again
NOBODY = -1

FORMS = ("i", "you", "he", "she", "it", "we", "they", "this", "that", "who", NAME, NOUN)
DETERMINER_KINDS = ("definite", "indefinite", "demonstrative", "possessive", "none", "bare")
OF_MENTION = (
    *(f"form {name}" for name in FORMS),
    "form other",
    *(f"determiner {name}" for name in DETERMINER_KINDS),
    "quoted",
    "opens sentence",
    "length",
    "inside another",
)
OF_REFERENT = (
    "new", "distance", "same sentence", "sentence before", "two or three sentences", "ten sentences", "far",
    "mentions since", "last mentioned", "last but one", "last but two", "long since", "count", "most mentioned",
    "share of form", "has form", "last of form", "most of form", "gender agrees", "gender differs", "gender unknown",
    "number agrees", "number differs", "same text", "same head", "last of head", "shared words", "all words",
    "adds words", "other name", "other head", "has name", "pronouns only", "same quoting", "same quotation",
    "says I here", "says you here", "said I before", "said you before", "type agrees", "type differs",
    "last was pronoun", "last was name", "last opened sentence", "contains mention", "adjacent",
    "new: text seen", "new: head seen", "new: word seen", "new: entities", "new: form seen", "new: agreeing",
)  # fmt: skip
FEATURES = (*OF_MENTION, *OF_REFERENT)
_NEW_ROW = {name: column for column, name in enumerate(OF_REFERENT)}


@dataclass
class _Member:
    """All that was said of one entity."""

    number: int
    type: str | None = None
    count: int = 0
    last: int = -1
    view: MentionView | None = None
    opened: bool = False
    forms: Counter[str] = field(default_factory=Counter)
    texts: set[str] = field(default_factory=set)
    lemmas: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    genders: Counter[str] = field(default_factory=Counter)
    numbers: Counter[str] = field(default_factory=Counter)

    @property
    def gender(self) -> str:
        known = [(n, g) for g, n in self.genders.items() if g in (MALE, FEMALE, NEUTER)]
        return max(known)[1] if known else UNKNOWN

    @property
    def grammatical_number(self) -> str:
        known = [(n, g) for g, n in self.numbers.items() if g in (SINGULAR, PLURAL)]
        return max(known)[1] if known else UNKNOWN


@dataclass(frozen=True)
class Described:
    """A mention's possible referents: entity numbers, the last one :data:`NOBODY` for a new one, and a row of features each."""

    candidates: list[int]
    features: np.ndarray


def view_spans(document: Document, spans: Sequence[Span]) -> list[MentionView]:
    """The mentions' words, looked at once."""
    found = [CandidateMention(start, end, guess_head(document, start, end)) for start, end in spans]
    return view_mentions(document, found)


class Cast:
    """The entities of a text so far. ``describe`` a mention, decide, then ``add`` it."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.members: list[_Member] = []
        self.mentions = 0
        self._last_form: dict[tuple[str, bool], int] = {}
        self._last_head: dict[str, int] = {}
        self._of_word: dict[str, set[int]] = {}
        self._recent: list[int] = []  # entity numbers, the last mentioned last
        self._speakers: dict[int, dict[str, int]] = {}  # quotation → who says I, who is you
        self._earlier: dict[str, int] = {}  # the same of the quotation before
        self._most = (
            0  # mentions of the candidate that has most, and how many of them are of the form in question
        )
        self._most_of_form = 0

    def describe(self, view: MentionView, type: str | None = None) -> Described:
        """Rows for all entities that may be meant, the last mentioned first, and for a new one."""
        candidates = self._find_candidates(view)
        about = self._describe_mention(view)
        self._most = max((self.members[n].count for n in candidates), default=0)
        self._most_of_form = max((self.members[n].forms[view.form] for n in candidates), default=0)
        rows = [self._describe_member(view, type, self.members[n], rank) for rank, n in enumerate(candidates)]
        rows.append(self._describe_new(view, candidates))
        table = np.array(rows, dtype=np.float32).reshape(len(rows), len(OF_REFERENT))
        return Described(
            [*candidates, NOBODY], np.concatenate([np.tile(about, (len(rows), 1)), table], axis=1)
        )

    def add(self, view: MentionView, entity: int, type: str | None = None) -> int:
        """Note a mention of an entity (:data:`NOBODY`: of a new one); the entity's number."""
        if entity == NOBODY:
            entity = len(self.members)
            self.members.append(_Member(entity, type))
        else:
            self._recent.remove(entity)
        self._recent.append(entity)
        member = self.members[entity]
        self.mentions += 1
        member.count += 1
        member.last, member.view = self.mentions, view
        member.opened = self._opens(view)
        member.forms[view.form] += 1
        member.genders[view.gender] += 1
        member.numbers[view.number] += 1
        self._last_form[view.form, view.quote > 0] = entity
        if view.kind == PRONOUN:
            self._note_speaker(view, entity)
        else:
            member.texts.add(view.text)
            member.lemmas.add(view.lemma)
            member.words |= view.content
            if view.kind == NAME:
                member.names |= view.content
            self._last_head[view.lemma] = entity
            for word in (*view.content, view.lemma):
                self._of_word.setdefault(word, set()).add(entity)
        return entity

    def _note_speaker(self, view: MentionView, entity: int) -> None:
        if not view.quote or view.form not in ("i", "you"):
            return
        if view.quote not in self._speakers and self._speakers:
            self._earlier = self._speakers[max(self._speakers)]
            self._speakers = {}
        self._speakers.setdefault(view.quote, {})[view.form] = entity

    def _find_candidates(self, view: MentionView) -> list[int]:
        recent = self._recent[-REMEMBERED:][::-1]
        if len(self._recent) <= REMEMBERED or view.kind == PRONOUN:
            return recent
        near = set(recent)
        words = (*view.content, view.lemma)
        far = {n for word in words for n in self._of_word.get(word, ())} - near
        return recent + sorted(far, key=lambda n: -self.members[n].last)[:REMEMBERED]

    def _opens(self, view: MentionView) -> bool:
        return view.mention.start == self.document.sentences[view.sentence][0]

    def _describe_mention(self, view: MentionView) -> np.ndarray:
        first = self.document.tokens[view.mention.start].lower()
        length = view.mention.end - view.mention.start
        determiner = DETERMINERS.get(first, "none") if length > 1 else "bare"
        last = self.members[self._recent[-1]].view if self._recent else None
        values = [float(view.form == form) for form in FORMS]
        values.append(float(view.form not in FORMS))
        values += [float(determiner == kind) for kind in DETERMINER_KINDS]
        values += [float(view.quote > 0), float(self._opens(view)), math.log(length)]
        values.append(float(last is not None and last.mention.end >= view.mention.end))
        return np.array(values, dtype=np.float32)

    def _describe_member(
        self, view: MentionView, type: str | None, member: _Member, rank: int
    ) -> list[float]:
        last = member.view
        assert last is not None
        distance = max(0, view.mention.start - last.mention.end + 1)
        sentences = view.sentence - last.sentence
        return [
            0.0,
            math.log1p(distance) / 5,
            sentences == 0,
            sentences == 1,
            1 < sentences <= 3,
            3 < sentences <= 10,
            sentences > 10,
            math.log1p(self.mentions + 1 - member.last) / 4,
            rank == 0,
            rank == 1,
            rank == 2,
            rank > 5,
            math.log(member.count) / 3,
            member.count >= self._most,
            member.forms[view.form] / member.count,
            view.form in member.forms,
            self._last_form.get((view.form, view.quote > 0)) == member.number,
            member.forms[view.form] > 0 and member.forms[view.form] >= self._most_of_form,
            *self._compare_agreement(view, member),
            *self._compare_words(view, member),
            bool(member.names),
            not member.texts,
            (view.quote > 0) == (last.quote > 0),
            view.quote > 0 and view.quote == last.quote,
            self._speakers.get(view.quote, {}).get("i") == member.number,
            self._speakers.get(view.quote, {}).get("you") == member.number,
            view.quote > 0 and self._said_before("i", view.quote) == member.number,
            view.quote > 0 and self._said_before("you", view.quote) == member.number,
            type is not None and type == member.type,
            type is not None and member.type is not None and type != member.type,
            last.kind == PRONOUN,
            last.kind == NAME,
            member.opened,
            last.mention.end >= view.mention.end,
            0 < distance <= 2,
            *([0.0] * 6),
        ]

    def _said_before(self, form: str, quote: int) -> int | None:
        """Who said (or was told) so in the quotation before this one."""
        if self._speakers and quote not in self._speakers:
            return self._speakers[max(self._speakers)].get(form)
        return self._earlier.get(form)

    @staticmethod
    def _compare_agreement(view: MentionView, member: _Member) -> list[float]:
        gender, number = member.gender, member.grammatical_number
        known = view.gender in (MALE, FEMALE, NEUTER) and gender != UNKNOWN
        numbered = UNKNOWN not in (view.number, number)
        return [
            float(known and view.gender == gender),
            float(known and view.gender != gender),
            float(not known),
            float(numbered and view.number == number),
            float(numbered and view.number != number),
        ]

    def _compare_words(self, view: MentionView, member: _Member) -> list[float]:
        if view.kind == PRONOUN:
            return [0.0] * 8
        shared = len(view.content & member.words)
        return [
            float(view.text in member.texts),
            float(view.lemma in member.lemmas),
            float(self._last_head.get(view.lemma) == member.number),
            shared / max(1, len(view.content)),
            float(bool(view.content) and view.content <= member.words),
            float(shared > 0 and not view.content <= member.words),
            float(view.kind == NAME and bool(member.names) and not view.content & member.names),
            float(bool(member.lemmas) and view.lemma not in member.lemmas),
        ]

    def _describe_new(self, view: MentionView, candidates: Sequence[int]) -> list[float]:
        row = [0.0] * len(OF_REFERENT)
        plain = view.kind != PRONOUN
        agreeing = sum(not self._compare_agreement(view, self.members[n])[1] for n in candidates)
        values = {
            "new": 1.0,
            "new: text seen": float(plain and any(view.text in self.members[n].texts for n in candidates)),
            "new: head seen": float(plain and view.lemma in self._last_head),
            "new: word seen": float(plain and any(word in self._of_word for word in view.content)),
            "new: entities": math.log1p(len(self.members)) / 4,
            "new: form seen": float((view.form, view.quote > 0) in self._last_form),
            "new: agreeing": math.log1p(agreeing) / 4,
        }
        for name, value in values.items():
            row[_NEW_ROW[name]] = value
        return row
