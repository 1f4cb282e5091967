"""Who can't be one person, and who is one although a linker lost them."""

from __future__ import annotations

import pytest

from entitynlm.discourse.identity import IdentityRules
from entitynlm.discourse.joining import join_names
from entitynlm.discourse.names import PersonName, conflict, find_common_words, is_same_first_name, parse_name
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
        ("Tom Vale", "Thomas Vale"),
        ("Tommy", "Thomas Vale"),
        ("Lizzy", "Elizabeth"),
        ("H. Vale", "Henry Vale"),
        ("Dr. Moss", "Doctor Moss"),
        ("Mr Vale", "Mr. Vale"),
        ("Uncle Tom", "Mr. Tom Vale"),
        ("poor Ida", "Ida"),
        ("Robert Vale", "Rob"),
    ],
)
def test_one_person(one: str, other: str) -> None:
    assert not conflict(name(one), name(other)) and not conflict(name(other), name(one))


def test_what_is_no_name() -> None:
    for words in ("she", "the old man", "the Vales", "Mr. and Mrs. Vale", "Ida 's hat", "The door", "Mr."):
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


def follow(
    text: str, mentions: list[tuple[int, int]], quotations: tuple[tuple[int, int], ...] = ()
) -> IdentityRules:
    return IdentityRules(Document("x", tuple(text.split())), mentions, quotations)


def test_names_and_pronouns_join_only_whom_they_fit() -> None:
    rules = follow(
        "Mr. Vale met Mrs. Vale and Vale . She saw him .", [(0, 2), (3, 5), (6, 7), (8, 9), (10, 11)]
    )
    rules.note(0, 0)
    assert not rules.allows(1, 0) and rules.allows(2, 0) and rules.allows(4, 0) and not rules.allows(3, 0)
    rules.note(1, 1)
    assert rules.allows(3, 1) and not rules.allows(4, 1)


def test_a_new_name_may_be_given() -> None:
    rules = follow("Miss Prudence Cowley , known as Tuppence , met Ida .", [(0, 3), (6, 7), (9, 10)])
    rules.note(0, 0)
    assert rules.allows(1, 0)
    rules.note(1, 0)
    assert not rules.allows(2, 0)


def test_the_narrator_is_one_and_not_he() -> None:
    text = "I saw him . “ I am old , ” he said . I left ."
    rules = follow(text, [(0, 1), (2, 3), (5, 6), (10, 11), (13, 14)], ((4, 10),))
    rules.note(0, 0)
    assert not rules.allows(1, 0) and rules.find_entity(1) is None
    rules.note(1, 1)
    assert rules.find_entity(2) is None, "somebody else's I"
    assert rules.find_entity(4) == 0


def test_in_a_transcript_everybody_says_i() -> None:
    document = Document("x", ("I", "am", "I"), columns={"speaker": ("a", "a", "b")})
    rules = IdentityRules(document, [(0, 1), (2, 3)], [])
    rules.note(0, 0)
    assert rules.find_entity(1) is None


def join(text: str, *mentions: tuple[int, int, str]) -> list[str]:
    document = Document("x", tuple(text.split()), mentions=tuple(Mention(*each) for each in mentions))
    return [mention.entity for mention in join_names(document).mentions]


def test_the_same_name_is_one_person() -> None:
    text = "Ida Vale came . Ida Vale left . Vale slept ."
    assert join(text, (0, 2, "a"), (4, 6, "b"), (8, 9, "c")) == ["a", "a", "a"]


def test_a_full_name_joins_its_parts() -> None:
    text = "Sir Henry came . Sir Henry Vale sat . Vale left ."
    assert join(text, (0, 2, "a"), (4, 7, "b"), (9, 10, "b")) == ["b", "b", "b"]


def test_a_bare_name_of_two_people_is_nobody_s() -> None:
    text = "Ida Vale saw Tom Vale . Vale slept ."
    assert join(text, (0, 2, "a"), (3, 5, "b"), (6, 7, "c")) == ["a", "b", "c"]


def test_other_titles_or_genders_keep_people_apart() -> None:
    assert join("Mr. Vale saw Mrs. Vale .", (0, 2, "a"), (3, 5, "b")) == ["a", "b"]
    text = "Vale slept ; he and he . Vale woke ; she and she ."
    mentions = [(0, 1, "a"), (3, 4, "a"), (5, 6, "a"), (7, 8, "b"), (10, 11, "b"), (12, 13, "b")]
    assert join(text, *mentions) == ["a", "a", "a", "b", "b", "b"]
