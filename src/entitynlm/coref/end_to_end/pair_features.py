"""Mentions as columns of numbers, and features of pairs of mentions: distance, string match, agreement, quotation.

All pairs of a block are compared at once, column by column: a text has a hundred times more pairs than mentions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from entitynlm.coref.linking.entity_memory import CLAUSE_BORDERS, GENDERED, describe_spans
from entitynlm.coref.linking.features import FORMS_OF_BE
from entitynlm.coref.linking.speakers import find_speakers
from entitynlm.coref.ranker.attributes import NAME, NOUN, PRONOUN, MentionAttributes, number_quotes
from entitynlm.model.encoding.preprocessing import IntArray
from entitynlm.text.document import Document, Span
from entitynlm.text.english import DETERMINERS, OBJECTIVE_PRONOUNS, PLURAL, POSSESSIVE_PRONOUNS, SINGULAR

Floats = npt.NDArray[np.float32]

RECENT, NOUNS = 60, 250
"""Mentions before a mention that may be its antecedent, and how far back nouns and names may be antecedents of such.

Those further back may be if they have the same head, so many of them:
"""
REPEATED = 20
FORMS = ("i", "you", "he", "she", "it", "we", "they", "this", "that", "who")
DETERMINER_KINDS = ("definite", "indefinite", "demonstrative", "possessive", "none", "bare")
NAME_CLASS, OTHER_CLASS = len(FORMS), len(FORMS) + 1
CLASSES = len(FORMS) + 2 + len(DETERMINER_KINDS)
NUMBERS = (SINGULAR, PLURAL)
CONTENT_WORDS = 6
MENTION_STEPS = np.array([2, 3, 4, 6, 9, 17, 33, 65, 129])
SENTENCE_STEPS = np.array([1, 2, 3, 5, 9, 17, 33])
RANKS = 4

PAIR_FEATURES = (
    "distance", *(f"mentions {n}" for n in range(len(MENTION_STEPS) + 1)),
    *(f"sentences {n}" for n in range(len(SENTENCE_STEPS) + 1)),
    "same words", "same text", "same head", "head in content", "shared content", "all content", "all content of antecedent",
    "other name", "other head", "gender agrees", "gender differs", "number agrees", "number differs",
    *(f"compatible {n}" for n in range(RANKS)), "compatible later", "incompatible",
    "contained", "contains", "adjacent", "apposition", "copula", "same clause",
    "mention quoted", "antecedent quoted", "same quotation", "next quotation", "next but one quotation",
    "antecedent speaks", "mention speaks", "antecedent spoke before", "same speaker", "other speaker",
    "antecedent opens sentence", "antecedent possessive", "antecedent objective", "antecedent nested",
    "repetitions of antecedent", "last of its text", "last of its class", "same class",
)  # fmt: skip
MENTION_FEATURES = (
    *(f"class {n}" for n in range(CLASSES)), "number of mention", "text seen", "head seen", "content seen", "repetitions",
    "quoted", "opens sentence", "nested", "possessive", "objective", "width", "speaks", "plural",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pairs:
    """N pairs in order of their mentions, for each mention the nearest antecedents first, with features (N, F)."""

    mention: IntArray
    antecedent: IntArray
    features: Floats


class MentionTable:
    """Columns (M,) of a document's mentions in text order, outer before inner."""

    def __init__(self, document: Document, spans: Sequence[Span]) -> None:
        described = describe_spans(document, spans)
        self.size = len(spans)
        self._describe(document, described)
        self._describe_speech(document, described)
        self.text_count, self.next_text, _ = _follow(self.texts)
        self.head_count, _, self.previous_head = _follow(self.heads)
        self.next_class = _follow(self.classes * 2 + (self.quote > 0))[1]

    def _describe(self, document: Document, mentions: Sequence[MentionAttributes]) -> None:
        tokens = document.tokens
        firsts = [tokens[mention.candidate.start].lower() for mention in mentions]
        full = [" ".join(tokens[slice(*mention.candidate.span)]).lower() for mention in mentions]
        numbers: dict[str, int] = {}

        def number(values: Sequence[str]) -> IntArray:
            return _column([numbers.setdefault(value, len(numbers)) for value in values])

        self.start = _column([mention.candidate.start for mention in mentions])
        self.end = _column([mention.candidate.end for mention in mentions])
        self.head = _column([mention.candidate.head for mention in mentions])
        self.sentence = _column([mention.sentence for mention in mentions])
        self.classes = _column([_classify(*pair) for pair in zip(mentions, firsts, strict=True)])
        self.pronoun = _column([mention.kind == PRONOUN for mention in mentions]) > 0
        self.full = number(full)
        self.texts = number([f"{mention.kind == PRONOUN} {mention.text}" for mention in mentions])
        self.heads = number([_name_head(mention) for mention in mentions])
        self.gender = _column([_find(mention.gender, GENDERED) for mention in mentions])
        self.number = _column([_find(mention.number, NUMBERS) for mention in mentions])
        self.content = np.full((self.size, CONTENT_WORDS), -1, dtype=np.int64)
        for row, mention in enumerate(mentions):
            if mention.kind != PRONOUN:
                words = [" ".join(("in", word)) for word in sorted(mention.content)[:CONTENT_WORDS]]
                self.content[row, : len(words)] = number(words)
        self.head_words = number([f"in {mention.head}" for mention in mentions])
        openings = np.zeros(len(tokens) + 1, dtype=np.bool_)
        openings[[start for start, _ in document.sentences]] = True
        self.opens = openings[self.start]
        reach = np.maximum.accumulate(np.concatenate([[0], self.end]))[:-1]
        self.nested = reach >= self.end
        self.possessive = _column([first in POSSESSIVE_PRONOUNS for first in firsts]) * self.pronoun > 0
        self.objective = _column([first in OBJECTIVE_PRONOUNS for first in firsts]) * self.pronoun > 0
        self.commas = np.array([*(token == "," for token in tokens), False])
        self.borders = _count(token in CLAUSE_BORDERS for token in tokens)
        self.being = _count(token.lower() in FORMS_OF_BE for token in tokens)

    def _describe_speech(self, document: Document, mentions: Sequence[MentionAttributes]) -> None:
        speakers = find_speakers(document, mentions)
        self.quote = _column([mention.quote for mention in mentions])
        latest = np.maximum.accumulate(np.array([*number_quotes(document.tokens), 0], dtype=np.int64))
        self.latest_quote = latest[self.start]
        self.speaker = _column([speakers.get(mention.quote, -1) for mention in mentions])
        self.speaks = np.full(self.size, -1, dtype=np.int64)
        for quote, mention in speakers.items():
            self.speaks[mention] = quote

    @cached_property
    def features(self) -> Floats:
        """(M, F) of :data:`MENTION_FEATURES`."""
        seen = np.zeros(self.size, dtype=np.bool_)
        words: set[int] = set()
        for row, content in enumerate(self.content.tolist()):
            own = {word for word in content if word >= 0}
            seen[row] = bool(own & words)
            words |= own
        columns = [
            *(self.classes == number for number in range(CLASSES)),
            np.log1p(np.arange(self.size)) / 5,
            self.text_count > 0,
            self.head_count > 0,
            seen,
            np.log1p(self.text_count) / 3,
            self.quote > 0,
            self.opens,
            self.nested,
            self.possessive,
            self.objective,
            np.log(self.end - self.start) / 2,
            self.speaks >= 0,
            self.number == 1,
        ]
        return (
            np.stack(columns, 1).astype(np.float32) if self.size else np.zeros((0, len(columns)), np.float32)
        )

    # -- pairs -------------------------------------------------------------------------------------------------------

    def pair(self, low: int, high: int) -> Pairs:
        """The mentions from ``low`` to before ``high``, each with all that may be its antecedents."""
        counts = np.minimum(np.arange(low, high), RECENT)
        mention = np.repeat(np.arange(low, high), counts)
        nearness = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        antecedent = mention - 1 - nearness
        far = [(i, j) for i in range(max(low, RECENT + 1), high) for j in self._look_back(i)]
        if far:
            more = np.array(far, dtype=np.int64)
            mention, antecedent = (
                np.concatenate([mention, more[:, 0]]),
                np.concatenate([antecedent, more[:, 1]]),
            )
            order = np.lexsort((-antecedent, mention))
            mention, antecedent = mention[order], antecedent[order]
        return Pairs(mention, antecedent, self._compare(mention, antecedent))

    def _look_back(self, mention: int) -> list[int]:
        """Nouns and names before the recent mentions that a noun or a name may refer to."""
        if self.pronoun[mention]:
            return []
        low = max(mention - NOUNS, 0)
        found: list[int] = (np.flatnonzero(~self.pronoun[low : mention - RECENT]) + low).tolist()
        most, earlier = len(found) + REPEATED, int(self.previous_head[mention])
        while earlier >= 0 and len(found) < most:
            if earlier < low:
                found.append(earlier)
            earlier = int(self.previous_head[earlier])
        return found

    def _compare(self, i: IntArray, j: IntArray) -> Floats:
        columns = [
            *self._compare_places(i, j),
            *self._compare_words(i, j),
            *self._compare_agreement(i, j),
            *self._compare_context(i, j),
            *self._compare_speech(i, j),
            self.opens[j],
            self.possessive[j],
            self.objective[j],
            self.nested[j],
            np.log1p(self.text_count[j]) / 3,
            self.next_text[j] >= i,
            self.next_class[j] >= i,
            self.classes[i] == self.classes[j],
        ]
        table = np.empty((len(i), len(columns)), dtype=np.float32)
        for number, column in enumerate(columns):
            table[:, number] = column
        return table

    def _compare_places(self, i: IntArray, j: IntArray) -> list[npt.NDArray[np.generic]]:
        mentions = np.searchsorted(MENTION_STEPS, i - j, side="right")
        sentences = np.searchsorted(SENTENCE_STEPS, self.sentence[i] - self.sentence[j], side="right")
        return [
            np.log1p(np.maximum(self.start[i] - self.end[j] + 1, 0)) / 5,
            *(mentions == number for number in range(len(MENTION_STEPS) + 1)),
            *(sentences == number for number in range(len(SENTENCE_STEPS) + 1)),
        ]

    def _compare_words(self, i: IntArray, j: IntArray) -> list[npt.NDArray[np.generic]]:
        both = ~(self.pronoun[i] | self.pronoun[j])
        same_head = both & (self.heads[i] == self.heads[j])
        sizes = (self.content >= 0).sum(1)
        shared, head_in = np.zeros(len(i), dtype=np.int64), np.zeros(len(i), dtype=np.bool_)
        rows = np.flatnonzero(both)
        mine, theirs = self.content[i[rows]], self.content[j[rows]]
        for column in range(CONTENT_WORDS):
            word = mine[:, column : column + 1]
            shared[rows] += ((theirs == word) & (word >= 0)).any(1)
        head_in[rows] = (theirs == self.head_words[i[rows]][:, None]).any(1)
        names = both & (self.classes[i] == NAME_CLASS) & (self.classes[j] == NAME_CLASS)
        return [
            self.full[i] == self.full[j],
            both & (self.texts[i] == self.texts[j]),
            same_head,
            head_in,
            shared / np.maximum(sizes[i], 1),
            (shared > 0) & (shared == sizes[i]),
            (shared > 0) & (shared == sizes[j]),
            names & (shared == 0),
            both & ~same_head,
        ]

    def _compare_agreement(self, i: IntArray, j: IntArray) -> list[npt.NDArray[np.generic]]:
        gender, number = (self.gender[i], self.gender[j]), (self.number[i], self.number[j])
        gendered, numbered = (gender[0] >= 0) & (gender[1] >= 0), (number[0] >= 0) & (number[1] >= 0)
        fits = ~(gendered & (gender[0] != gender[1])) & ~(numbered & (number[0] != number[1]))
        running = np.cumsum(fits) - fits
        first = np.searchsorted(i, i) if len(i) else i
        nearer = running - running[first]
        return [
            gendered & (gender[0] == gender[1]),
            gendered & (gender[0] != gender[1]),
            numbered & (number[0] == number[1]),
            numbered & (number[0] != number[1]),
            *(fits & (nearer == rank) for rank in range(RANKS)),
            fits & (nearer >= RANKS),
            ~fits,
        ]

    def _compare_context(self, i: IntArray, j: IntArray) -> list[npt.NDArray[np.generic]]:
        gap, end, start = self.start[i] - self.end[j], self.end[j], self.start[i]
        apart = gap > 0
        same_sentence = self.sentence[i] == self.sentence[j]
        return [
            self.end[j] >= self.end[i],
            (self.start[j] >= self.start[i]) & (self.end[j] < self.end[i]),
            (gap >= 0) & (gap <= 1),
            (gap == 1) & self.commas[np.minimum(end, len(self.commas) - 1)],
            apart & (gap <= 3) & (self.being[start] > self.being[np.minimum(end, start)]),
            apart & same_sentence & (self.borders[start] == self.borders[np.minimum(end, start)]),
        ]

    def _compare_speech(self, i: IntArray, j: IntArray) -> list[npt.NDArray[np.generic]]:
        mine, theirs = self.quote[i], self.quote[j]
        quoted = (mine > 0) & (theirs > 0)
        speakers = self.speaker[i], self.speaker[j]
        known = (speakers[0] >= 0) & (speakers[1] >= 0) & (mine != theirs)
        same = self.texts[speakers[0]] == self.texts[speakers[1]]
        return [
            mine > 0,
            theirs > 0,
            quoted & (mine == theirs),
            quoted & (mine == theirs + 1),
            quoted & (mine == theirs + 2),
            speakers[0] == j,
            speakers[1] == i,
            (self.speaks[j] >= 0) & (self.speaks[j] == self.latest_quote[i] - 1),
            known & same,
            known & ~same,
        ]


