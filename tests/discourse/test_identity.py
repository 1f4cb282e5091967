"""Rules of identity: mentions that can't be one person, and entities that are one by their names."""

from itertools import pairwise

import pytest

from entitynlm.api import as_document
from entitynlm.discourse.discourse import read_discourse
from entitynlm.discourse.identity import IdentityRules, MentionRelations
from entitynlm.discourse.names import (
    PersonName,
    conflict,
    find_common_words,
    find_pronoun_genders,
    guess_gender,
    is_same_first_name,
    parse_name,
)
from entitynlm.discourse.participants import find_things
from entitynlm.text.document import Document, Mention


def name(words: str) -> PersonName:
    found = parse_name(words.split())
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sir Henry", "Sir Charles"),
        ("Sir Henry Vale", "Sir Charles Vale"),
        ("Sir Henry", "Dr. Moss"),
        ("Mr. Vale", "Mrs. Vale"),
        ("Miss Vale", "Mrs. Vale"),
        ("Captain Reed", "Mr. Reed"),
        ("Jane Vale", "Janet Vale"),
        ("Uncle Tom", "Aunt Tom"),
        ("Holm", "Wat"),
        ("Ida", "Sir Henry"),
        ("Mr. Vale", "Henry Moss"),
        ("Lady Ann Vale", "Mr. Vale"),
        ("Mrs. Vale", "Henry Vale"),
        ("Mr. Vale", "Ida Vale"),
        ("Mrs. Henry Vale", "Henry Vale"),
        ("Mrs. Newland Vale", "Newland Vale"),
        ("Mrs. Newland Vale", "Newland"),
        ("Old Tom", "Young Tom"),
    ],
)
def test_two_persons(one: str, other: str) -> None:
    assert conflict(name(one), name(other)) and conflict(name(other), name(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sir Henry", "Sir Henry Vale"),
        ("Henry", "Sir Henry Vale"),
        ("Mr. Vale", "Henry Vale"),
        ("Mrs. Ida Vale", "Ida Vale"),
        ("Mrs. Newland Vale", "Mrs. Vale"),
        ("Tom Vale", "Thomas Vale"),
        ("Tommy", "Thomas Vale"),
        ("Lizzy", "Elizabeth"),
        ("H. Vale", "Henry Vale"),
        ("Dr. Moss", "Doctor Moss"),
        ("Mr Vale", "Mr. Vale"),
        ("Uncle Tom", "Mr. Tom Vale"),
        ("poor Ida", "Ida"),
        ("Robert Vale", "Rob"),
        ("Toby", "Tobias"),
        ("Dear Maggie", "Margaret Vale"),
    ],
)
def test_one_person(one: str, other: str) -> None:
    assert not conflict(name(one), name(other)) and not conflict(name(other), name(one))


def test_what_is_no_name() -> None:
    for words in (
        "she",
        "the old man",
        "the Vales",
        "Mr. and Mrs. Vale",
        "Ida 's hat",
        "The door",
        "Mr.",
        "Miss Vale Miss Moss",
        "WE'RE",
    ):
        assert parse_name(words.split(), {"door"}) is None, words
    assert name("Mr. Henry Vale , Esq.").words == ("henry", "vale")
    assert not is_same_first_name("al", "albertine")


def test_a_surname_that_is_a_word_is_a_name() -> None:
    """Long John Silver and John Trelawney were one, because there is silver in a tale of treasure."""
    text = "John Silver dug for silver and rose . We saw Silver , but the Rose was gone . A rose ."
    common = find_common_words(Document("x", tuple(text.split())))
    assert "silver" not in common and "rose" in common
    assert (
        parse_name(("Silver",), common) == PersonName(("silver",)) and parse_name(("Rose",), common) is None
    )
    assert parse_name(("Ann", "Rose"), common) == PersonName(("ann", "rose"), gender="female")
    assert conflict(name("John Silver"), name("Mr. Vale"))


def test_most_pronouns_after_a_name_tell_its_gender() -> None:
    text = (
        "Then Brask came and he sat . " * 7
        + "Then Brask rose and she left . Then Orlun ate and she left . " * 2
        + "Then Orlun ate and he left ."
    )
    words = text.split()
    ends = [place + 1 for place, word in enumerate(words) if word == "."]
    document = Document("x", tuple(words), tuple(pairwise([0, *ends])))
    genders = find_pronoun_genders(document, [False] * len(words), ())
    assert genders == {"brask": "male"}, "seven of nine are enough, and two of three are too few"


def follow(text: str, mentions: list[tuple[int, int]]) -> IdentityRules:
    return IdentityRules(read_discourse(Document("x", tuple(text.split()))), mentions)


def test_one_person_is_not_she_and_he() -> None:
    rules = follow(
        "Then Brask met Orlun . She was tired , and he laughed .", [(1, 2), (3, 4), (5, 6), (10, 11)]
    )
    for number, entity in ((0, 0), (1, 1), (2, 0)):
        rules.note(number, entity)
    assert not rules.allows(3, 0) and rules.allows(3, 1)


