"""A cast as tables (a row per character, a row per quotation) and as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from entitynlm.characters.character import DESCRIPTION_FORM, NAME_FORM, PRONOUN_FORM, Cast, Character
from entitynlm.discourse.quotations import strip_marks
from entitynlm.text.document import Quotation

ROW_ENTRIES = 12
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
    aliases: str
    actions: str
    done_to: str
    possessions: str
    modifiers: str
    together: str


@dataclass(frozen=True)
class QuotationRow:
    """One quotation, with half-open tokens and characters of the text (None where there is no text).

    Participants who are not listed as characters have an id and no name.
    """

    document: str
    start: int
    end: int
    start_char: int | None
    end_char: int | None
    chapter: int | None
    chapter_title: str | None
    speaker: str | None
    speaker_name: str | None
    addressee: str | None
    addressee_name: str | None
    text: str


def list_character_rows(cast: Cast) -> Iterator[CharacterRow]:
    for character in cast.characters:
        yield CharacterRow(
            document=cast.document.id,
            id=character.id,
            name=character.name,
            gender=character.gender,
            is_narrator=character.is_narrator,
            mentions=character.mentions,
            names=character.forms[NAME_FORM],
            descriptions=character.forms[DESCRIPTION_FORM],
            pronouns=character.forms[PRONOUN_FORM],
            first_token=character.first,
            first_chapter=cast.find_chapter(character.first),
            last_token=character.last,
            last_chapter=cast.find_chapter(character.last),
            chapters=show_counts(character.chapters, len(cast.chapters) + 1, ":"),
            quotations=len(character.quotations),
            words_spoken=sum(_count_words(cast, quotation) for quotation in character.quotations),
            aliases=show_counts(character.aliases),
            actions=show_counts(character.actions),
            done_to=show_counts(character.done_to),
            possessions=show_counts(character.possessions),
            modifiers=show_counts(character.modifiers),
            together=show_counts(name_companions(cast, character)),
        )


def list_quotation_rows(cast: Cast) -> Iterator[QuotationRow]:
    names, titles = cast.names, {chapter.number: chapter.title for chapter in cast.chapters}
    for quotation in cast.document.quotations:
        speaker, addressee = quotation.speaker, quotation.addressee
        people = speaker, names.get(speaker or ""), addressee, names.get(addressee or "")
        chapter = cast.find_chapter(quotation.start)
        places = *quotation.span, *_find_characters(cast, quotation), chapter, titles.get(chapter or 0)
        yield QuotationRow(cast.document.id, *places, *people, _show(cast, quotation))


def _find_characters(cast: Cast, quotation: Quotation) -> tuple[int | None, int | None]:
    """Find the first character of a quotation and the one after its last in the text."""
    offsets = cast.document.offsets
    return (None, None) if offsets is None else (offsets[quotation.start][0], offsets[quotation.end - 1][1])


def name_companions(cast: Cast, character: Character) -> dict[str, int]:
    """Count the sentences that a character shares with others, by their names."""
    names = cast.names
    counts: dict[str, int] = {}
    for id, count in character.together.items():
        counts[names[id]] = counts.get(names[id], 0) + count
    return counts


def show_counts(counts: Mapping[Any, int], most: int = ROW_ENTRIES, sign: str = " ") -> str:
    """Show the ``most`` frequent counts as "say 30; look 12"; chapter 0 is the text before the first chapter."""
    listed = list(counts.items())[:most]
    return "; ".join(f"{0 if key is None else key}{sign}{count}" for key, count in listed)


def _count_words(cast: Cast, quotation: Quotation) -> int:
    start, end = strip_marks(cast.document, quotation.span)
    return sum(token[0].isalnum() for token in cast.document.tokens[start:end])


def _show(cast: Cast, quotation: Quotation) -> str:
    return " ".join(cast.document.words(*quotation.span).split())


def describe_cast(cast: Cast) -> dict[str, Any]:
    """Describe a cast as JSON, with every field of its characters and quotations."""
    return {
        "id": cast.document.id,
        "tokens": len(cast.document),
        "chapters": [asdict(chapter) for chapter in cast.chapters],
        "others": cast.others,
        "characters": [_describe_character(character) for character in cast.characters],
        "quotations": [
            {**msgspec.structs.asdict(q), "characters": _find_characters(cast, q), "text": _show(cast, q)}
            for q in cast.document.quotations
        ],
    }


def _describe_character(character: Character) -> dict[str, Any]:
    return {
        **vars(character),
        "mentions": character.mentions,
        "chapters": {str(number or 0): count for number, count in character.chapters.items()},
        "quotations": [list(quotation.span) for quotation in character.quotations],
    }
