"""People's names: titles, first names, surnames, nicknames, and whether two names can be those of one person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from entitynlm.config import load_toml
from entitynlm.text.document import Document
from entitynlm.text.english import DETERMINERS, FEMALE, FUNCTION_WORDS, MALE, PRONOUNS

_LISTS: Mapping[str, Mapping[str, str]] = load_toml(
    Path(__file__).parents[1] / "resources" / "discourse" / "names.toml"
)
SAME_TITLE = _LISTS["same_title"]
TITLE_GENDERS, KIN_GENDERS, FIRST_NAME_GENDERS = (
    {
        word: {"male": MALE, "female": FEMALE}.get(gender)
        for gender, words in _LISTS[table].items()
        for word in words.split()
    }
    for table in ("titles", "kin", "first_names")
)
"""The gender of a person with this title, place in a family or first name; None for either."""
FIRST_NAME_AFTER = frozenset(_LISTS["first_name_after"]["words"].split())
NAME_PARTICLES = frozenset("de la le van von der den du d' di da".split())
NAME_SUFFIXES = frozenset(("jr", "sr", "esq", "junior", "senior", "ii", "iii", "m.d", "m.r.c.s"))
NAME_ADJECTIVES = frozenset("poor old young dear little good honest sweet late great big my your our".split())
SHORTEST_STEM = 3
_NICKNAMES: dict[str, set[str]] = {}
for _formal, _short in _LISTS["nicknames"].items():
    for _name in (_formal, *_short.split()):
        _NICKNAMES.setdefault(_name, set()).add(_formal)


@dataclass(frozen=True)
class PersonName:
    """A name taken apart; ``words`` are first name and surname in lower case, or the one of them that is given."""

    words: tuple[str, ...]
    title: str | None = None
    gender: str | None = None
    is_first: bool = False

    @property
    def full(self) -> bool:
        return len(self.words) > 1


def find_common_words(document: Document) -> frozenset[str]:
    """Find the words whose capitals do not mark a name, because they are at least as often lower case (not Silver, a name)."""
    tokens = document.tokens
    lower = Counter(token for token in tokens if token[0].islower())
    upper = Counter(
        token.lower()
        for before, token in pairwise(tokens)
        if token[0].isupper() and (before[0].isalnum() or before == ",")
    )
    return frozenset(word for word, count in lower.items() if upper[word] <= count)


def parse_name(tokens: Sequence[str], common: Container[str] = ()) -> PersonName | None:
    """Parse the words of a mention as a person's name; None for a description, a pronoun, a group, or a person's belongings.

    :param common: words whose capitals do not mark a name (:func:`find_common_words`), unless a name stands before them.
    """
    words = [token.rstrip(".").lower() for token in tokens]
    if (
        not words
        or " ".join(words) in PRONOUNS
        or any(word in ("and", "&", "or", "'s", "’s") for word in words[:-1])
    ):
        return None
    if words[0] in ("the", "these", "those", "both", "two") and words[-1].endswith("s"):
        return None  # the Bennets
    title, gender, first_follows = None, None, False
    found: list[str] = []
    for token, word in zip(tokens, words, strict=True):
        if word in TITLE_GENDERS and not found and (token[0].isupper() or title is None):
            title, gender = SAME_TITLE.get(word, word), gender or TITLE_GENDERS[word]
            first_follows = word in FIRST_NAME_AFTER
        elif word in KIN_GENDERS and not found and token[0].isupper():
            gender, first_follows = gender or KIN_GENDERS[word], True
        elif word in NAME_SUFFIXES or (word in NAME_PARTICLES and found):
            continue
        elif token[0].isupper() and word not in FUNCTION_WORDS and (title or found or word not in common):
            found.append(word)
        elif found:
            break
        elif word not in DETERMINERS and word not in NAME_ADJECTIVES:
            return None
    if not found:
        return None
    if title is None and len(found) > 1:  # Mrs. John Dashwood has her husband's
        gender = gender or FIRST_NAME_GENDERS.get(found[0])
    return PersonName(tuple(found), title, gender, first_follows and len(found) == 1)


def is_same_first_name(one: str, other: str) -> bool:
    """Tell whether two first names may be the same: spelt alike, initials, nicknames, short forms."""
    if one == other or _NICKNAMES.get(one, set()) & _NICKNAMES.get(other, set()):
        return True
    short, long = sorted((one, other), key=len)
    if len(short) == 1:
        return long.startswith(short)
    if len(short) < SHORTEST_STEM or not long.startswith(short):
        return False
    rest = long[len(short) :].lstrip(short[-1])
    return rest in ("y", "ie", "ey") or len(long) - len(short) >= SHORTEST_STEM


def conflict(one: PersonName, other: PersonName) -> bool:
    """Tell whether two names can't be those of one person: other titles, other genders, other first names, other surnames."""
    if one.title and other.title and one.title != other.title:
        return True
    if one.gender and other.gender and one.gender != other.gender:
        return True
    if one.full and other.full:
        if set(one.words) <= set(other.words) or set(other.words) <= set(one.words):
            return False
        return one.words[-1] != other.words[-1] or not is_same_first_name(one.words[0], other.words[0])
    single, rest = sorted((one, other), key=lambda name: len(name.words))
    name = single.words[0]
    if not rest.full:
        return not is_same_first_name(name, rest.words[0])
    if single.is_first:
        return not is_same_first_name(name, rest.words[0])
    return name not in rest.words and not (single.title is None and is_same_first_name(name, rest.words[0]))
