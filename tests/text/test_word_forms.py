"""Base forms of verbs."""

import pytest

from entitynlm.text.english import find_past, list_lemmas


@pytest.mark.parametrize(
    ("past", "base"),
    [
        ("telephoned", "telephone"), ("wrangled", "wrangle"), ("said", "say"), ("stopped", "stop"), ("left", "leave"),
        ("frobnicated", "frobnicate"), ("hundred", None), ("red", None), ("opens", None), ("Ida", None), ("—", None),
    ],
)  # fmt: skip
def test_past_tense(past: str, base: str | None) -> None:
    assert find_past(past) == base


def test_parts_of_speech() -> None:
    assert {"NOUN", "VERB"} == set(list_lemmas("dog")) and not list_lemmas("ida")
