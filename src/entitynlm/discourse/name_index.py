"""The people of a whole text, with their names.

Coreference that reads on knows only the names so far. After a first pass all names are known, with their frequencies and the
names and pronouns that were linked with them: names are grouped into people, full names first, and a second pass links all other
mentions given these people.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from entitynlm.discourse.discourse import Discourse
from entitynlm.discourse.names import PersonName, conflict, is_same_first_name, list_formal_names
from entitynlm.discourse.records import MentionReading, find_gender
from entitynlm.discourse.speaker_features import may_speak
from entitynlm.text.document import Span
from entitynlm.text.english import FEMALE, MALE

MUCH = 3.0
"""A name that several people may have belongs to one if the evidence for it is this many times that for all others."""
FEWEST_PRONOUNS = 3.0
"""Pronouns of one gender beyond those of the other, linked with a name, that determine the person's gender."""
FEWEST_BESIDE, BESIDE_SHARE = 3, 0.05
"""Sentences with two names, at least and as a share of the rarer name's mentions, from which they are those of two people."""
FEWEST_LINKS, LINKED_SHARE = 2, 0.05
"""Links to a person's names, at least and as a share of a name's mentions, that choose the person."""
FEWEST_FULL = 3
"""Full names that begin with a word, at least, so that the word is a first name."""
PRONOUN_GENDERS = {"he": MALE, "she": FEMALE}


@dataclass(eq=False)
class Person:
    """Names with their counts, counts in the narration, and the pronouns that were linked with them, by gender.

    :param number: number of the person in the text.
    """

    number: int
    names: Counter[PersonName] = field(default_factory=Counter)
    votes: Counter[str] = field(default_factory=Counter)
    told: int = 0

    @property
    def gender(self) -> str | None:
        """The gender of the person's titles and first names, or else of the pronouns."""
        told: Counter[str] = Counter()
        for name, count in self.names.items():
            if name.gender is not None:
                told[name.gender] += count
        return told.most_common(1)[0][0] if told else find_gender(self.votes, FEWEST_PRONOUNS)

    def fits(self, name: PersonName, gender: str | None) -> bool:
        """Tell whether the person may have this name, given the gender of the mention's entity."""
        if None not in (gender, self.gender) and gender != self.gender:
            return False
        full = [other.words for other in (*self.names, name) if other.full]
        spelt = [other for other in self.names if len(other.words[0]) > 1] or self.names  # not "Mr. L. Vale"
        return not any(conflict(name, other) and not are_parts(name, other, full) for other in spelt)

    def has_words(self, name: PersonName) -> bool:
        return any(other.title == name.title and other.words == name.words for other in self.names)

    def is_woman_called(self, surname: str) -> bool:
        """Tell whether a person with this surname and a first name may be a woman."""
        return self.gender != MALE and any(n.full and n.words[-1] == surname for n in self.names)

    def count_parts(self, singles: Mapping[str, int], words: Container[str]) -> int:
        """Count how often a part of one of the person's full names, other than these words, stands alone."""
        parts = {word for name in self.names if name.full for word in name.words if word not in words}
        return max((singles[word] for word in parts), default=0)

    def has_word(self, word: str) -> bool:
        return any(word in other.words for other in self.names)

    def has_title(self, title: str | None) -> bool:
        return any(title == other.title for other in self.names)

    def has_surname(self, name: PersonName) -> bool:
        """Tell whether a single name is the person's surname, and not the first name."""
        last = {other.words[-1] for other in self.names if other.full or (other.title and not other.is_first)}
        return name.words[0] in last - {other.words[0] for other in self.names if other.full}

    def shares(self, name: PersonName) -> bool:
        """Tell whether the person has a name that shares its surname or first name with this one."""
        return any(_share_words(name, other) for other in self.names)


def are_parts(one: PersonName, other: PersonName, full: Iterable[tuple[str, ...]]) -> bool:
    """Tell whether a first name, or its short form, and a surname ("Sir Henry", "Vale") are parts of a full name."""
    titled = None not in (one.title, other.title) and one.title != other.title
    if one.full or other.full or titled or one.words == other.words:
        return False
    pairs = ((one.words[0], other.words[0]), (other.words[0], one.words[0]))
    return any(
        last in name[1:] and (first in name or is_same_first_name(first, name[0]))
        for first, last in pairs
        for name in full
    )


def _share_words(one: PersonName, other: PersonName) -> bool:
    if one.words == other.words:
        return True
    if one.full and other.full:
        return one.words[-1] == other.words[-1] and is_same_first_name(one.words[0], other.words[0])
    single, rest = (other, one) if one.full else (one, other)
    return single.words[0] in rest.words or is_same_first_name(single.words[0], rest.words[0])


