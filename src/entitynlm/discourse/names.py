"""People's names: titles, first names, surnames, nicknames, and whether two names can be those of one person."""

from collections import Counter, defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from entitynlm.config import load_toml
from entitynlm.text.document import Document, Span
from entitynlm.text.english import AFTER_HEAD, DETERMINERS, FEMALE, FUNCTION_WORDS, GENDERS, MALE, PRONOUNS

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
"""A first name is a woman's (or a man's) if at least this share of its bearers are."""
CLEAR_VOTES, FEWEST_VOTES = 0.75, 3
"""The share of pronouns of one gender after a name, and their number beyond those of the other, that determine its gender."""


@cache
def _load_census() -> tuple[Mapping[str, float], Mapping[str, float], Mapping[str, float]]:
    """Load the frequencies (in %) of women's first names, men's first names and surnames."""
    from names import FILES

    def load(kind: str) -> Mapping[str, float]:
        with Path(FILES[kind]).open(encoding="ascii") as lines:
            rows = (line.split() for line in lines)
            return {name.lower(): float(share) for name, share, *_ in rows}

    return load("first:female"), load("first:male"), load("last")


@cache
def guess_gender(name: str) -> str | None:
    """Guess the gender of a first name in lower case; None if both women and men have it, or if it is rather a surname."""
    if name in _OLD_NAMES:
        return _OLD_NAMES[name]
    female, male, last = (table.get(name, 0.0) for table in _load_census())
    if max(female, male) <= last and (name not in _OWN_NICKNAMES or not max(female, male)):
        return None  # a surname, unless it has short forms
    share = female / (female + male)
    return FEMALE if share >= CLEAR_NAME else MALE if share <= 1 - CLEAR_NAME else None


@cache
def _load_nicknames() -> Mapping[str, set[str]]:
    """Load, for each first name, the first names that it is short for."""
    from nicknames import name_triplets

    formal: dict[str, set[str]] = {}
    for name, _, short in name_triplets():
        formal.setdefault(short, set()).add(name)
    return formal


def are_nicknames(one: str, other: str) -> bool:
    """Tell whether one of two first names in lower case is short for the other, or both are short for a third."""
    formal = _load_nicknames()
    if other in formal.get(one, ()) or one in formal.get(other, ()):
        return True
    return bool(_OWN_NICKNAMES.get(one, set()) & _OWN_NICKNAMES.get(other, set()))


def list_formal_names(name: str) -> set[str]:
    """List the first names that a first name in lower case may be short for."""
    return _load_nicknames().get(name, set()) | _OWN_NICKNAMES.get(name, set())


NAME_PARTICLES = frozenset("de la le van von der den du d' di da".split())
NAME_SUFFIXES = frozenset(("jr", "sr", "esq", "junior", "senior", "ii", "iii", "m.d", "m.r.c.s"))
NAME_ADJECTIVES = frozenset("poor old young dear little good honest sweet late great big my your our".split())
NAME_AGES = {
    **dict.fromkeys(("old", "elder", "sr", "senior"), "old"),
    **dict.fromkeys(("young", "younger", "jr", "junior"), "young"),
}
"""Words that tell two persons of one name apart: Old Samuel is not Young Samuel."""
SHORTEST_STEM = 3


@dataclass(frozen=True)
class PersonName:
    """A parsed name; ``words`` are first name and surname in lower case, or the only one of them that is given."""

    words: tuple[str, ...]
    title: str | None = None
    gender: str | None = None
    is_first: bool = False
    age: str | None = None
    core: Span = field(default=(0, 0), compare=False)
    """Its title and names among the tokens of the mention, without "dear" before and a relative clause after them."""
    has_article: bool = field(default=False, compare=False)
    """Whether "the" stands directly before it, as before the names of ships and inns."""

    @property
    def full(self) -> bool:
        return len(self.words) > 1


