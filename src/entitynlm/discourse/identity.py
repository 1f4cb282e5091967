"""Rules of identity: pairs of mentions that must not or must corefer, whatever their scores.

A possessor is not its possession ("his father"), a subject is not the object of its verb ("Ida saw him"), a speaker is not the
addressee, and speakers who take turns are two; the parts of an apposition ("his daughter Nell") are one person. A name does not
join an entity with another first name, title or surname; "she" does not join an entity called "Mr."; the narrator, "I" outside of
quotations, is one entity throughout, and is not "he" in the narration.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from entitynlm.discourse.discourse import NARRATION, Discourse
from entitynlm.discourse.quotation_marks import MARKS
from entitynlm.discourse.records import MentionReading, PersonRecord
from entitynlm.text.document import Span
from entitynlm.text.english import (
    AFTER_HEAD,
    OBJECTIVE_PRONOUNS,
    POSSESSIVE_PRONOUNS,
    PREPOSITIONS,
    QUOTATION_VERBS,
)

INTRODUCING = frozenset(("is", "am", "'m", "’m"))
"""Words before a name by which speakers introduce themselves."""
TAG_WORDS = 3
"""Tokens between a quotation and the person in its tag."""
VERB_WORDS = 2
"""Tokens of a verb between its subject and its object."""
POSSESSIVE_ENDINGS = frozenset(("'s", "’s"))
BEFORE_SUBJECT = frozenset("when then but and so as now while after before if".split())
"""Words before the subject of a sentence."""
CONTINUING = frozenset("added continued pursued resumed repeated proceeded went".split())
"""Verbs of a speaker who goes on after a paragraph."""
RELATIVE = frozenset(("who", "whom", "whose", "which"))


class MentionRelations:
    """Relations between the mentions of a text, which are numbered in text order, longer ones first.

    :ivar apart: mentions that each mention must not corefer with.  :ivar same: the earlier mention that a mention must corefer
        with.
    """

    def __init__(
        self, discourse: Discourse, spans: Sequence[Span], readings: Sequence[MentionReading]
    ) -> None:
        self.discourse, self.spans, self.readings = discourse, spans, readings
        self.tokens = discourse.document.tokens
        self.apart: dict[int, list[int]] = defaultdict(list)
        self.same: dict[int, int] = {}
        self._numbers = {span: number for number, span in enumerate(spans)}
        self._starting: dict[int, list[int]] = defaultdict(list)
        for number, (start, _) in enumerate(spans):
            self._starting[start].append(number)
        self.tags = {
            quotation: [number for number in numbers if self._shares_paragraph(quotation, number)]
            for quotation, numbers in find_tag_mentions(discourse, spans).items()
        }
        for number in range(len(spans)):
            self._read_parts(number)
            self._read_object(number)
        self._read_centers()
        for one, other in (*self._list_addresses(), *self._list_turns()):
            self._part(one, other)

    def _shares_paragraph(self, quotation: int, number: int) -> bool:
        discourse, (start, end) = self.discourse, self.discourse.quotations[quotation]
        edge = end - 1 if self.spans[number][0] >= end else start
        return discourse.paragraph_of(edge) == discourse.paragraph_of(self.spans[number][0])

    def _part(self, one: int, other: int) -> None:
        self.apart[one].append(other)
        self.apart[other].append(one)

    def _read_parts(self, number: int) -> None:
        """Relate a mention to shorter ones that it begins with: its possessor, its name, the first part of an apposition."""
        start, end = self.spans[number]
        for inner in self._starting[start]:
            stop = self.spans[inner][1]
            if stop >= end:
                continue
            after = [token.lower() for token in self.tokens[stop : stop + 2]]
            last = self.tokens[stop - 1].lower()
            pronoun = stop == start + 1 and (last in POSSESSIVE_PRONOUNS or last == "her")
            rest = self._numbers.get((stop, end))
            if pronoun or last in POSSESSIVE_ENDINGS or after[0] in POSSESSIVE_ENDINGS:
                self._part(number, inner)
            elif after[0] in RELATIVE or (after[0] == "," and after[-1] in RELATIVE):
                self.same[inner] = number
            elif rest is not None and self.readings[rest].name is not None:
                self.same[inner] = self.same[rest] = number

    def _read_object(self, number: int) -> None:
        """Forbid coreference of a subject and the pronoun that is its verb's object, but not of "him" in "behind him"."""
        end = self.spans[number][1]
        for place in range(end + 1, min(end + VERB_WORDS + 1, len(self.tokens))):
            words = [token.lower() for token in self.tokens[end:place]]
            if not all(word.isalpha() and word not in AFTER_HEAD | PREPOSITIONS for word in words):
                return
            found = self._numbers.get((place, place + 1))
            if found is not None and self.tokens[place].lower() in OBJECTIVE_PRONOUNS:
                self._part(number, found)

    def _read_centers(self) -> None:
        """Require that "he" or "she" at the start of a sentence is the only person, subject by name, of the previous sentence.

        This holds for 41 of 43 such pronouns in LitBank's training documents.
        """
        document, quotation_of = self.discourse.document, self.discourse.quotation_of
        named = [number for number, reading in enumerate(self.readings) if reading.name or reading.gender]
        present: dict[int, list[int]] = defaultdict(list)
        for number in named:
            present[document.sentence_of[self.spans[number][0]]].append(number)
        for sentence in range(1, len(document.sentences)):
            start, next_start = (document.sentences[number][0] for number in (sentence - 1, sentence))
            place = next_start + (self.tokens[next_start].lower() in BEFORE_SUBJECT)
            pronoun = self._numbers.get((place, place + 1))
            first = next((n for n in self._starting[start] if self.readings[n].name is not None), None)
            if pronoun is None or first is None or self.readings[pronoun].form not in ("he", "she"):
                continue
            narrated = all(quotation == NARRATION for quotation in quotation_of[start : place + 1])
            gender = self.readings[pronoun].gender
            rivals = [
                number
                for number in present[sentence - 1]
                if self.readings[number].form is None
                and self.readings[number].gender in (None, gender)
                and not self._overlap(number, first)
            ]
            if narrated and not rivals and self.readings[first].gender in (None, gender):
                self.same[pronoun] = first

    def _overlap(self, one: int, other: int) -> bool:
        return self.spans[one][0] < self.spans[other][1] and self.spans[other][0] < self.spans[one][1]

    def _list_addresses(self) -> Iterator[Span]:
        """List pairs of a mention in a tag ("…," said Ida) and a name or an address in the quotation beside it."""
        quotation_of = self.discourse.quotation_of
        named: dict[int, list[int]] = defaultdict(list)
        for number, (start, end) in enumerate(self.spans):
            told = {token.lower() for token in self.tokens[max(0, start - 2) : start]}
            called = self.readings[number].name is not None or self.discourse.is_address((start, end))
            if quotation_of[start] != NARRATION and called and told.isdisjoint(INTRODUCING):
                named[quotation_of[start]].append(number)
        for quotation, numbers in self.tags.items():
            yield from ((number, other) for number in numbers for other in named.get(quotation, ()))

    def _list_turns(self) -> Iterator[Span]:
        """List pairs of mentions in the tags of two paragraphs of which the second answers the first."""
        discourse, quotations = self.discourse, self.discourse.quotations
        if not discourse.has_paragraphs:
            return
        starts = frozenset(discourse.paragraphs)
        for quotation in range(1, len(quotations)):
            last, start = quotations[quotation - 1][1] - 1, quotations[quotation][0]
            follows = discourse.paragraph_of(start) == discourse.paragraph_of(last) + 1
            tag = (token.lower() for token in self.tokens[quotations[quotation][1] :][:TAG_WORDS])
            answers = CONTINUING.isdisjoint(tag)
            if start in starts and follows and answers and self.tokens[last] in MARKS:
                for one in self.tags.get(quotation - 1, ()):
                    yield from ((one, other) for other in self.tags.get(quotation, ()))


