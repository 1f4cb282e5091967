"""Lexicons of people's names: titles, kinship, genders of first names, nicknames.

Genders are those of a census (the package ``names``), nicknames those of the package ``nicknames``;
``resources/discourse/names.toml`` adds names of the nineteenth century.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from entitynlm.config import load_toml
from entitynlm.text.english import FEMALE, MALE

_LISTS: Mapping[str, Mapping[str, str]] = load_toml(
    Path(__file__).parents[1] / "resources" / "discourse" / "names.toml"
)
SAME_TITLE = _LISTS["same_title"]
TITLE_GENDERS, KIN_GENDERS, _OLD_NAMES = (
    {
        word: {"male": MALE, "female": FEMALE}.get(gender)
        for gender, words in _LISTS[table].items()
        for word in words.split()
    }
    for table in ("titles", "kin", "first_names")
)
"""The gender of a person with this title, place in a family or first name; None for either."""
FIRST_NAME_AFTER, ARTICLE_TITLES, MALE_TITLES = (
    frozenset(_LISTS[table]["words"].split())
    for table in ("first_name_after", "article_titles", "male_titles")
)
_OWN_NICKNAMES: dict[str, set[str]] = {}
for _formal, _short in _LISTS["nicknames"].items():
    for _name in (_formal, *_short.split()):
        _OWN_NICKNAMES.setdefault(_name, set()).add(_formal)
CLEAR_NAME = 0.9
"""The share of the bearers of a first name from which it is a woman's or a man's."""


@cache
def _load_census() -> tuple[Mapping[str, float], Mapping[str, float], Mapping[str, float]]:
    """Load the shares (in %) of women's and of men's first names, and of surnames."""
    from names import FILES

    def load(kind: str) -> Mapping[str, float]:
        with Path(FILES[kind]).open(encoding="ascii") as lines:
            rows = (line.split() for line in lines)
            return {name.lower(): float(share) for name, share, *_ in rows}

    return load("first:female"), load("first:male"), load("last")


@cache
def guess_gender(name: str) -> str | None:
    """Guess the gender of a person by a name in lower case; None if women and men have it, or if it rather is a surname."""
    if name in _OLD_NAMES:
        return _OLD_NAMES[name]
    female, male, last = (table.get(name, 0.0) for table in _load_census())
    if max(female, male) <= last and (name not in _OWN_NICKNAMES or not max(female, male)):
        return None  # a surname, unless it has short forms
    share = female / (female + male)
    return FEMALE if share >= CLEAR_NAME else MALE if share <= 1 - CLEAR_NAME else None


@cache
def _load_nicknames() -> Mapping[str, set[str]]:
    """Load the first names that each first name is short for."""
    from nicknames import name_triplets

    formal: dict[str, set[str]] = {}
    for name, _, short in name_triplets():
        formal.setdefault(short, set()).add(name)
    return formal


def are_nicknames(one: str, other: str) -> bool:
    """Tell whether one of two first names in lower case is short for the other, or both are short for one name of our list."""
    formal = _load_nicknames()
    if other in formal.get(one, ()) or one in formal.get(other, ()):
        return True
    return bool(_OWN_NICKNAMES.get(one, set()) & _OWN_NICKNAMES.get(other, set()))


def list_formal_names(name: str) -> set[str]:
    """List the first names that one in lower case may be short for; two nicknames share one, or one lists the other."""
    return _load_nicknames().get(name, set()) | _OWN_NICKNAMES.get(name, set())
