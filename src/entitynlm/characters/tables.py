"""A cast as tables (a row per character, a row per quotation) and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from entitynlm.characters.character import DESCRIPTION, NAME, PRONOUN, Cast, Character
from entitynlm.discourse.quotations import strip_marks
from entitynlm.text.document import Quotation

SHOWN = 12
"""Aliases, verbs and companions of a row; JSON has all of them."""


@dataclass(frozen=True)
class CharacterRow:
    """One character; lists are "word count; word count", the most frequent first."""

    document: str
    id: str
    name: str
    gender: str
    is_narrator: bool
    mentions: int
    names: int
    descriptions: int
    pronouns: int
    first_token: int
    first_chapter: int | None
    last_token: int
    last_chapter: int | None
    chapters: str
    quotations: int
    words_spoken: int
    quotations_about: int
    aliases: str
    actions: str
    together: str


@dataclass(frozen=True)
class QuotationRow:
    """One quotation, with half-open tokens; participants who are not listed as characters have an id and no name."""

    document: str
    start: int
    end: int
    chapter: int | None
    speaker: str | None
    speaker_name: str | None
    addressee: str | None
    addressee_name: str | None
    text: str


def list_rows(cast: Cast) -> Iterator[CharacterRow]:
    for character in cast.characters:
        yield CharacterRow(
            document=cast.document.id,
            id=character.id,
            name=character.name,
            gender=character.gender,
            is_narrator=character.is_narrator,
            mentions=character.mentions,
            names=character.forms[NAME],
            descriptions=character.forms[DESCRIPTION],
            pronouns=character.forms[PRONOUN],
            first_token=character.first,
            first_chapter=cast.find_chapter(character.first),
            last_token=character.last,
            last_chapter=cast.find_chapter(character.last),
            chapters=show_counts(character.chapters, len(cast.chapters) + 1, ":"),
            quotations=len(character.quotations),
            words_spoken=sum(_count_words(cast, quotation) for quotation in character.quotations),
            quotations_about=len(character.about),
            aliases=show_counts(character.aliases),
            actions=show_counts(character.actions),
            together=show_counts(name_companions(cast, character)),
        )


def list_quotations(cast: Cast) -> Iterator[QuotationRow]:
    names = {character.id: character.name for character in cast.characters}
    for quotation in cast.document.quotations:
        speaker, addressee = quotation.speaker, quotation.addressee
        people = speaker, names.get(speaker or ""), addressee, names.get(addressee or "")
        chapter = cast.find_chapter(quotation.start)
        yield QuotationRow(cast.document.id, *quotation.span, chapter, *people, _show(cast, quotation))


def name_companions(cast: Cast, character: Character) -> dict[str, int]:
    """Whom a character appears with, by name."""
    names = {other.id: other.name for other in cast.characters}
    counts: dict[str, int] = {}
    for id, count in character.together.items():
        counts[names[id]] = counts.get(names[id], 0) + count
    return counts


def show_counts(counts: Mapping[Any, int], most: int = SHOWN, sign: str = " ") -> str:
    """ "say 30; look 12", at most so many; what stands before the first chapter is chapter 0."""
    listed = list(counts.items())[:most]
    return "; ".join(f"{0 if key is None else key}{sign}{count}" for key, count in listed)


def _count_words(cast: Cast, quotation: Quotation) -> int:
    start, end = strip_marks(cast.document, quotation.span)
    return sum(token[0].isalnum() for token in cast.document.tokens[start:end])


def _show(cast: Cast, quotation: Quotation) -> str:
    return " ".join(cast.document.words(*quotation.span).split())


def describe_cast(cast: Cast) -> dict[str, Any]:
    """Everything, for JSON."""
    return {
        "id": cast.document.id,
        "tokens": len(cast.document),
        "chapters": [
            {"number": chapter.number, "title": chapter.title, "start": chapter.start, "end": chapter.end}
            for chapter in cast.chapters
        ],
        "others": cast.others,
        "characters": [
            {
                "id": character.id,
                "name": character.name,
                "gender": character.gender,
                "is_narrator": character.is_narrator,
                "mentions": character.mentions,
                "forms": dict(character.forms),
                "aliases": dict(character.aliases),
                "chapters": {str(number or 0): count for number, count in character.chapters.items()},
                "first": character.first,
                "last": character.last,
                "actions": dict(character.actions),
                "together": dict(character.together),
                "quotations": [list(quotation.span) for quotation in character.quotations],
                "about": [list(quotation.span) for quotation in character.about],
            }
            for character in cast.characters
        ],
        "quotations": [
            {
                "start": quotation.start,
                "end": quotation.end,
                "speaker": quotation.speaker,
                "addressee": quotation.addressee,
                "text": _show(cast, quotation),
            }
            for quotation in cast.document.quotations
        ],
    }