def find_tag_mentions(discourse: Discourse, spans: Sequence[Span]) -> Mapping[int, list[int]]:
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


@dataclass
class _Facts:
    """Names, genders and roles that the mentions of an entity have shown so far."""

    record: PersonRecord = field(default_factory=PersonRecord)
    narrates: bool = False
    is_told: bool = False


class IdentityRules:
    """Decide whether a mention may join an entity, and record the entity that it joined; mentions come in text order."""

    def __init__(self, discourse: Discourse, spans: Sequence[Span]) -> None:
        self.document, self.spans = discourse.document, spans
        self._readings = [discourse.reader.read(span) for span in spans]
        self._quoted = [discourse.voice_of[start] != NARRATION for start, _ in spans]
        self._facts: dict[int, _Facts] = {}
        self._entities: list[int] = []
        self.relations = MentionRelations(discourse, spans, self._readings)
        self._narrated = (
            len(set(self.document.column("speaker"))) == 1
        )  # in a transcript every speaker says "I"
        self.narrator: int | None = None

    def find_entity(self, number: int) -> int | None:
        """Find the entity that a mention must join: the narrator for "I" in the narration, the first part of an apposition."""
        if self._narrated and self._readings[number].form == "i" and not self._quoted[number]:
            return self.narrator
        return self._find_noted(self.relations.same.get(number))

    def _find_noted(self, number: int | None) -> int | None:
        """Find the entity that an earlier mention was recorded with."""
        return self._entities[number] if number is not None and number < len(self._entities) else None

    def allows(self, number: int, entity: int) -> bool:
        """Tell whether names, genders and the narrator's role permit a mention to join an entity."""
        facts = self._facts.get(entity)
        if facts is None:
            return True
        form, name, gender, *_ = self._readings[number]
        told = self._narrated and not self._quoted[number]
        if told and form == "i" and (facts.is_told or facts.record.names):
            return False
        if told and facts.narrates and (form in ("he", "she", "it", "they") or name is not None):
            return False
        if not facts.record.fits_gender(gender):
            return False
        apart = self.relations.apart.get(number, ())
        if any(entity == known for known in map(self._find_noted, apart)):
            return False
        return name is None or facts.record.fits_name(name)

    def note(self, number: int, entity: int) -> None:
        facts = self._facts.setdefault(entity, _Facts())
        facts.record.note(self._readings[number])
        self._entities.append(entity)
        if not self._quoted[number]:
            form = self._readings[number].form
            if form == "i":
                facts.narrates, self.narrator = True, entity
            facts.is_told = facts.is_told or form in ("he", "she")
