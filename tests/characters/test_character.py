"""What a cast says of its people: names, gender, chapters, speech, actions, company; and the same as tables."""

import json

import pytest

from entitynlm.characters.actions import ActionReader
from entitynlm.characters.character import Cast, list_characters
from entitynlm.characters.tables import describe_cast, list_character_rows, list_quotation_rows
from entitynlm.discourse.participants import add_quotations
from entitynlm.text.document import Document, Mention
from support.marked_text import read_marked

CHAPTER = "The mill stood still, and the river went by it all day long, and no boat was on it. " * 3
BOOK = f"""Chapter 1

{CHAPTER}

[Ida Vale|i] slowly opened the door. [She|i] saw [Mr. Moss|m] and [his|m] dog. “Good day, [Ida|i],” said [Mr. Moss|m].

Chapter 2

{CHAPTER}

“[Mr. Moss|m] is ill,” said [Ida|i]. [The old man|m] slept. [I|n] watched [them|t]. [I|n] laughed.
"""


def make_cast(text: str = BOOK, **options: int) -> Cast:
    return list_characters(add_quotations(read_marked(text)), **options)


def test_who_is_in_a_book() -> None:
    cast = make_cast()
    moss, ida, narrator = cast.characters
    assert (ida.name, moss.name, narrator.name) == ("Ida", "Mr. Moss", "I")
    assert (ida.gender, moss.gender, narrator.gender) == ("female", "male", "unknown")
    assert [c.is_narrator for c in cast.characters] == [False, False, True]
    assert ida.aliases == {"Ida": 2, "Ida Vale": 1} and moss.aliases == {"Mr. Moss": 3, "The old man": 1}
    assert moss.forms == {"name": 3, "description": 1, "pronoun": 1} and moss.mentions == 5
    assert [chapter.title for chapter in cast.chapters] == ["Chapter 1", "Chapter 2"]
    assert ida.chapters == {1: 3, 2: 1} and narrator.chapters == {2: 2}
    assert cast.find_chapter(ida.first) == 1 and cast.find_chapter(ida.last) == 2


def test_speech_actions_and_company() -> None:
    cast = make_cast()
    moss, ida, narrator = cast.characters
    said = [cast.document.words(*quotation.span) for quotation in (*ida.quotations, *moss.quotations)]
    assert said == ["“Mr. Moss is ill,”", "“Good day, Ida,”"]
    assert (
        moss.done_to == {"see": 1}
        and moss.possessions == {"dog": 1}
        and moss.modifiers == {"ill": 1, "old": 1}
    )
    assert ida.actions == {"open": 1, "see": 1, "say": 1} and moss.actions == {"say": 1, "sleep": 1}
    assert narrator.actions == {"watch": 1, "laugh": 1}
    assert list(ida.together) == ["m"] and ida.together == {"m": moss.together["i"]} and not narrator.together


def test_fewest_mentions_and_names_without_pronouns() -> None:
    assert len(make_cast(least=1).characters) == 3 and len(make_cast(least=5).characters) == 1


def test_first_names_count_for_the_gender_beside_pronouns() -> None:
    """One "Mrs. Hawkins" among 2,381 mentions made a woman of a narrator who is called Jim 89 times."""
    document = read_marked(
        "[Jim|j] and [Jim|j] and [Jim|j] and [she|j]. [George|g] and [she|g] and [she|g]. [Zo|z] met [Zo|z]."
    )
    genders = {c.name: c.gender for c in list_characters(document).characters}
    assert genders == {"Jim": "male", "George": "female", "Zo": "unknown"}


def test_nobody() -> None:
    assert list_characters(Document("x", ())).characters == ()
    typed = Document("x", ("Paris", "slept"), mentions=(Mention(0, 1, "p"),), entity_types={"p": "place"})
    assert list_characters(typed, least=1).characters == ()


def test_tables_and_json_have_the_same_figures() -> None:
    cast = make_cast()
    moss, ida, _ = list_character_rows(cast)
    assert (ida.chapters, ida.first_chapter, ida.last_chapter) == ("1:3; 2:1", 1, 2)
    assert (
        ida.aliases == "Ida 2; Ida Vale 1" and ida.together.startswith("Mr. Moss ") and moss.words_spoken == 3
    )
    first, second = list_quotation_rows(cast)
    assert (first.speaker_name, first.addressee_name, first.chapter) == ("Mr. Moss", "Ida", 1)
    assert second.text == "“Mr. Moss is ill,”" and second.chapter_title == "Chapter 2"
    text = cast.document.text
    assert text is not None and text[second.start_char : second.end_char] == second.text
    found = json.loads(json.dumps(describe_cast(cast)))
    assert [c["mentions"] for c in found["characters"]] == [moss.mentions, ida.mentions, 2]
    assert found["quotations"][0]["speaker"] == "m" and len(found["chapters"]) == 2


@pytest.mark.parametrize(
    ("text", "deeds"),
    [
        ("[Ida Vale|i] slowly opened the door and shut it.", "agent open, agent shut"),
        ("[She|i] would never tell.", "agent tell"),
        ("[I|i] know it.", "agent know"),
        ("“Yes,” said [Ida|i].", "agent say"),
        ("Tom saw [Ida|i].", "patient see"),
        ("[Ida|i] was seen.", "patient see"),
        ("He wanted to follow [her|i].", "patient follow"),
        ("Tom came with [Ida|i].", ""),
        ("[Ida|i]'s old dog barked.", "possession dog"),
        ("[Her|i] eyes shone.", "possession eye"),
        ("[Poor Ida|i] was a shy, tired girl.", "modifier poor, modifier shy, modifier tired, modifier girl"),
        ("[She|i] looked pale.", "agent look, modifier pale"),
    ],
)
def test_deeds_by_the_words_around_a_mention(text: str, deeds: str) -> None:
    document = read_marked(text)
    found = ActionReader(document).read(document.mentions[0])
    assert ", ".join(f"{kind} {word}" for kind, word in found) == deeds
