"""The words of a mention fit its entity."""

from __future__ import annotations

from entitynlm.generation.agreement import MentionAgreement
from entitynlm.text.english import PRONOUNS


def test_pronouns_follow_what_was_said() -> None:
    known = (
        MentionAgreement()
        .hear(1, ("Anna",))
        .hear(1, ("she",))
        .hear(2, ("Mr.", "Reed"))
        .hear(3, ("two", "boys"))
    )
    known = known.hear(5, ("Kim",))
    known = known.hear(6, ("their", "mother")).hear(7, ("His", "door")).hear(7, ("its",))
    pronouns = {
        number: {PRONOUNS[form[0]] for form in known.list_forms(number) if " ".join(form) in PRONOUNS}
        for number in (1, 2, 3, 5, 6, 7)
    }
    assert pronouns == {
        1: {"she"},
        2: {"he"},
        3: {"they"},
        5: {"he", "she", "it", "they"},
        6: {"she"},
        7: {"it"},
    }
    assert ("Mr.", "Reed") in known.list_forms(2) and known.list_forms(9) == []
    assert ("him",) in known.list_forms(2) and ("'im",) not in known.list_forms(2)


def test_a_new_entity_takes_nobodys_name_and_no_verb() -> None:
    known = MentionAgreement().hear(1, ("Anna",))
    first, last = known.list_unfit(first=True, last=False), known.list_unfit(first=False, last=True)
    assert {"anna", "was", "he", ",", "said"} <= first and "the" not in first and "her" not in first - {"her"}
    assert {"the", "of", "she", "was"} <= last


def test_hearing_leaves_the_old_state_alone() -> None:
    before = MentionAgreement()
    assert before.hear(1, ("Anna",)).called and not before.called
