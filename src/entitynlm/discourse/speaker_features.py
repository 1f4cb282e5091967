"""The quotations of a text with the mentions of persons in and around them, and with their vocatives."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property

from entitynlm.discourse.discourse import NARRATION, Discourse
from entitynlm.discourse.records import PersonRecord
from entitynlm.text.document import Document, Mention
from entitynlm.text.english import POSSESSIVE_PRONOUNS, PREPOSITIONS, PRONOUNS

PERSON = re.compile(r"(?:^|_)(?:per|person|character|animate|animal)(?:$|_|-)", re.IGNORECASE)


def may_speak(type: str | None) -> bool:
    """Tell whether an entity of this type can be a speaker; an entity without a type can."""
    return type is None or bool(PERSON.search(type)) or type == "Mention"


class Dialogue:
    """An index of the quotations of a text and of the mentions of persons outside of them.

    :param mentions: mentions of the text, in text order.
    :param types: type of each entity, where it is known; only persons speak.
    """

    def __init__(self, discourse: Discourse, mentions: Sequence[Mention], types: Mapping[str, str]) -> None:
        self.discourse, self.mentions = discourse, mentions
        self.quotations, self.tokens = discourse.quotations, discourse.document.tokens
        self.speaking = [m for m in mentions if may_speak(types.get(m.entity))]
        self.outside = [m for m in self.speaking if discourse.quotation_of[m.start] < 0]
        self.counts = Counter(mention.entity for mention in self.outside)
        self.called = self._find_called(self.speaking)

    @classmethod
    def of_document(cls, discourse: Discourse, document: Document) -> "Dialogue":
        """Index the mentions of an annotated document."""
        return cls(discourse, document.mentions, document.entity_types)

    @cached_property
    def records(self) -> Mapping[str, PersonRecord]:
        """The record of each entity."""
        records: dict[str, PersonRecord] = defaultdict(PersonRecord)
        for mention in self.mentions:
            records[mention.entity].note(self.discourse.reader.read(mention.span))
        return records

    def _find_called(self, mentions: Sequence[Mention]) -> list[dict[str, bool]]:
        """Find for each quotation the entities that are named in it, and whether the name is a vocative.

        A vocative without a name ("sir") is not used, because coreference cannot tell whom it means.
        """
        called: list[dict[str, bool]] = [{} for _ in self.quotations]
        for mention in mentions:
            number = self.discourse.quotation_of[mention.start]
            if number < 0 or self.is_pronoun(mention):
                continue
            names, addressed = called[number], self.discourse.is_address(mention.span)
            if not addressed or self.has_name(mention):
                names[mention.entity] = names.get(mention.entity, False) or addressed
        return called

    def is_pronoun(self, mention: Mention) -> bool:
        return self.find_form(mention) is not None

    def find_form(self, mention: Mention) -> str | None:
        """Find the citation form of a pronoun ("i" for "my"); None for other mentions."""
        return self.discourse.reader.read(mention.span).form

    def has_name(self, mention: Mention) -> bool:
        reading = self.discourse.reader.read(mention.span)
        return reading.name is not None or reading.title is not None

    def share_paragraph(self, one: int, other: int) -> bool:
        """Tell whether two tokens stand in one paragraph; true where paragraphs are not known."""
        discourse = self.discourse
        return not discourse.has_paragraphs or discourse.paragraph_of(one) == discourse.paragraph_of(other)


def describe_form(tokens: Sequence[str], mention: Mention) -> str:
    """Describe the form and the syntactic role of a mention, which indicate whether its entity acts here."""
    words = tokens[mention.start : mention.end]
    first = words[0].lower()
    if len(words) == 1 and first in PRONOUNS:
        after = tokens[mention.end : mention.end + 1]
        owns = first in POSSESSIVE_PRONOUNS or (first == "her" and bool(after) and after[0][0].isalpha())
        if owns:
            return "possessive"
        return "object" if first in ("him", "her", "them", "me", "us") else "pronoun"
    if mention.start and tokens[mention.start - 1].lower() in PREPOSITIONS:
        return "object"
    if mention.end < len(tokens) and tokens[mention.end] in ("'s", "’s"):
        return "possessive"
    return "name" if any(word[0].isupper() for word in words[-2:]) else "noun"


def find_narrator(dialogue: Dialogue) -> str | None:
    """Find the entity that is most often "I" outside of quotations, letters and diaries."""
    voice_of = dialogue.discourse.voice_of
    votes = Counter(
        mention.entity
        for mention in dialogue.mentions
        if voice_of[mention.start] == NARRATION and dialogue.find_form(mention) == "i"
    )
    return votes.most_common(1)[0][0] if votes else None
