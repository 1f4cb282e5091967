"""Templates and lexicon: wordings become words and slots, with the relation of each slot and the verb that agrees with it."""

from __future__ import annotations

import pytest

from entitynlm.stories.lexicon import is_plural
from entitynlm.stories.templates import TemplateSlot, compile_wording, compile_wordings, expand


def test_alternatives_expand_to_all_wordings() -> None:
    assert expand("{x} (ran|went) home (now|) .") == [
        "{x} ran home now .",
        "{x} ran home .",
        "{x} went home now .",
        "{x} went home .",
    ]
    shares = [share for share, _ in compile_wordings(("{x} (ran|went) .", "{x} left ."))]
    assert shares == [0.25, 0.25, 0.5]


@pytest.mark.parametrize(
    ("wording", "relations", "verbs"),
    [
        ("{a} gave {b} {c} .", ["subject", "object", "object"], [1, None, None]),
        ("{a} put on {b} and {c} .", ["subject", "object", "object"], [1, None, None]),
        ("{a} stroked {b} , and {c} purred .", ["subject", "object", "subject"], [1, None, 6]),
        ('" Where is {a} ? " {b} asked {c} .', ["subject", "subject", "object"], [2, 7, None]),
        ('" {a} only cleaned {b} , " {a} said .', ["subject", "object", "subject"], [3, None, 8]),
        ("{a} opened {b's} door .", ["subject", "possessive"], [1, None]),
    ],
)
def test_the_word_before_a_slot_tells_its_relation(
    wording: str, relations: list[str], verbs: list[int | None]
) -> None:
    slots = [item for item in compile_wording(wording) if isinstance(item, TemplateSlot)]
    assert [slot.relation for slot in slots] == relations
    assert [slot.verb for slot in slots] == verbs


def test_slots_know_their_form_and_whether_they_are_spoken() -> None:
    items = compile_wording('" {a} saw {b:full} , " {c:pro} told {d\'s} dog .')
    slots = {item.role: item for item in items if isinstance(item, TemplateSlot)}
    assert [slots[role].form for role in "abcd"] == ["", "full", "pro", "poss"]
    assert [slots[role].quoted for role in "abcd"] == [True, True, False, False]


@pytest.mark.parametrize(
    ("noun", "plural"), [("eggs", True), ("police", True), ("bus", False), ("glass", False), ("flour", False)]
)
def test_nouns_know_their_number(noun: str, plural: bool) -> None:
    assert is_plural(noun) is plural
