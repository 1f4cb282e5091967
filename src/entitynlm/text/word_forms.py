"""Forms of English words by lemminflect's dictionary: the parts of speech that a word may be, and base forms of verbs."""

from collections.abc import Mapping
from functools import cache


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
