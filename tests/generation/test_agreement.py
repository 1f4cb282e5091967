"""The words of a mention fit its entity."""

from entitynlm.generation.agreement import MentionAgreement
from entitynlm.text.english import PRONOUNS


def test_pronouns_follow_what_was_said() -> None:
    known = (
        MentionAgreement()
        .record(1, ("Anna",))
        .record(1, ("she",))
        .record(2, ("Mr.", "Reed"))
        .record(3, ("two", "boys"))
    )
    known = known.record(5, ("Pell",)).record(8, ("Martha",)).record(9, ("the", "island"))
    known = known.record(6, ("their", "mother")).record(7, ("His", "door")).record(7, ("its",))
    pronouns = {
        number: {PRONOUNS[form[0]] for form in known.list_forms(number) if " ".join(form) in PRONOUNS}
        for number in (1, 2, 3, 5, 6, 7, 8, 9)
    }
    assert pronouns == {
        1: {"she"},
        2: {"he"},
        3: {"they"},
        5: {"he", "she"},
        6: {"she"},
        7: {"it"},
        8: {"she"},
        9: {"it"},
    }
    assert ("Mr.", "Reed") in known.list_forms(2) and known.list_forms(10) == []
    assert ("him",) in known.list_forms(2) and ("'im",) not in known.list_forms(2)


def test_who_said_i_has_my_and_me() -> None:
    known = MentionAgreement().record(1, ("I",)).record(2, ("your", "captain"))
    own = {form[0] for form in known.list_forms(1)}
    assert {"me", "my"} <= own and not {"your", "us"} & own
    assert {form[0] for form in known.list_forms(2)} == {"your", "he", "him", "his"}  # the captain is not you


def test_a_new_entity_takes_nobodys_name_and_no_verb() -> None:
    known = MentionAgreement().record(1, ("Anna",))
    for word in ("Anna", "was", "he", ",", "said", "that", "up", "ship", "in"):
        assert not known.introduces(word, (), last=False)
    for word in ("the", "of", "she", "hasn", "was", 'house,"', "new", "tomorrow", "15"):
        assert not known.introduces(word, ("the",), last=True)
    assert known.introduces("the", (), last=False) and known.introduces("ship", ("the",), last=True)
    assert not known.introduces("the", ("the", "letter"), last=False)
    assert known.introduces("Bob", (), last=True) and known.introduces("I", (), last=True)
    for word, before in (
        ("dark", ("a",)),
        ("better", ("a",)),
        ("Dear", ()),
        ("inside", ("the", "key")),
        ("until", ("the", "boys")),
        ("Suddenly", ()),
    ):
        assert not known.introduces(word, before, last=True)
    assert known.introduces("stranger", ("a",), last=True)
    assert not known.introduces("good", ("a", "thing"), last=False)
    assert known.introduces("good", ("an", "old"), last=False)
    for word, before in (
        ("Sheldon", ("the", "cars")),
        ("Royal", ("the",)),
        ("hotel", ("the", "hotel")),
        ("roads", ("the", "road")),
        ("all", ("the", "door")),
        ("Take", ()),
    ):
        assert not known.introduces(word, before, last=True)
    for word, before in (("Hotel", ("the", "Royal")), ("Rose", ()), ("Paris", ("the", "streets", "of"))):
        assert known.introduces(word, before, last=True)
    assert known.introduces("melt", ("the",), last=True) and not known.introduces(
        "melt", ("the", "ice"), last=True
    )


def test_names_and_pronouns_are_in_mentions() -> None:
    known = MentionAgreement().record(1, ("Anna",)).record(2, ("the", "shop"))
    for word in ("Anna", "he", "her", "Mr", "Bob"):
        assert not known.fits_outside_mentions(word, begins=True)
    for word in ("And", "We", "the", "walked", "key"):
        assert known.fits_outside_mentions(word, begins=True)
    assert not known.fits_outside_mentions("London", begins=False)  # a name, and in no mention
    assert not known.fits_outside_mentions("boy", begins=False, after="old")  # "[the old] boy"


def test_no_noun_goes_on_with_a_mention() -> None:
    known = MentionAgreement()
    for word, after in (("silhouette", "dark"), ("door", "metal"), ("ball", "snow"), ("bark", "dog")):
        assert not known.fits_outside_mentions(word, begins=False, after=after)
    for word, after in (
        ("barks", "dog"),
        ("bark", "dogs"),
        ("walk", "they"),
        ("cut", "man"),
        ("home", "him"),
        ("was", "dark"),
    ):
        assert known.fits_outside_mentions(word, begins=False, after=after)


def test_where_nobody_new_may_come_no_noun_for_persons_stands_alone() -> None:
    known = MentionAgreement()
    assert not known.fits_outside_mentions("Lawyers", begins=True, people=False)
    for word in ("teachers", "man", "someone", "managers", "half-saints", "cops"):
        assert known.fits_outside_mentions(word, begins=False) and not known.fits_outside_mentions(
            word, begins=False, people=False
        )
    for word in ("door", "who", "one", "walked"):
        assert known.fits_outside_mentions(word, begins=False, people=False)


def test_an_entity_that_was_just_mentioned_owns_something() -> None:
    known = MentionAgreement().record(1, ("Bob",)).record(1, ("he",))
    assert known.list_forms(1, again=True) == [("his",)] and ("himself",) not in known.list_forms(1)


def test_hearing_leaves_the_old_state_alone() -> None:
    before = MentionAgreement()
    assert before.record(1, ("Anna",)).called and not before.called
