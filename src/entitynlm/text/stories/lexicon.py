"""The lexicon: words with their Penn tags and lemmas, and people's names, from ``resources/stories/lexicon.toml``."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from entitynlm.config import load_toml

RESOURCES = Path(__file__).resolve().parents[2] / "resources" / "stories"


@dataclass(frozen=True, slots=True)
class Word:
    """A word form with its Penn tag and lemma; ``mass`` marks a noun that is not counted (some flour)."""

    form: str
    tag: str
    lemma: str
    mass: bool = False


@cache
def _lexicon() -> dict[str, Any]:
    return load_toml(RESOURCES / "lexicon.toml")


@cache
def list_words(section: str, table: str = "") -> tuple[str, ...]:
    """The entries of one section in their order: words of a text, or phrases of a list."""
    values = _lexicon()[table][section] if table else _lexicon()[section]
    return tuple(values.split() if isinstance(values, str) else values)


@cache
def has_word(word: str, section: str, table: str = "") -> bool:
    return word in list_words(section, table)


def look_up_noun(form: str) -> Word:
    """A noun by its form, which need not be listed: plural if it ends in s and is not known to be otherwise."""
    lemma = _lexicon()["irregular_plurals"].get(form)
    if lemma is not None:
        return Word(form, "NNS", lemma)
    if form.endswith("s") and not form.endswith("ss") and not has_word(form, "singular_in_s"):
        return Word(form, "NNS", form[:-1])
    return Word(form, "NN", form, mass=has_word(form, "mass_nouns"))


def look_up_verb(form: str) -> dict[str, str]:
    """The possible verb tags of a form, each with its lemma."""
    return _verb_forms().get(form, {})


def look_up_other(form: str) -> tuple[str, str] | None:
    """Tag and lemma of a form that is no verb."""
    words = _other_words()
    return words.get(form) or words.get(form.lower())


@cache
def look_up(form: str) -> Word:
    """A word outside of any sentence: an adjective, a number or a preposition of a role."""
    if has_word(form, "adjectives"):
        return Word(form, "JJ", form)
    other = look_up_other(form)
    if other is not None:
        return Word(form, other[0], other[1])
    verb = look_up_verb(form)
    if "VBN" in verb:
        return Word(form, "VBN", verb["VBN"])
    raise KeyError(f"the word {form!r} is not in the lexicon of the stories")


def inflect_third_person(lemma: str) -> str:
    """The present form with he, she and it."""
    if lemma.endswith(("s", "sh", "ch", "x", "o")):
        return lemma + "es"
    if lemma.endswith("y") and lemma[-2] not in "aeo":
        return lemma[:-1] + "ies"
    return lemma + "s"


def _inflect_regularly(lemma: str) -> tuple[str, str]:
    if has_word(lemma, "doubling_verbs"):
        return lemma + lemma[-1] + "ed", lemma + lemma[-1] + "ing"
    if lemma.endswith("e"):
        return lemma + "d", lemma[:-1] + "ing"
    if lemma.endswith("y") and lemma[-2] not in "aeo":
        return lemma[:-1] + "ied", lemma + "ing"
    return lemma + "ed", lemma + "ing"


@cache
def _verb_forms() -> dict[str, dict[str, str]]:
    """Every verb form with its possible tags and their lemmas; of two verbs with one form the first wins."""
    forms: dict[str, dict[str, str]] = {}

    def put(form: str, tag: str, lemma: str) -> None:
        forms.setdefault(form, {}).setdefault(tag, lemma)

    verbs: list[tuple[str, str, str, str]] = []
    for lemma, past, participle in (verb.split() for verb in list_words("irregular_verbs")):
        ing = _lexicon()["ing_forms"].get(lemma) or lemma.removesuffix("e") + "ing"
        verbs.append((lemma, past, participle, ing))
    for lemma in list_words("regular_verbs"):
        past, ing = _inflect_regularly(lemma)
        verbs.append((lemma, past, past, ing))
    for lemma, past, participle, ing in verbs:
        put(past, "VBD", lemma)
        put(participle, "VBN", lemma)
        put(ing, "VBG", lemma)
    for lemma, *_ in verbs:
        put(lemma, "VB", lemma)
        put(inflect_third_person(lemma), "VBZ", lemma)
    for form, reading in _lexicon()["auxiliaries"].items():
        put(form, *reading.split())
    return forms


@cache
def _other_words() -> dict[str, tuple[str, str]]:
    """Tag and lemma of every word that is no verb; of several readings the first wins."""
    words: dict[str, tuple[str, str]] = {"o'clock": ("RB", "o'clock")}
    for tag, listed in _lexicon()["closed_class_words"].items():
        for form in listed.split():
            words.setdefault(form, (tag, {"n't": "not", "an": "a", "ca": "can"}.get(form, form)))
    for form, reading in _lexicon()["compared_adjectives"].items():
        words.setdefault(form, tuple(reading.split()))
    for form in list_words("nouns"):
        noun = look_up_noun(form)
        words.setdefault(form, (noun.tag, noun.lemma))
    for section, tag in (("adjectives", "JJ"), ("proper_nouns", "NNP")):
        for form in list_words(section):
            words.setdefault(form, (tag, form))
    return words
