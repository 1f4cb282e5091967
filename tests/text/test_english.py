"""The English word lists are consistent with each other."""

from entitynlm.text.english import GENDERS, NUMBERS, PRONOUNS

FORMS = set(PRONOUNS.values())


def test_pronoun_forms_lead_to_one_form_with_its_gender_and_number() -> None:
    assert PRONOUNS["himself"] == "he" and GENDERS["he"] == "male" and NUMBERS["he"] == "singular"
    assert PRONOUNS["them"] == "they" and NUMBERS["they"] == "plural"
    assert all(form in FORMS or form in PRONOUNS for form in NUMBERS)
