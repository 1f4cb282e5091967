"""The entities of a text so far, and what is known of each: the memory that a mention is compared with.

:class:`EntityMemory` follows a text mention by mention and keeps what can be read off the page (words, forms, positions,
quotations). What can't be comes from a :class:`Lexicon`: the gender of names, and which nouns mean nearly the same; their
embeddings point nearly the same way ("the painter" may be "the artist").
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate

import numpy as np

from entitynlm.coref.linking.gender_prior import GenderPrior
from entitynlm.coref.mention_table import NAME, NOUN, PRONOUN, guess_head
from entitynlm.coref.ranker.attributes import MentionAttributes, describe_mentions
from entitynlm.coref.ranker.mentions import CandidateMention
from entitynlm.model.batch.scan import SMALLEST_NORM
from entitynlm.model.encoding.tokenizer import Tokenizer
from entitynlm.model.entitynlm import EntityNetwork
from entitynlm.text.document import Document, Span
from entitynlm.text.english import (
    FEMALE,
    MALE,
    NEUTER,
    OBJECTIVE_PRONOUNS,
    PLURAL,
    POSSESSIVE_PRONOUNS,
    PREPOSITIONS,
    SINGULAR,
    TITLES,
    UNKNOWN,
)  # fmt: skip


@dataclass(frozen=True)
class Lexicon:
    """The gender prior, and unit vectors of words (None for unknown words)."""

    gender_prior: GenderPrior = field(default_factory=lambda: GenderPrior({}))
    find_vector: Callable[[str], np.ndarray | None] = lambda word: None


def find_head_vectors(network: EntityNetwork, tokenizer: Tokenizer) -> Callable[[str], np.ndarray | None]:
    """A function that gives a word's embedding (the mean of its pieces') as a direction from the mean of all; None for an unknown
    word.
    """
    embeddings: np.ndarray = network.backbone.piece_vectors.detach().cpu().float().numpy()
    mean = embeddings.mean(axis=0)

    @cache
    def find(word: str) -> np.ndarray | None:
        if tokenizer.is_unknown(word):
            return None
        pieces = [piece for piece in tokenizer.pieces(word) if piece < len(embeddings)]
        vector: np.ndarray = embeddings[pieces].mean(axis=0) - mean
        return vector / max(float(np.linalg.norm(vector)), SMALLEST_NORM)

    return find


NEW_ENTITY = -1
REMEMBERED = 80  # entities mentioned longest ago are candidates only if a word of theirs comes up again
HEADS = 12  # of an entity whose vectors are compared
CLAUSE_BORDERS = frozenset((",", ";", ":", "--", "—", "“", "”", '"'))
GENDERED = (MALE, FEMALE, NEUTER)
NOUN_FACTOR = 0.7  # a noun ("the nurse") tells less than a name


@dataclass(frozen=True)
class MentionCues:
    """What depends on where a mention stands: its case, what comes before it, the parts of its name."""

    opens_sentence: bool
    nested: bool
    objective: bool
    possessive: bool
    reflexive: bool
    after_preposition: bool
    after_comma: bool
    gender_score: float
    given_name: str | None
    title: str | None
    surname: str | None


@dataclass
class EntityRecord:
    number: int
    type: str | None
    mention: MentionAttributes  # the last one
    context: MentionCues  # of the last mention
    last: int = -1  # which mention of the text was its last
    count: int = 0
    sentence_openings: int = 0
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
    gender_scores: list[float] = field(default_factory=list)
    gender: str = UNKNOWN
    grammatical_number: str = UNKNOWN
    gender_score: float = 0.0

    def update_agreement(self) -> None:
        """Gender and number as most mentions have them; pronouns count more than names."""
        self.gender = _find_commonest(self.genders, GENDERED)
        self.grammatical_number = _find_commonest(self.numbers, (SINGULAR, PLURAL))
        he, she = self.forms["he"], self.forms["she"]
        if he + she:
            self.gender_score = (he - she) / (he + she)
        elif self.gender in (MALE, FEMALE):
            self.gender_score = 1.0 if self.gender == MALE else -1.0
        elif self.gender_scores:
            self.gender_score = sum(self.gender_scores) / len(self.gender_scores)


def _find_commonest(counts: Counter[str], known: tuple[str, ...]) -> str:
    found = [(count, name) for name, count in counts.items() if name in known]
    return max(found)[1] if found else UNKNOWN


def describe_spans(document: Document, spans: Sequence[Span]) -> list[MentionAttributes]:
    found = [CandidateMention(start, end, guess_head(document, start, end)) for start, end in spans]
    return describe_mentions(document, found)


class EntityMemory:
    """The entities of a text so far. Compare a mention with them, decide, then ``add`` it."""

    def __init__(self, document: Document, lexicon: Lexicon | None = None) -> None:
        self.document = document
        self.lexicon = lexicon or Lexicon()
        self.records: list[EntityRecord] = []
        self.mention_count = 0
        self.speakers: dict[int, int] = {}  # quotation → who speaks (NEW_ENTITY: somebody new)
        self.last_form: dict[tuple[str, bool], int] = {}
        self.last_head: dict[str, int] = {}
        self.entities_of_word: dict[str, set[int]] = {}
        self.recent: list[int] = []  # entity numbers, the last mentioned last
        self.borders = [0, *accumulate(token in CLAUSE_BORDERS for token in document.tokens)]
        self._quote = 0  # the last quotation with "I" or "you"
        self._participants: dict[str, int] = {}  # who says I and who is you in it
        self._earlier_participants: dict[str, int] = {}  # and in the one before

    def add(self, mention: MentionAttributes, entity: int, type: str | None = None) -> int:
        """Note a mention of an entity (:data:`NEW_ENTITY`: of a new one); the entity's number."""
        context = self.find_context(mention)
        self.mention_count += 1
        if entity == NEW_ENTITY:
            entity = len(self.records)
            self.records.append(EntityRecord(entity, type, mention, context))
        else:
            self.recent.remove(entity)
        self.recent.append(entity)
        record = self.records[entity]
        record.count += 1
        record.last, record.mention, record.context = self.mention_count, mention, context
        record.sentence_openings += context.opens_sentence
        record.forms[mention.form] += 1
        record.genders[mention.gender] += 1
        record.numbers[mention.number] += 1
        record.sentences.append(mention.sentence)
        self.last_form[mention.form, mention.quote > 0] = entity
        if mention.quote and mention.form in ("i", "you"):
            self._note_participant(mention.form, mention.quote, entity)
        if mention.kind != PRONOUN:
            self._note_words(record, mention, context)
        record.update_agreement()
        return entity

    def _note_words(self, record: EntityRecord, mention: MentionAttributes, context: MentionCues) -> None:
        record.texts.add(mention.text)
        record.lemmas.add(mention.lemma)
        record.words |= mention.content
        if context.gender_score:
            record.gender_scores.append(context.gender_score)
        if mention.kind == NAME:
            record.names |= mention.content
        if context.surname and context.given_name:
            record.given_names.setdefault(context.surname, set()).add(context.given_name)
        if context.surname and context.title:
            record.titles.setdefault(context.surname, set()).add(context.title)
        if mention.head not in record.heads and len(record.heads) < HEADS:
            vector = self.lexicon.find_vector(mention.head)
            if vector is not None:
                record.heads[mention.head] = vector
        self.last_head[mention.lemma] = record.number
        for word in (*mention.content, mention.lemma):
            self.entities_of_word.setdefault(word, set()).add(record.number)

    # -- speech -----------------------------------------------------------------------------------------------------------

    def _note_participant(self, form: str, quote: int, entity: int) -> None:
        if quote != self._quote:
            self._quote, self._participants, self._earlier_participants = quote, {}, self._participants
        self._participants[form] = entity
        if form == "i" and self.speakers.get(quote, NEW_ENTITY) == NEW_ENTITY:
            self.speakers[quote] = entity

    def find_participants(self, quote: int) -> tuple[dict[str, int], dict[str, int]]:
        """Who was called "I" and "you" in this quotation so far, and who in the last before it that has such a word."""
        if quote == self._quote:
            return self._participants, self._earlier_participants
        return {}, self._participants

    def find_earlier_speakers(self, quote: int) -> tuple[int | None, int | None]:
        """The last two who spoke before this quotation, its own speaker left out: whoever answers is often one of them."""
        current = self.speakers.get(quote)
        found: list[int | None] = []
        for earlier in range(quote - 1, max(0, quote - 9), -1):
            speaker = self.speakers.get(earlier, NEW_ENTITY)
            if speaker not in (NEW_ENTITY, current, *found[-1:]):
                found.append(speaker)
        last, before, *_ = *found, None, None
        return last, before

    # -- what a mention is compared by ----------------------------------------------------------------------------------------

    def find_candidates(self, mention: MentionAttributes) -> list[int]:
        """Entities that may be meant, the last mentioned first."""
        recent = self.recent[-REMEMBERED:][::-1]
        if len(self.recent) <= REMEMBERED or mention.kind == PRONOUN:
            return recent
        near = set(recent)
        words = (*mention.content, mention.lemma)
        far = {n for word in words for n in self.entities_of_word.get(word, ())} - near
        return recent + sorted(far, key=lambda n: -self.records[n].last)[:REMEMBERED]

    def find_context(self, mention: MentionAttributes) -> MentionCues:
        tokens = self.document.tokens
        start, end = mention.candidate.span
        first = tokens[start].lower()
        before = tokens[start - 1].lower() if start else ""
        pronoun = mention.kind == PRONOUN
        outer = self.records[self.recent[-1]].mention if self.recent else None
        nested = outer is not None and outer.candidate.end >= end and outer.candidate.span != (start, end)
        given_name, title, surname = self._split_name(mention)
        return MentionCues(
            opens_sentence=start == self.document.sentences[mention.sentence][0],
            nested=nested,
            objective=pronoun and first in OBJECTIVE_PRONOUNS,
            possessive=pronoun and (first in POSSESSIVE_PRONOUNS or (first == "her" and nested)),
            reflexive=pronoun and first.endswith(("self", "selves")),
            after_preposition=before in PREPOSITIONS,
            after_comma=before == ",",
            gender_score=self._find_gender_score(mention),
            given_name=given_name,
            title=title,
            surname=surname,
        )

    def _find_gender_score(self, mention: MentionAttributes) -> float:
        if mention.gender in (MALE, FEMALE):
            return 1.0 if mention.gender == MALE else -1.0
        if mention.kind == NAME:
            found = (self.lexicon.gender_prior.find(word) for word in self._find_capitals(mention))
            return next(filter(None, found), 0.0)
        if mention.kind == NOUN and mention.number == SINGULAR:
            return NOUN_FACTOR * self.lexicon.gender_prior.find(mention.head)
        return 0.0

    def _split_name(self, mention: MentionAttributes) -> tuple[str | None, str | None, str | None]:
        """Given name, title and surname, where it is a name."""
        words = [word.lower() for word in self._find_capitals(mention)] if mention.kind == NAME else []
        if not words:
            return None, None, None
        given = [word for word in words[:-1] if word not in TITLES]
        title = words[0].rstrip(".") if len(words) > 1 and words[0] in TITLES else None
        return given[0] if given else None, title, words[-1]

    def _find_capitals(self, mention: MentionAttributes) -> list[str]:
        words = self.document.tokens[mention.candidate.start : mention.candidate.head + 1]
        return [word for word in words if word[0].isupper()]
