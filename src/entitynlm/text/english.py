"""English word lists (``resources/english.toml``): pronouns, genders, numbers, determiners, words after a head."""

from collections.abc import Mapping
from pathlib import Path

from entitynlm.config import load_toml

MALE, FEMALE, NEUTER, HUMAN, UNKNOWN = "male", "female", "neuter", "human", "unknown"
SINGULAR, PLURAL = "singular", "plural"

_LISTS = load_toml(Path(__file__).parents[1] / "resources" / "english.toml")


def _invert(table: Mapping[str, str]) -> dict[str, str]:
    return {form: label for label, forms in table.items() for form in forms.split()}


# Pronoun forms with the form that stands for them all, its gender and its number.
PRONOUNS: Mapping[str, str] = _invert(_LISTS["pronouns"])
GENDERS: Mapping[str, str] = {**_LISTS["pronoun_genders"], **_invert(_LISTS["genders"])}
NUMBERS: Mapping[str, str] = _LISTS["pronoun_numbers"]
DETERMINERS: Mapping[str, str] = _invert(_LISTS["determiners"])
PAST: Mapping[str, str] = _invert(_LISTS["past"])
"""Past forms of irregular verbs with their base forms."""
AFTER_HEAD = frozenset(
    _LISTS["after_head"].split()
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
    frozenset(_LISTS[name].split())
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
"""Verbs beside a quotation that somebody says aloud."""
