"""English word lists (``resources/english.toml``): pronouns, genders, numbers, determiners, words after a head."""

from collections.abc import Mapping
from pathlib import Path

from entitynlm.config import load_toml

MALE, FEMALE, NEUTER, HUMAN, UNKNOWN = "male", "female", "neuter", "human", "unknown"
SINGULAR, PLURAL = "singular", "plural"

_ENGLISH = load_toml(Path(__file__).parents[1] / "resources" / "english.toml")


def _invert(table: Mapping[str, str]) -> dict[str, str]:
    return {form: label for label, forms in table.items() for form in forms.split()}


# Pronoun forms with the form that stands for them all, its gender and its number.
PRONOUNS: Mapping[str, str] = _invert(_ENGLISH["pronouns"])
GENDERS: Mapping[str, str] = {**_ENGLISH["pronoun_genders"], **_invert(_ENGLISH["genders"])}
NUMBERS: Mapping[str, str] = _ENGLISH["pronoun_numbers"]
DETERMINERS: Mapping[str, str] = _invert(_ENGLISH["determiners"])
AFTER_HEAD = frozenset(
    _ENGLISH["after_head"].split()
)  # these end the part of a noun phrase in which its head stands
FUNCTION_WORDS = frozenset((*DETERMINERS, "'s", "’s", "of", "and", "or", "in", "on", "at", "'", "’"))

(
    SPEECH_VERBS,
    MORE_SPEECH_VERBS,
    THOUGHT_VERBS,
    PREPOSITIONS,
    TITLES,
    OBJECTIVE_PRONOUNS,
    POSSESSIVE_PRONOUNS,
) = (
    frozenset(_ENGLISH[name].split())
    for name in (
        "speech_verbs",
        "more_speech_verbs",
        "thought_verbs",
        "prepositions",
        "titles",
        "objective_pronouns",
        "possessive_pronouns",
    )
)
QUOTATION_VERBS = (SPEECH_VERBS | MORE_SPEECH_VERBS) - THOUGHT_VERBS
"""Verbs beside a quotation that is said aloud."""