def _list_keys(name: PersonName) -> set[str]:
    """List keys such that names which share a word have a key in common: words, the first letter, formal first names."""
    first = name.words[0]
    return {*name.words, first[0], *list_formal_names(first)}


class NameIndex:
    """The people of a text, from the clusters of a first pass over its mentions.

    :param readings: words of the mentions; a mention that is not about a person has no name.
    :param clusters: cluster of each mention.  :param quoted: whether it stands in a quotation.  :param sentences: its sentence.
    """

    def __init__(
        self,
        readings: Sequence[MentionReading],
        clusters: Sequence[int],
        quoted: Sequence[bool],
        sentences: Sequence[int],
    ) -> None:
        self._counts: Counter[PersonName] = Counter()
        self._votes: dict[PersonName, Counter[str]] = defaultdict(Counter)
        self._together: Counter[frozenset[PersonName]] = Counter()
        self._named: dict[int, Counter[PersonName]] = defaultdict(Counter)
        self._count(readings, clusters)
        self._beside = _count_beside(readings, sentences)
        firsts: Counter[tuple[str, ...]] = Counter()
        for name, count in self._counts.items():
            firsts[name.words[:1]] += count * name.full
        self._firsts = {word for word, count in firsts.items() if count >= FEWEST_FULL}
        self._singles = Counter[str]()
        for name, count in self._counts.items():
            self._singles[name.words[0]] += count * (not name.full)
        titled = {name.words for name in self._counts if name.title and not (name.full or name.is_first)}
        self._surnames = titled - self._firsts
        self.people: list[Person] = []
        self.owners: dict[PersonName, Person] = {}
        self._numbers: dict[str, set[int]] = defaultdict(set)  # of people, by the keys of their names
        for name in sorted(self._counts, key=self._rank):
            self._place(name)
        for reading, inside in zip(readings, quoted, strict=True):
            if reading.name is not None:
                self.owners[reading.name].told += not inside

    def _rank(self, name: PersonName) -> tuple[int, int, tuple[str, ...]]:
        """Rank full names first, and surnames last that also stand after a title: Mr. Vale and Mrs. Vale come before Vale."""
        surname = not (name.full or name.title) and name.words in self._surnames
        return (0 if name.full else 2 if surname else 1, -self._counts[name], name.words)

    def _count(self, readings: Sequence[MentionReading], clusters: Sequence[int]) -> None:
        """Count names, pronouns linked with them (divided among the names of a cluster), and pairs of linked names."""
        named = self._named
        genders: dict[int, Counter[str]] = defaultdict(Counter)
        for reading, cluster in zip(readings, clusters, strict=True):
            if reading.name is not None:
                named[cluster][reading.name] += 1
            elif reading.form in PRONOUN_GENDERS:
                genders[cluster][PRONOUN_GENDERS[reading.form]] += 1
        for cluster, own in named.items():
            self._counts.update(own)
            listed = list(own.items())
            for place, (name, count) in enumerate(listed):
                for gender, votes in genders[cluster].items():
                    self._votes[name][gender] += votes * count / own.total()  # type: ignore[assignment]
                for other, more in listed[place + 1 :]:
                    self._together[frozenset((name, other))] += min(count, more)

    def _place(self, name: PersonName) -> None:
        """Assign a name to the person that it fits best, or to a new one."""
        gender = name.gender or find_gender(self._votes[name], FEWEST_PRONOUNS)
        known = [self.people[number] for number in self._numbers[name.words[0]]]
        bare = name.title is None and not name.full
        if name.words in self._firsts or (
            bare and any(other.has_surname(name) and other.gender == MALE for other in known)
        ):
            gender = (
                name.gender
            )  # a full name tells more; wives have the surname too, so that a cluster's pronouns tell little
        person = self._choose(name, self._list_fitting(name, gender))
        if person is None:
            person = Person(len(self.people))
            self.people.append(person)
        person.names[name] += self._counts[name]
        person.votes.update(self._votes[name])
        self.owners[name] = person
        for key in _list_keys(name):
            self._numbers[key].add(person.number)

    def _list_fitting(self, name: PersonName, gender: str | None) -> list[Person]:
        """List the people who may have a name: people of the same age, and for a bare surname men, if there are any.

        "Sir John" is rather Sir John Moss than John Vale; but "Miss Moss" is not Miss Ann Moss, if Ann has an elder sister.
        """
        numbers = sorted(set[int]().union(*(self._numbers[key] for key in _list_keys(name))))
        fitting = [
            person
            for person in map(self.people.__getitem__, numbers)
            if person.shares(name) and person.fits(name, gender) and not self._is_beside(name, person)
        ]
        exact = [each for each in fitting if each.has_words(name)]
        worded = [each for each in fitting if each.has_word(name.words[0])]
        titled = [each for each in worded if name.title not in (None, "miss") and each.has_title(name.title)]
        same_age = [each for each in fitting if name.age and name.age in {known.age for known in each.names}]
        surname = name.title is None and not name.full and all(each.has_surname(name) for each in fitting)
        men = [each for each in fitting if surname and each.gender == MALE]
        return same_age or exact or men or titled or worded or fitting

    def _is_beside(self, name: PersonName, person: Person) -> bool:
        """Tell whether a name often stands in one sentence with another name of a person: Mrs. Vale is not her daughter Ida."""
        full = [other.words for other in person.names if other.full]
        first = {other.words[0] for other in person.names if other.full} - {*name.words}
        others = [
            other
            for other in {*person.names, *(PersonName((word,)) for word in sorted(first))}
            if not set(name.words) & set(other.words)
            and not (are_parts(name, other, full) and self._is_only_miss(name, other))
        ]
        beside = sum(self._beside[frozenset((name, other))] for other in others)
        rarer = min(self._counts[name], sum(self._counts[other] for other in others))
        return beside >= FEWEST_BESIDE and beside >= BESIDE_SHARE * rarer

    def _is_only_miss(self, *names: PersonName) -> bool:
        """Tell whether one of the names is "Miss" with a surname that only one woman of the text has: Mary is Miss Vale."""
        surnames = [name.words[0] for name in names if name.title == "miss" and not name.is_first]
        return any(
            sum(person.is_woman_called(surname) for person in self.people) == 1 for surname in surnames
        )

    def _choose(self, name: PersonName, fitting: Sequence[Person]) -> Person | None:
        """Choose the person by links between this name and the person's names, else by frequency."""
        if len(fitting) < 2:
            return fitting[0] if fitting else None
        sizes = [person.names.total() for person in fitting]
        links = [sum(self._together[frozenset((name, other))] for other in who.names) for who in fitting]
        known = [who.count_parts(self._singles, name.words) for who in fitting]
        fewest = max(FEWEST_LINKS, LINKED_SHARE * self._counts[name])
        for evidence, least in ((links, fewest), (sizes, FEWEST_LINKS), (known, FEWEST_LINKS)):
            most = max(evidence)
            if most >= least and most >= MUCH * (sum(evidence) - most):
                return fitting[evidence.index(most)]
        return None

    def find_owner(self, name: PersonName | None) -> Person | None:
        """Find the person of a name; for a name that occurs in no mention, the only person whom it fits."""
        if name is None or name in self.owners:
            return None if name is None else self.owners[name]
        fitting = self._list_fitting(name, name.gender)
        return fitting[0] if len(fitting) == 1 else None

    def find_titled(self, title: str | None) -> Person | None:
        """Find the only person who has a title."""
        titled = [each for each in self.people if title and title in {name.title for name in each.names}]
        return titled[0] if len(titled) == 1 else None

    def join(self, clusters: Sequence[int]) -> list[int]:
        """Join the clusters of one person; a cluster is the person's that most of its names belong to. Return the new numbers."""
        first: dict[int, int] = {}
        joined: dict[int, int] = {}
        for cluster, names in self._named.items():
            votes: Counter[int] = Counter()
            for name, count in names.items():
                votes[id(self.owners[name])] += count
            joined[cluster] = first.setdefault(votes.most_common(1)[0][0], cluster)
        return [joined.get(cluster, cluster) for cluster in clusters]


def _count_beside(
    readings: Sequence[MentionReading], sentences: Sequence[int]
) -> Counter[frozenset[PersonName]]:
    """Count the sentences in which two names occur together."""
    present: dict[int, set[PersonName]] = defaultdict(set)
    for reading, sentence in zip(readings, sentences, strict=True):
        if reading.name is not None:
            present[sentence].add(reading.name)
    return Counter(frozenset(pair) for names in present.values() for pair in combinations(names, 2))


def read_people(
    discourse: Discourse, spans: Sequence[Span], types: Sequence[str | None]
) -> list[MentionReading]:
    """Read mentions; a name is ignored if the mention's type is not person."""
    readings = map(discourse.reader.read, spans)
    return [
        reading if may_speak(kind) else reading._replace(name=None)
        for reading, kind in zip(readings, types, strict=True)
    ]
