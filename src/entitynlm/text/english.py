"""English word lists (``resources/english.toml``), and forms of words by lemminflect's dictionary."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from entitynlm.config import load_toml

MALE, FEMALE, NEUTER, HUMAN, UNKNOWN = "male", "female", "neuter", "human", "unknown"
SINGULAR, PLURAL = "singular", "plural"

_ENGLISH = load_toml(Path(__file__).parents[1] / "resources" / "english.toml")


def _invert(table: Mapping[str, str]) -> dict[str, str]:
    return {form: label for label, forms in table.items() for form in forms.split()}


def _read_words(name: str) -> frozenset[str]:
    return frozenset(_ENGLISH[name].split())


# Pronoun forms with the form that stands for them all, its gender and its number.
PRONOUNS: Mapping[str, str] = _invert(_ENGLISH["pronouns"])
GENDERS: Mapping[str, str] = {**_ENGLISH["pronoun_genders"], **_invert(_ENGLISH["genders"])}
NUMBERS: Mapping[str, str] = _ENGLISH["pronoun_numbers"]
DETERMINERS: Mapping[str, str] = _invert(_ENGLISH["determiners"])
AFTER_HEAD = _read_words("after_head")
"""Words that end the part of a noun phrase in which its head stands."""
FUNCTION_WORDS = frozenset((*DETERMINERS, "'s", "’s", "of", "and", "or", "in", "on", "at", "'", "’"))

SPEECH_VERBS, MORE_SPEECH_VERBS = _read_words("speech_verbs"), _read_words("more_speech_verbs")
THOUGHT_VERBS = _read_words("thought_verbs")
QUOTATION_VERBS = (SPEECH_VERBS | MORE_SPEECH_VERBS) - THOUGHT_VERBS
"""Verbs beside a quotation that is said aloud."""
PREPOSITIONS, TITLES = _read_words("prepositions"), _read_words("titles")
OBJECTIVE_PRONOUNS = _read_words("objective_pronouns")
POSSESSIVE_PRONOUNS = _read_words("possessive_pronouns")
NOT_IN_NOUN_PHRASES = _read_words("not_in_noun_phrases")
"""Verbs, conjunctions and adverbs that stand in no short noun phrase."""
ADJECTIVES = _read_words("adjectives")
"""Common adjectives, with which no noun phrase ends."""
PERSONS = _read_words("persons")
"""Nouns for persons beside those in :data:`GENDERS`."""


@cache
def list_lemmas(word: str) -> Mapping[str, tuple[str, ...]]:
    """List the base forms of a word in lower case by its parts of speech (``NOUN``, ``VERB``, …); empty if it is not known."""
    from lemminflect import getAllLemmas

    lemmas: Mapping[str, tuple[str, ...]] = getAllLemmas(word)
    return lemmas


@cache
def find_past(word: str) -> str | None:
    """Find the base form of a verb in the past tense; None for a word that is no past tense."""
    from lemminflect import getInflection, getLemma

    lemmas = list_lemmas(word)
    if not lemmas and word.isalpha() and word.endswith("ed"):  # not in the dictionary: by rules of spelling
        return next(iter(getLemma(word, "VERB")), None)
    return next((lemma for lemma in lemmas.get("VERB", ()) if word in getInflection(lemma, "VBD")), None)
