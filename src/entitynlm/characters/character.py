"""The characters of a book: for each the name, how it is called, when it appears, what it says and does, and with whom."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from entitynlm.characters.actions import ActionReader
from entitynlm.characters.chapters import Chapter, find_chapters
from entitynlm.discourse.names import find_common_words, parse_name
from entitynlm.discourse.speaker_features import may_speak
from entitynlm.discourse.speech import find_narrator
from entitynlm.text.document import Document, Entity, Quotation
from entitynlm.text.english import FEMALE, GENDERS, MALE, PRONOUNS, UNKNOWN

NAME, DESCRIPTION, PRONOUN = "name", "description", "pronoun"
NARRATOR = "the narrator"
PRONOUN_WEIGHT, NOUN_WEIGHT = 1, 2
"""What a pronoun and a gendered noun ("the girl") or title say of a gender."""
CLEAR = 2 / 3
"""The share of the evidence from which a gender is told."""


@dataclass(frozen=True)
class Character:
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
    """What it says."""
    about: tuple[Quotation, ...]
    """What others say about it or to it by name."""
    actions: Mapping[str, int]
    together: Mapping[str, int]
    """Ids of other characters, and in how many sentences both are mentioned."""

    @property
    def mentions(self) -> int:
        return sum(self.forms.values())


@dataclass(frozen=True)
class Cast:
    """The characters of a document, the most often mentioned first, and its chapters."""

    document: Document
    characters: tuple[Character, ...]
    chapters: tuple[Chapter, ...]
    others: int = 0
    """Persons who are mentioned less often than was asked for."""

    def find_chapter(self, token: int) -> int | None:
        """The number of the chapter that a token stands in; None before the first."""
        place = bisect_right(self.chapters, token, key=lambda chapter: chapter.start) - 1
        return self.chapters[place].number if place >= 0 and token < self.chapters[place].end else None

    def name_of(self, id: str | None) -> str | None:
        """A character's name; that of somebody who is mentioned less often is not known here."""
        return next((character.name for character in self.characters if character.id == id), None)


@dataclass
class _Traits:
    """What is counted of an entity."""

    aliases: Counter[str] = field(default_factory=Counter)
    names: Counter[str] = field(default_factory=Counter)
    forms: Counter[str] = field(default_factory=Counter)
    genders: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    prior: float = 0.0
    plural: int = 0

    @property
    def is_group(self) -> bool:
        """Whether "we" or "they" are most of what is said of somebody without a name."""
        return not self.names and 2 * self.plural > self.forms.total()


def list_characters(
    document: Document, *, least: int = 2, gender_of: Callable[[str], float] | None = None
) -> Cast:
    """The persons that a document mentions at least so many times; where no entity has a type, all that are named or speak.

    :param gender_of: how male (1) or female (−1) a name is, which counts beside pronouns and titles.
    """
    chapters = tuple(find_chapters(document))
    speakers = Counter(q.speaker for q in document.quotations)
    reader, common = ActionReader(document), find_common_words(document)
    narrator = find_narrator(document)
    people: list[tuple[Entity, _Traits]] = []
    for entity in document.entities:
        if may_speak(entity.type):
            traits = _count_traits(document, entity, reader, common, gender_of)
            if traits.is_group:
                continue
            if document.entity_types or traits.names or speakers[entity.id] or entity.id == narrator:
                people.append((entity, traits))
    people.sort(key=lambda pair: (-len(pair[0].mentions), pair[0].mentions[0].start))
    shown = [pair for pair in people if len(pair[0].mentions) >= least]
    together = _count_together(document, [entity for entity, _ in shown])
    spoken, about = _sort_quotations(document)
    cast = Cast(document, (), chapters, len(people) - len(shown))
    characters = tuple(
        Character(
            id=entity.id,
            name=_choose_name(traits, entity.id == narrator),
            gender=_guess_gender(traits),
            is_narrator=entity.id == narrator,
            aliases=dict(traits.aliases.most_common()),
            forms={form: traits.forms[form] for form in (NAME, DESCRIPTION, PRONOUN)},
            chapters=dict(Counter(cast.find_chapter(mention.start) for mention in entity.mentions)),
            first=entity.mentions[0].start,
            last=entity.mentions[-1].start,
            quotations=tuple(spoken.get(entity.id, ())),
            about=tuple(about.get(entity.id, ())),
            actions=dict(traits.actions.most_common()),
            together=dict(together[entity.id].most_common()),
        )
        for entity, traits in shown
    )
    return Cast(document, characters, chapters, cast.others)


