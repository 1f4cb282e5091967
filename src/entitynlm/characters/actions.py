"""Find what a character does, what is done to it, what it has, and how it is described.

The words are read from the tokens beside a mention, whose parts of speech a dictionary tells:
the verb after a subject ("Ida slowly opened …", "… and shut …"), a verb of speech
before it ("…," said Ida), the verb before an object ("saw Ida") or of a passive ("Ida was seen"), the noun after a possessive
("Ida's old dog"), adjectives and predicates ("poor Ida", "Ida was a tired girl").
"""

import itertools
from collections.abc import Iterator
from pathlib import Path

from entitynlm.config import load_toml
from entitynlm.discourse.quotation_marks import ENDS, MARKS
from entitynlm.text.document import Document, Mention
from entitynlm.text.english import (
    AFTER_HEAD,
    DETERMINERS,
    OBJECTIVE_PRONOUNS,
    POSSESSIVE_PRONOUNS,
    PREPOSITIONS,
    PRONOUNS,
    QUOTATION_VERBS,
    find_past,
    list_lemmas,
)

AGENT, PATIENT, POSSESSION, MODIFIER = "agent", "patient", "possession", "modifier"
VERB_REACH = 5
"""Tokens after a mention in which its verb stands."""
CLAUSE_REACH = 14
"""Tokens after a verb in which another verb of the same subject may follow an "and"."""
PHRASE_REACH = 4
"""Words of a noun phrase after a possessive or an article."""
BEING = frozenset(("am", "is", "are", "was", "were", "be", "been", "'s", "’s", "'m", "’m", "'re", "’re"))
_LISTS = load_toml(Path(__file__).parents[1] / "resources" / "characters" / "verbs.toml")
HELPING, BETWEEN, NOT_ADJECTIVES = (
    frozenset(_LISTS[name].split()) for name in ("helping", "between", "not_adjectives")
)
"""Auxiliaries, adverbs that stand between a subject and its verb, and words that hardly ever describe a person."""
SUBJECTS = frozenset(("i", "he", "she", "it", "we", "they", "who"))
SEEMING = frozenset(("seem", "look", "feel", "grow", "become", "turn"))
"""Verbs before an adjective that describes their subject."""

Deed = tuple[str, str]
"""The kind of a word (:data:`AGENT`: its verb, …) and its base form."""


class ActionReader:
    """Reads actions, possessions and modifiers beside the mentions of one document."""

    def __init__(self, document: Document) -> None:
        self._words = [token.lower() for token in document.tokens]

    def read(self, mention: Mention) -> Iterator[Deed]:
        """List the actions, possessions and modifiers that the words around a mention give to its entity."""
        start, end = mention.span
        first, before = self._words[start], self._get(start - 1)
        pronoun = end - start == 1 and first in PRONOUNS
        if not pronoun:
            before_head = itertools.takewhile(
                lambda word: word not in AFTER_HEAD, self._words[start : end - 1]
            )
            yield from ((MODIFIER, word) for word in before_head if _is_adjective(word))
        genitive = end - (self._words[end - 1] in ("'s", "’s"))
        owner = self._get(genitive) in ("'s", "’s") and not pronoun
        if owner or (pronoun and (first in POSSESSIVE_PRONOUNS or first == "her")):
            noun = self._find_noun(genitive + owner)
            if noun is not None:
                yield POSSESSION, noun
            if noun is not None or first != "her":
                return
        if before in PREPOSITIONS and before != "before":
            return
        if before in QUOTATION_VERBS and self._get(start - 2) in MARKS:
            yield AGENT, find_past(before) or before
            return
        found = (
            [] if pronoun and (first in OBJECTIVE_PRONOUNS or first == "her") else [*self._read_after(end)]
        )
        yield from found
        if not found and not (pronoun and first in SUBJECTS) and before not in QUOTATION_VERBS:
            verb = self._find_verb(start - 1)
            if verb is not None:
                yield PATIENT, verb

    def _get(self, place: int) -> str:
        return self._words[place] if 0 <= place < len(self._words) else ""

    def _find_verb(self, place: int) -> str | None:
        """Find the base form of a transitive verb: in the past, in -ing, or after "to" and auxiliaries."""
        word = self._get(place)
        verbs = list_lemmas(word).get("VERB", ())
        if word in BEING or word in HELPING or not verbs:
            return None
        other = word.endswith("ing") or self._get(place - 1) in HELPING
        return find_past(word) or (verbs[0] if other else None)

    def _find_noun(self, place: int) -> str | None:
        """Find the head of a noun phrase whose adjectives begin here."""
        noun, sure = None, False  # "old" and "white" are nouns too
        for word in self._words[place : place + PHRASE_REACH]:
            lemmas = list_lemmas(word)
            verbal = (sure and "VERB" in lemmas) or (find_past(word) is not None and "ADJ" not in lemmas)
            if verbal or word in PRONOUNS or word in PREPOSITIONS:
                break
            if "NOUN" in lemmas:
                noun, sure = lemmas["NOUN"][0], "ADJ" not in lemmas
            elif sure or not ("ADJ" in lemmas or word == ","):
                break
        return noun

    def _read_after(self, end: int) -> Iterator[Deed]:
        """Read the predicate of a subject that ends here."""
        being = helped = False
        place = end
        while place < end + VERB_REACH and self._get(place):
            word = self._words[place]
            if word in BEING:
                being = True
            elif word in HELPING:
                helped = True
            elif word in PREPOSITIONS or not (word in BETWEEN or set(list_lemmas(word)) == {"ADV"}):
                break
            place += 1
        word, verbs = self._get(place), list_lemmas(self._get(place)).get("VERB", ())
        if being:
            yield from self._read_predicate(place)
            return
        verb = find_past(word)
        if helped:
            verb = verbs[0] if verbs else "have" if "had" in self._words[end:place] else None
        elif verb is None and verbs and (word.endswith("s") or self._get(end - 1) in SUBJECTS):
            verb = verbs[0]
        if verb is not None:
            yield AGENT, verb
            if verb in SEEMING and _is_adjective(self._get(place + 1)):
                yield MODIFIER, self._get(place + 1)
            yield from self._follow_clause(place + 1)

    def _read_predicate(self, place: int) -> Iterator[Deed]:
        """Read what follows a form of "be": an adjective, a noun phrase, an action that goes on, or a passive."""
        word = self._get(place)
        verbs = list_lemmas(word).get("VERB", ())
        if word in DETERMINERS:
            adjectives = self._words[place + 1 : place + PHRASE_REACH]
            yield from ((MODIFIER, each) for each in adjectives if _is_adjective(each))
            noun = self._find_noun(place + 1)
            if noun is not None:
                yield MODIFIER, noun
        elif _is_adjective(word) and not (word.endswith("ing") and verbs and self._get(place + 1).isalpha()):
            yield MODIFIER, word
        elif verbs:
            yield AGENT if word.endswith("ing") else PATIENT, verbs[0]

    def _follow_clause(self, place: int) -> Iterator[Deed]:
        """Find further verbs of the same subject, after "and", before the clause ends or has another subject."""
        for here in range(place, min(place + CLAUSE_REACH, len(self._words))):
            word = self._words[here]
            if word in ENDS or word in MARKS or word in SUBJECTS or word == ";":
                return
            verb = find_past(self._get(here + 1)) if word == "and" else None
            if verb is not None:
                yield AGENT, verb


def _is_adjective(word: str) -> bool:
    excluded = DETERMINERS.keys() | BETWEEN | PREPOSITIONS | NOT_ADJECTIVES
    return "ADJ" in list_lemmas(word) and word not in excluded