def find_common_words(document: Document) -> frozenset[str]:
    """Find the words whose capital does not mark a name, because they are in lower case at least as often."""
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

    "A man named Vale", "the cook, whose name was Vale" and "his friend Vale" have a name too.

    :param common: words whose capital does not mark a name (:func:`find_common_words`), unless a name stands before them.
    """
    words = [token.rstrip(".").lower() for token in tokens]
    if not words or " ".join(words) in PRONOUNS:
        return None
    first = next((place for place in range(1, len(words)) if _names_follow(words[:place])), 0)
    if words[0] in ("the", "these", "those", "both", "two") and words[-1].endswith("s"):
        return None  # the Bennets
    title, gender, age, first_follows = None, None, None, False
    found: list[str] = []
    start = end = first
    for place in range(first, len(words)):
        token, word = tokens[place], words[place]
        stem = word.replace("’", "'").partition("'")[0]  # of "WE'RE"
        is_name = token[0].isupper() and word not in FUNCTION_WORDS and not {word, stem} & PRONOUNS.keys()
        if word in TITLE_GENDERS and not found and (token[0].isupper() or title is None):
            title, gender = SAME_TITLE.get(word, word), gender or TITLE_GENDERS[word]
            first_follows = word in FIRST_NAME_AFTER
        elif word in KIN_GENDERS and not found and token[0].isupper():
            gender, first_follows = gender or KIN_GENDERS[word], True
        elif word in NAME_AGES and (word in NAME_SUFFIXES or not (found or title)):
            age = NAME_AGES[word]
            start = start if found or token[0].isupper() else place + 1
        elif word in NAME_SUFFIXES or (word in NAME_PARTICLES and found):
            continue
        elif found and title and word in TITLE_GENDERS and token[0].isupper():
            return None  # two names without a comma between them
        elif not found and word in NAME_ADJECTIVES:
            start = place + 1
        elif is_name and (title or found or word not in common):
            found.append(word)
            end = place + 1
        elif found:
            listed = word == "," and "and" in words[:-1] and tokens[place + 1][0].isupper()
            follows = word in AFTER_HEAD or word in PRONOUNS or not word.isalpha()  # else: the English lady
            if listed or not follows or (word in ("and", "&", "or", "'s", "’s") and place + 1 < len(words)):
                return None
            break
        elif word in DETERMINERS or word in GENDERS:
            gender = GENDERS.get(word) or gender
            start = place + 1
        else:
            return None
    if not found or (title is None and words[0] in ("a", "an") and not first):  # an American
        return None
    if title is None and len(found) > 1:  # Mrs. John Dashwood has her husband's
        gender = gender or guess_gender(found[0])
    gender = gender if gender in (MALE, FEMALE) else None
    has_article = start == 1 and words[0] == "the" and title not in ARTICLE_TITLES
    is_first = first_follows and len(found) == 1
    return PersonName(tuple(found), title, gender, is_first, age, (start, end), has_article)


def _names_follow(words: Sequence[str]) -> bool:
    return words[-1] in ("named", "called") or (words[-2:-1] == ["name"] and words[-1] in ("is", "was"))


def parse_rank(tokens: Sequence[str]) -> str | None:
    """Parse an officer's or a doctor's title that stands for the name: "Colonel", "the Colonel"; None for other words."""
    *before, last = tokens
    word = last.rstrip(".").lower()
    is_rank = last[0].isupper() and TITLE_GENDERS.get(word, MALE) is None
    alone = all(token.lower() in ("the", "my", "dear") for token in before)
    return SAME_TITLE.get(word, word) if is_rank and alone else None


def find_pronoun_genders(
    document: Document, quoted: Sequence[bool], common: Container[str]
) -> dict[str, str]:
    """Find the gender of names from the pronouns after them: "…," said Hiroshi, and he sat down.

    A "he" or "she" in the narration counts if exactly one name stands before it in its sentence or, where there is none, in the
    previous sentence (Bergsma and Lin, 2006, count such pairs in large corpora).
    """
    tokens, votes = document.tokens, defaultdict[str, Counter[str]](Counter)
    proper = {
        token.lower()
        for before, token in pairwise(tokens)
        if token[0].isupper() and (before[0].isalnum() or before == ",")
    }
    last: set[str] = set()
    for start, end in document.sentences:
        names: set[str] = set()
        for place in range(start, end):
            word = tokens[place].lower()
            if quoted[place]:
                continue
            if word in ("he", "she"):
                known = names or last
                if len(known) == 1:
                    votes[next(iter(known))][GENDERS[word]] += 1
                break
            is_name = tokens[place][0].isupper() and word in proper and word not in common
            if is_name and word not in PRONOUNS and word.rstrip(".") not in TITLE_GENDERS:
                before = tokens[place - 1].rstrip(".").lower() if place else ""
                names.add(f"{before} {word}" if before in TITLE_GENDERS else word)
        last = names
    found: dict[str, str] = {}
    for name, genders in votes.items():
        (gender, most), total = genders.most_common(1)[0], genders.total()
        if most == total or (most >= CLEAR_VOTES * total and 2 * most - total >= FEWEST_VOTES):
            found[name] = gender
    return found


def is_same_first_name(one: str, other: str) -> bool:
    """Tell whether two first names may be the same: spelt alike, initials, nicknames, short forms."""
    if one == other or are_nicknames(one, other):
        return True
    short, long = sorted((one, other), key=len)
    if len(short) == 1:
        return long.startswith(short)
    if len(short) < SHORTEST_STEM or not long.startswith(short):
        return False
    rest = long[len(short) :].lstrip(short[-1])
    return rest in ("y", "ie", "ey") or len(long) - len(short) >= SHORTEST_STEM


def conflict(one: PersonName, other: PersonName) -> bool:
    """Tell whether two names cannot be one person's, because titles, genders, first names or surnames differ."""
    if one.title and other.title and one.title != other.title:
        return True
    if one.age and other.age and one.age != other.age:
        return True
    if one.gender and other.gender and one.gender != other.gender:
        return True
    if _is_wife(one, other) or _is_wife(other, one):
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


def _is_wife(one: PersonName, other: PersonName) -> bool:
    """Tell whether a name is a wife's, such as "Mrs. Newland Archer", and the other her husband's, which has no title."""
    if one.title != "mrs" or not one.full or guess_gender(one.words[0]) == FEMALE:
        return False
    return other.title is None and other.words[0] == one.words[0]
