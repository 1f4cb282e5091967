"""Features of pairs of mentions: distance, string match, agreement, syntax, quotation.

All pairs of a chunk are compared at once, column by column, because a text has a hundred times more pairs than mentions.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from entitynlm.coref.mention_table import CONTENT_WORDS, NAME_CLASS, Floats, MentionTable
from entitynlm.model.encoding.preprocessing import IntArray

RECENT, NOUNS = 60, 100
"""Mentions before a mention that may be its antecedent, and how far back nouns and names may be antecedents of nouns and names.

Those further back may be if they have the same head, so many of them:
"""
REPEATED = 20
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

Columns = list[npt.NDArray[np.generic]]


@dataclass(frozen=True, eq=False)
class Pairs:
    """N pairs sorted by mention, the nearest antecedent of each first, with features (N, F)."""

    mention: IntArray
    antecedent: IntArray
    features: Floats


def pair_mentions(table: MentionTable, low: int, high: int) -> Pairs:
    """Pair the mentions ``low`` … ``high`` - 1 with their possible antecedents."""
    found = [_list_antecedents(table, mention) for mention in range(low, high)]
    mention = np.repeat(np.arange(low, high), [len(own) for own in found])
    antecedent = np.concatenate([np.zeros(0, dtype=np.int64), *found])
    return Pairs(mention, antecedent, compare_mentions(table, mention, antecedent))


def _list_antecedents(table: MentionTable, mention: int) -> IntArray:
    """List a mention's possible antecedents, the nearest first: recent mentions, and for nouns and names distant ones too."""
    recent = np.arange(mention - 1, max(mention - RECENT, 0) - 1, -1)
    if table.pronoun[mention] or mention <= RECENT:
        return recent
    low = max(mention - NOUNS, 0)
    nouns = np.flatnonzero(~table.pronoun[low : mention - RECENT])[::-1] + low
    repeated: list[int] = []
    earlier = int(table.previous_head[mention])
    while earlier >= 0 and len(repeated) < REPEATED:
        if earlier < low:
            repeated.append(earlier)
        earlier = int(table.previous_head[earlier])
    return np.concatenate([recent, nouns, np.array(repeated, dtype=np.int64)])


def compare_mentions(table: MentionTable, i: IntArray, j: IntArray) -> Floats:
    """(N, F) features of mentions i with earlier mentions j; pairs are sorted by i, the nearest j first."""
    columns = [
        *_compare_places(table, i, j),
        *_compare_words(table, i, j),
        *_compare_agreement(table, i, j),
        *_compare_context(table, i, j),
        *_compare_speech(table, i, j),
        table.opens_sentence[j],
        table.possessive[j],
        table.objective[j],
        table.nested[j],
        np.log1p(table.text_count[j]) / 3,
        table.next_text[j] >= i,
        table.next_class[j] >= i,
        table.classes[i] == table.classes[j],
    ]
    features = np.empty((len(columns), len(i)), dtype=np.float32)  # column by column, as it is written
    for row, column in zip(features, columns, strict=True):
        row[:] = column
    return features.T


def _compare_places(table: MentionTable, i: IntArray, j: IntArray) -> Columns:
    mentions = np.searchsorted(MENTION_STEPS, i - j, side="right")
    sentences = np.searchsorted(SENTENCE_STEPS, table.sentence[i] - table.sentence[j], side="right")
    return [
        np.log1p(np.maximum(table.start[i] - table.end[j] + 1, 0)) / 5,
        *(mentions == number for number in range(len(MENTION_STEPS) + 1)),
        *(sentences == number for number in range(len(SENTENCE_STEPS) + 1)),
    ]


def _compare_words(table: MentionTable, i: IntArray, j: IntArray) -> Columns:
    both = ~(table.pronoun[i] | table.pronoun[j])
    same_head = both & (table.head_lemma[i] == table.head_lemma[j])
    sizes = table.content_count
    shared, head_in = np.zeros(len(i), dtype=np.int64), np.zeros(len(i), dtype=np.bool_)
    rows = np.flatnonzero(both)
    mine, theirs = table.content[i[rows]], table.content[j[rows]]
    for column in range(CONTENT_WORDS):
        word = mine[:, column : column + 1]
        shared[rows] += ((theirs == word) & (word >= 0)).any(1)
    head_in[rows] = (theirs == table.head_word[i[rows]][:, None]).any(1)
    names = both & (table.classes[i] == NAME_CLASS) & (table.classes[j] == NAME_CLASS)
    return [
        table.full_text[i] == table.full_text[j],
        both & (table.text[i] == table.text[j]),
        same_head,
        head_in,
        shared / np.maximum(sizes[i], 1),
        (shared > 0) & (shared == sizes[i]),
        (shared > 0) & (shared == sizes[j]),
        names & (shared == 0),
        both & ~same_head,
    ]


def _compare_agreement(table: MentionTable, i: IntArray, j: IntArray) -> Columns:
    gender, number = (table.gender[i], table.gender[j]), (table.number[i], table.number[j])
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


def _compare_context(table: MentionTable, i: IntArray, j: IntArray) -> Columns:
    gap, end, start = table.start[i] - table.end[j], table.end[j], table.start[i]
    apart = gap > 0
    same_sentence = table.sentence[i] == table.sentence[j]
    before = np.minimum(end, start)
    return [
        table.end[j] >= table.end[i],
        (table.start[j] >= table.start[i]) & (table.end[j] < table.end[i]),
        (gap >= 0) & (gap <= 1),
        (gap == 1) & table.is_comma[np.minimum(end, len(table.is_comma) - 1)],
        apart & (gap <= 3) & (table.being_before[start] > table.being_before[before]),
        apart & same_sentence & (table.borders_before[start] == table.borders_before[before]),
    ]


def _compare_speech(table: MentionTable, i: IntArray, j: IntArray) -> Columns:
    mine, theirs = table.quote[i], table.quote[j]
    quoted = (mine > 0) & (theirs > 0)
    speakers = table.speaker[i], table.speaker[j]
    known = (speakers[0] >= 0) & (speakers[1] >= 0) & (mine != theirs)
    same = table.text[speakers[0]] == table.text[speakers[1]]
    return [
        mine > 0,
        theirs > 0,
        quoted & (mine == theirs),
        quoted & (mine == theirs + 1),
        quoted & (mine == theirs + 2),
        speakers[0] == j,
        speakers[1] == i,
        (table.speaks[j] >= 0) & (table.speaks[j] == table.latest_quote[i] - 1),
        known & same,
        known & ~same,
    ]
