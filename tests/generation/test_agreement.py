"""The words of a mention fit its entity."""

from __future__ import annotations

import pytest
from entitynlm.interfaces.api import as_document

import entitynlm
from entitynlm.generation.agreement import MentionAgreement, list_spellings
from entitynlm.text.document import Mention
from entitynlm.text.english import PRONOUNS

STORY = as_document(
    "Anna met the old captain at the harbour. He gave her a letter. She read it and called Bob."
).with_mentions(
    Mention(*mention)
    for mention in (
        (0, 1, "anna"), (2, 5, "captain"), (6, 8, "harbour"), (9, 10, "captain"), (11, 12, "anna"), (15, 16, "anna"),
        (20, 21, "bob"),
    )
)  # fmt: skip


def test_pronouns_follow_what_was_said() -> None:
    known = (
        MentionAgreement()
        .hear(1, ("Anna",))
        .hear(1, ("she",))
        .hear(2, ("Mr.", "Reed"), "person")
        .hear(3, ("two", "boys"))
    )
    known = known.hear(4, ("the", "door"), "object").hear(5, ("Kim",), "person")
    known = known.hear(6, ("their", "mother")).hear(7, ("His", "door"), "object").hear(7, ("its",))
    pronouns = {
        number: {PRONOUNS[form[0]] for form in known.list_forms(number) if " ".join(form) in PRONOUNS}
        for number in range(1, 8)
    }
    assert pronouns == {
        1: {"she"},
        2: {"he"},
        3: {"they"},
        4: {"it"},
        5: {"he", "she"},
        6: {"she"},
        7: {"it"},
    }
    assert ("Mr.", "Reed") in known.list_forms(2) and known.list_forms(9) == []


def test_a_new_entity_takes_nobodys_name_and_no_verb() -> None:
    known = MentionAgreement().hear(1, ("Anna",))
    first, last = known.list_unfit(first=True, last=False), known.list_unfit(first=False, last=True)
    assert {"anna", "was", "he", ",", "said"} <= first and "the" not in first and "her" not in first - {"her"}
    assert {"the", "of", "she", "was"} <= last


def test_hearing_leaves_the_old_state_alone() -> None:
    before = MentionAgreement()
    assert before.hear(1, ("Anna",)).called and not before.called


def test_spellings_are_found_by_lower_case() -> None:
    assert list_spellings(["The", "door", "the"]) == {"the": [0, 2], "door": [1]}


@pytest.mark.parametrize("seed", range(4))
def test_what_a_reader_sees_agrees_with_the_labels(seed: int) -> None:
    """The shipped model: nobody is called by another's name, pronouns keep their gender, no mention ends in a verb."""
    model = entitynlm.load("entitynlm-en")
    heads: dict[str, set[str]] = {}
    for story in model.generate(STORY, words=60, seed=seed, count=2):
        heads.clear()
        for mention in story.document.mentions:
            words = story.document.words(*mention.span).lower().split()
            called = story.names.get(mention.entity, "").lower()
            assert words[-1] not in {"was", "is", "had", "said", "the", "of"}, words
            if called == "anna":
                assert not {"bob", "captain", "he", "him", "his"} & {*words}
            if called == "bob":
                assert not {"anna", "captain"} & {*words}
            if words[0] in PRONOUNS and PRONOUNS[words[0]] in ("he", "she", "it", "they"):
                heads.setdefault(mention.entity, set()).add(PRONOUNS[words[0]])
        assert all(len(found) == 1 for found in heads.values()), heads