def _count_traits(
    document: Document,
    entity: Entity,
    reader: ActionReader,
    common: frozenset[str],
    gender_of: Callable[[str], float] | None,
) -> _Traits:
    traits = _Traits()
    for mention in entity.mentions:
        words = document.tokens[mention.start : mention.end]
        form = PRONOUNS.get(" ".join(words).lower())
        name = parse_name(words, common) if form is None else None
        if form is not None:
            traits.forms[PRONOUN] += 1
            traits.plural += form in ("we", "they")
            if form in ("he", "she"):
                traits.genders[MALE if form == "he" else FEMALE] += PRONOUN_WEIGHT
        else:
            alias = " ".join(document.words(*mention.span).split())
            traits.aliases[alias] += 1
            traits.forms[NAME if name else DESCRIPTION] += 1
            gender = name.gender if name else GENDERS.get(words[-1].lower())
            if gender in (MALE, FEMALE):
                traits.genders[gender] += NOUN_WEIGHT
            if name:
                traits.names[alias] += 1
                if gender_of is not None:
                    traits.prior += gender_of(name.words[0])
        verb = reader.read(mention)
        if verb is not None:
            traits.actions[verb] += 1
    return traits


def _choose_name(traits: _Traits, narrates: bool) -> str:
    """The commonest name, a full one before a part of it; whoever has none is called by what is said most often."""
    if traits.names:
        most = max(traits.names.values())
        usual = [name for name, count in traits.names.items() if 5 * count >= most]
        return max(usual, key=lambda name: (min(3, len(name.split())), traits.names[name]))
    if narrates:
        return NARRATOR
    return next(iter(dict(traits.aliases.most_common())), "(only pronouns)")


def _guess_gender(traits: _Traits) -> str:
    """What pronouns, titles and nouns say, and the names: one wrong "she" does not make a woman of a narrator called Jim."""
    male = traits.genders[MALE] + max(traits.prior, 0.0)
    female = traits.genders[FEMALE] + max(-traits.prior, 0.0)
    for gender, share in ((MALE, male), (FEMALE, female)):
        if share and share >= CLEAR * (male + female):
            return gender
    return UNKNOWN


def _count_together(document: Document, entities: Sequence[Entity]) -> dict[str, Counter[str]]:
    """In how many sentences each pair is mentioned."""
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


def _sort_quotations(document: Document) -> tuple[dict[str, list[Quotation]], dict[str, list[Quotation]]]:
    """What each entity says, and what others say in which it is named or told of ("you" and "I" aside)."""
    spoken: dict[str, list[Quotation]] = {}
    about: dict[str, list[Quotation]] = {}
    starts = [quotation.start for quotation in document.quotations]
    for quotation in document.quotations:
        if quotation.speaker is not None:
            spoken.setdefault(quotation.speaker, []).append(quotation)
    for mention in document.mentions:
        place = bisect_right(starts, mention.start) - 1
        if place < 0 or mention.start >= document.quotations[place].end:
            continue
        quotation = document.quotations[place]
        form = PRONOUNS.get(" ".join(document.tokens[mention.start : mention.end]).lower())
        found = about.setdefault(mention.entity, [])
        if form not in ("i", "you") and mention.entity != quotation.speaker and quotation not in found[-1:]:
            found.append(quotation)
    return spoken, about
