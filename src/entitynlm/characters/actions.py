"""Actions of characters: the verbs that their mentions are subjects of.

With a syntactic analysis in the document, by it. Without one, by the words beside the mention: the verb after a subject ("Ida
slowly opened …"), or a verb of speech before it ("…," said Ida).
"""

from __future__ import annotations

import re
from pathlib import Path

from entitynlm.config import load_toml
from entitynlm.discourse.quotation_marks import MARKS
from entitynlm.text.document import Document, Mention
from entitynlm.text.english import (
    OBJECTIVE_PRONOUNS,
    PAST,
    POSSESSIVE_PRONOUNS,
    PREPOSITIONS,
    QUOTATION_VERBS,
)

_LISTS = load_toml(Path(__file__).parents[1] / "resources" / "characters" / "verbs.toml")
SUBJECT_TO_VERB = frozenset(_LISTS["between"].split())
NOT_VERBS = frozenset(_LISTS["not_verbs"].split())
VERB_REACH = 4
"""Tokens after a mention in which its verb stands."""
SUBJECTS = frozenset(("nsubj", "SBJ", "nsubj:outer"))
SILENT_E = ("c", "v", "z", "u", "s", "g", "at", "ir", "or", "in", "ok", "id", "ak", "ik", "ar", "os")

SHORT_VOWEL = re.compile("[^aeiou]*[aeiou][^aeiouwxy]")


class ActionReader:
    """Read the verbs of one document's mentions, in their base form."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._words = frozenset(document.tokens)
        self._lemmas, self._relations = document.column("lemma"), document.column("deprel")
        self._tags = document.columns.get("upos") or document.columns.get("pos")

    def read(self, mention: Mention) -> str | None:
        """Find the verb that a mention is subject of; None if it is no subject or no verb is found."""
        document = self.document
        if document.heads is not None and "deprel" in document.columns:
            return self._read_tree(mention)
        start, end = mention.span
        first = document.tokens[start].lower()
        alone = end - start == 1
        if alone and (first in OBJECTIVE_PRONOUNS or first in POSSESSIVE_PRONOUNS):
            return None
        before = document.tokens[start - 1].lower() if start else ""
        if before in PREPOSITIONS and before != "before":
            return None
        if start > 1 and before in QUOTATION_VERBS and document.tokens[start - 2] in MARKS:
            return self.find_base(before)
        return self._read_after(end)

    def _read_after(self, end: int) -> str | None:
        tokens = self.document.tokens
        for place in range(end, min(end + VERB_REACH, len(tokens))):
            word = tokens[place].lower()
            if word in PAST or self._is_regular(word):
                return self.find_base(word)
            if not (word in SUBJECT_TO_VERB or (word.endswith("ly") and len(word) > 4)):
                return None
        return None

    def _is_regular(self, word: str) -> bool:
        return word.isalpha() and word.endswith("ed") and len(word) > 3 and word not in NOT_VERBS

    def _read_tree(self, mention: Mention) -> str | None:
        heads = self.document.heads or ()
        for token in range(mention.start, mention.end):
            head = heads[token]
            if self._relations[token] in SUBJECTS and not mention.start <= head < mention.end:
                verbal = self._tags is None or (self._tags[head] or "").startswith("V")
                word = self._lemmas[head] or self.find_base(self.document.tokens[head].lower())
                return word.lower() if verbal else None
        return None

    def find_base(self, word: str) -> str:
        """Find the base form of a verb in the past, by the words of the text and the rules of spelling."""
        if word in PAST:
            return PAST[word]
        if not self._is_regular(word):
            return word
        if word.endswith("ied"):
            return f"{word[:-3]}y" if len(word) > 4 else word[:-1]
        stem = word[:-2]
        if len(stem) == 2:  # used, owed, eyed
            return f"{stem}e"
        doubled = stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else None
        for base in (stem, f"{stem}e", doubled):
            if base is not None and base in self._words:
                return base
        if doubled is not None and stem[-1] not in "lsfz":
            return doubled
        if SHORT_VOWEL.fullmatch(stem):  # smiled; a short vowel would have doubled the consonant
            return f"{stem}e"
        long = (
            not stem[-3:-1].strip("aeiou") and len(stem) > 3 and stem[-1] not in "csvzgu"
        )  # look, but raise
        silent = stem.endswith(SILENT_E) and not stem.endswith(("ss", "ng", "us")) and not long
        return f"{stem}e" if silent else stem