def _column(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _count(values: object) -> IntArray:
    """How many of the tokens before each one are such."""
    return np.concatenate([[0], np.cumsum(np.fromiter(values, dtype=np.int64))])  # type: ignore[call-overload]


def _find(value: str, known: Sequence[str]) -> int:
    return known.index(value) if value in known else -1


def _name_head(mention: MentionAttributes) -> str:
    """Pronouns have the heads of no other mentions; a plural has its singular's."""
    if mention.kind == PRONOUN:
        return f"pronoun {mention.form}"
    return (
        mention.lemma[:-1]
        if mention.kind == NOUN and len(mention.lemma) > 3 and mention.lemma[-1] == "s"
        else mention.lemma
    )


def _classify(mention: MentionAttributes, first: str) -> int:
    """A pronoun's form, a name, or a noun's determiner."""
    if mention.kind == PRONOUN:
        return FORMS.index(mention.form) if mention.form in FORMS else OTHER_CLASS
    if mention.kind == NAME:
        return NAME_CLASS
    alone = mention.candidate.end - mention.candidate.start == 1
    kind = "bare" if alone else DETERMINERS.get(first, "none")
    return OTHER_CLASS + 1 + DETERMINER_KINDS.index(kind if kind in DETERMINER_KINDS else "none")


def _follow(values: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """For each mention, how many earlier ones have its value, which is the next such mention, and which the one before.

    Where there is none, these are M and -1.
    """
    size = len(values)
    count, following, previous = np.zeros(size, np.int64), np.full(size, size), np.full(size, -1)
    last: dict[int, int] = {}
    for row, value in enumerate(values.tolist()):
        if value in last:
            previous[row] = last[value]
            count[row] = count[last[value]] + 1
            following[last[value]] = row
        last[value] = row
    return count, following, previous