def test_names_and_pronouns_join_only_whom_they_fit() -> None:
    rules = follow(
        "Mr. Vale met Mrs. Vale and Vale . She saw him .", [(0, 2), (3, 5), (6, 7), (8, 9), (10, 11)]
    )
    rules.note(0, 0)
    assert not rules.allows(1, 0) and rules.allows(2, 0) and rules.allows(4, 0) and not rules.allows(3, 0)
    rules.note(1, 1)
    assert rules.allows(3, 1) and not rules.allows(4, 1)


def test_a_speaker_is_not_the_person_addressed() -> None:
    rules = follow(
        "“ Get up , Daniel , ” he said . “ I am Ida , ” said she .", [(4, 5), (7, 8), (13, 14), (17, 18)]
    )
    rules.note(0, 0)
    assert not rules.allows(1, 0)
    rules.note(1, 1)
    rules.note(2, 2)
    assert rules.allows(3, 2), "she tells her own name"


def test_genders_of_names_by_the_lexicon() -> None:
    reader = read_discourse(Document("x", tuple("Lucy saw Robin and Mr. Vale .".split()))).reader
    assert [reader.read(span).gender for span in ((0, 1), (2, 3), (4, 6))] == ["female", None, "male"]
    assert guess_gender("hollis") is None and guess_gender("frank") == "male"


def test_ships_and_inns_are_no_persons() -> None:
    text = "The Mary Ellen sank . She , the Mary Ellen , was old . The Rabbit saw the Rabbit ."
    spans = [(0, 3, "s"), (5, 6, "s"), (7, 10, "s"), (14, 16, "r"), (17, 19, "r")]
    mentions, types = tuple(Mention(*span) for span in spans), {"s": "person", "r": "person"}
    document = Document("x", tuple(text.split()), mentions=mentions, entity_types=types)
    assert find_things(read_discourse(document), document.mentions, document.entity_types) == {"s": "vehicle"}


def test_the_narrator_is_one_and_not_he() -> None:
    text = "I saw him . “ I am old , ” he said . I left ."
    rules = follow(text, [(0, 1), (2, 3), (5, 6), (10, 11), (13, 14)])
    rules.note(0, 0)
    assert not rules.allows(1, 0) and rules.find_entity(1) is None
    rules.note(1, 1)
    assert rules.find_entity(2) is None, "somebody else's I"
    assert rules.find_entity(4) == 0


def test_in_a_transcript_everybody_says_i() -> None:
    document = Document("x", ("I", "am", "I"), columns={"speaker": ("a", "a", "b")})
    rules = IdentityRules(read_discourse(document), [(0, 1), (2, 3)])
    rules.note(0, 0)
    assert rules.find_entity(1) is None


def relate(text: str, mentions: list[tuple[int, int]]) -> MentionRelations:
    discourse = read_discourse(as_document(text))
    return MentionRelations(discourse, mentions, [discourse.reader.read(span) for span in mentions])


def test_possessors_and_objects_are_others_and_appositions_are_one() -> None:
    assert relate("Leo's father slept.", [(0, 3), (0, 1)]).apart[0] == [1]
    assert relate("He saw him.", [(0, 1), (2, 3)]).apart[0] == [1]
    assert not relate("He shut it behind him.", [(0, 1), (4, 5)]).apart[0]
    apposition = relate("His daughter Nell slept.", [(0, 3), (0, 2), (0, 1), (2, 3)])
    assert apposition.same == {1: 0, 3: 0} and apposition.apart[0] == [2]
    assert relate("The boy who slept left.", [(0, 4), (0, 2)]).same == {1: 0}


@pytest.mark.parametrize(
    ("text", "mentions", "same"),
    [
        ("Ida slept. Then she woke.", [(0, 1), (4, 5)], {1: 0}),
        ("Ida saw Nora. She woke.", [(0, 1), (2, 3), (4, 5)], {}),  # a rival
        ("Ida slept. He woke.", [(0, 1), (3, 4)], {}),
    ],
)
def test_a_pronoun_at_the_head_of_a_sentence_is_the_only_person_before(
    text: str, mentions: list[tuple[int, int]], same: dict[int, int]
) -> None:
    assert relate(text, mentions).same == same


def test_speakers_who_take_turns_are_two() -> None:
    text = "“No,” said his father.\n\n“Why?” said Leo.\n\n“Wait,” said the old man."
    found = relate(text, [(5, 7), (5, 6), (13, 14), (20, 23)])
    assert 2 in found.apart[0] and 3 in found.apart[2]
    going_on = "“No,” said Leo.\n\n“Not now,” continued the boy."
    assert not relate(going_on, [(5, 6), (13, 15)]).apart[0]
