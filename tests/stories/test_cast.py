"""The cast: who takes a role, with which name, noun and properties."""

from __future__ import annotations

from entitynlm.stories.cast import Role, StoryCast
from support.seeded import make_random


def test_no_two_names_begin_alike() -> None:
    for story in range(20):
        cast = StoryCast([Role(key, "person", named=True) for key in "abcdef"], make_random(1, story))
        initials = [cast[key].name[0][0] for key in "abcdef"]
        assert len(set(initials)) == len(initials)


def test_a_noun_fixes_the_gender_and_is_not_drawn_twice_if_another_is_left() -> None:
    nouns = ("waiter:m", "waitress:f")
    for story in range(20):
        cast = StoryCast([Role("a", "person", nouns), Role("b", "person", nouns)], make_random(1, story))
        found = {(cast[key].nouns[0][0], cast[key].gender) for key in "ab"}
        assert found == {("waiter", "m"), ("waitress", "f")}


def test_properties_are_drawn_and_those_with_a_mark_always() -> None:
    role = Role(
        "a", "thing", ("bike/bicycle",), (("old", "new"), ("!red",)), modifiers=("of {b}",), gender="n"
    )
    drawn = [StoryCast([role], make_random(1, story))["a"] for story in range(40)]
    assert all(bike.adjectives[-1] == "red" for bike in drawn)
    assert {bike.adjectives[0] for bike in drawn} == {"old", "new", "red"}
    assert {bike.modifier for bike in drawn} == {None, ("of", "b")}
    assert [noun[0] for noun in drawn[0].nouns] == ["bike", "bicycle"]
