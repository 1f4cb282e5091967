"""The cast of a book: the name, aliases, gender, chapters, speech, actions and company of each character."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

from entitynlm.characters.actions import AGENT, MODIFIER, PATIENT, POSSESSION, ActionReader
from entitynlm.characters.chapters import Chapter, find_chapters
from entitynlm.discourse.discourse import read_discourse
from entitynlm.discourse.names import KIN_GENDERS
from entitynlm.discourse.naming import name_entities
from entitynlm.discourse.participants import add_quotations
from entitynlm.discourse.records import MentionReader, PersonRecord, find_gender
from entitynlm.discourse.speaker_features import Dialogue, find_narrator, may_speak
from entitynlm.results import Result
from entitynlm.text.document import Document, Entity, Quotation
from entitynlm.text.english import UNKNOWN

NAME_FORM, DESCRIPTION_FORM, PRONOUN_FORM = "name", "description", "pronoun"
CLEAR_SHARE = 2 / 3
"""The least share of the evidence that decides a gender: one wrong "she" does not make Jim a woman."""


@dataclass(frozen=True, repr=False)
class Character(Result):
    """One person of a book. Places are tokens; chapters are numbers from 1 on, None before the first."""

    id: str
    name: str
    gender: str
    is_narrator: bool
    aliases: Mapping[str, int]
    forms: Mapping[str, int]
    chapters: Mapping[int | None, int]
    first: int
    last: int
    quotations: tuple[Quotation, ...]
    """Those that it speaks."""
    actions: Mapping[str, int]
    """Verbs that it is the agent of."""
    done_to: Mapping[str, int]
    """Verbs that it is the patient of."""
    possessions: Mapping[str, int]
    modifiers: Mapping[str, int]
    """Adjectives and nouns that describe it."""
    together: Mapping[str, int]
    """Ids of other characters, and in how many sentences both are mentioned."""

    @property
    def mentions(self) -> int:
        return sum(self.forms.values())


@dataclass(frozen=True, repr=False)
class Cast(Result):
    """The characters of a document, the most often mentioned first, and its chapters."""

    document: Document
    characters: tuple[Character, ...]
    chapters: tuple[Chapter, ...]
    others: int = 0
    """Persons who are mentioned less often than was asked for."""

    @cached_property
    def names(self) -> dict[str, str]:
        """The name of each character by its id."""
        return {character.id: character.name for character in self.characters}

    def find_chapter(self, token: int) -> int | None:
        """Find the number of the chapter that a token stands in; None before the first."""
        place = bisect_right(self.chapters, token, key=lambda chapter: chapter.start) - 1
        return self.chapters[place].number if place >= 0 and token < self.chapters[place].end else None


@dataclass
class _Traits:
    """Counts over the mentions of an entity."""

    aliases: Counter[str] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)
    record: PersonRecord = field(default_factory=PersonRecord)
    deeds: dict[str, Counter[str]] = field(
        default_factory=lambda: {kind: Counter() for kind in (AGENT, PATIENT, POSSESSION, MODIFIER)}
    )


def list_characters(document: Document, *, least: int = 2) -> Cast:
    """List the persons that a document mentions at least ``least`` times, with their names, speech, actions and company.

    Where no entity has a type, persons are the entities that are named or speak. Quotations are found where the document has
    none.
    """
    document = document if document.quotations else add_quotations(document)
    discourse = read_discourse(document, [quotation.span for quotation in document.quotations])
    chapters = tuple(find_chapters(discourse))
    speakers = {quotation.speaker for quotation in document.quotations}
    actions = ActionReader(document)
    narrator = find_narrator(Dialogue.of_document(discourse, document))
    people: list[tuple[Entity, _Traits]] = []
    for entity in document.entities:
        if may_speak(entity.type):
            traits = _count_traits(entity, discourse.reader, actions)
            is_person = traits.forms[NAME_FORM] or entity.id in speakers or entity.id == narrator
            if not traits.record.is_group and (document.entity_types or is_person):
                people.append((entity, traits))
    people.sort(key=lambda pair: (-len(pair[0].mentions), pair[0].mentions[0].start))
    shown = [pair for pair in people if len(pair[0].mentions) >= least]
    together = _count_together(document, [entity for entity, _ in shown])
    spoken: dict[str | None, list[Quotation]] = {}
    for quotation in document.quotations:
        spoken.setdefault(quotation.speaker, []).append(quotation)
    names = name_entities(document)
    cast = Cast(document, (), chapters, len(people) - len(shown))
    characters = tuple(
        Character(
            id=entity.id,
            name=names[entity.id],
            gender=find_gender(traits.record.genders, 1, CLEAR_SHARE) or UNKNOWN,
            is_narrator=entity.id == narrator,
            aliases=dict(traits.aliases.most_common()),
            forms={form: traits.forms[form] for form in (NAME_FORM, DESCRIPTION_FORM, PRONOUN_FORM)},
            chapters=dict(Counter(cast.find_chapter(mention.start) for mention in entity.mentions)),
            first=entity.mentions[0].start,
            last=entity.mentions[-1].start,
            quotations=tuple(spoken.get(entity.id, ())),
            actions=dict(traits.deeds[AGENT].most_common()),
            done_to=dict(traits.deeds[PATIENT].most_common()),
            possessions=dict(traits.deeds[POSSESSION].most_common()),
            modifiers=dict(traits.deeds[MODIFIER].most_common()),
            together=dict(together[entity.id].most_common()),
        )
        for entity, traits in shown
    )
    return replace(cast, characters=characters)


def _count_traits(entity: Entity, reader: MentionReader, actions: ActionReader) -> _Traits:
    traits = _Traits()
    for mention in entity.mentions:
        reading = reader.read(mention.span)
        traits.record.note(reading)
        if reading.form is not None:
            traits.forms[PRONOUN_FORM] += 1
        else:
            first, last = (0, len(mention)) if reading.name is None else reading.name.core
            words = reader.document.words(mention.start + first, mention.start + last)
            if words.lower() not in KIN_GENDERS:  # "Mother" may be the mother of any character
                traits.aliases[" ".join(words.split())] += 1
            traits.forms[DESCRIPTION_FORM if reading.name is None else NAME_FORM] += 1
        for kind, word in actions.read(mention):
            traits.deeds[kind][word] += 1
    return traits


def _count_together(document: Document, entities: Sequence[Entity]) -> dict[str, Counter[str]]:
    """Count the sentences that mention both of two entities."""
    present: dict[int, set[str]] = {}
    for entity in entities:
        for mention in entity.mentions:
            present.setdefault(document.sentence_of[mention.start], set()).add(entity.id)
    together: dict[str, Counter[str]] = {entity.id: Counter() for entity in entities}
    for ids in present.values():
        for one, other in combinations(sorted(ids), 2):
            together[one][other] += 1
            together[other][one] += 1
    return together
