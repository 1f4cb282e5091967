"""Features of the clusters that a mention may join, and the compiled loop that puts one mention after the other into a cluster.

Features of the pair say little about the cluster: how often its mentions were "he" or "she", whether it is the latest cluster
that agrees, how salient it is in the text. These change with each decision, so mentions are clustered one by one.
"""

import math
from typing import NamedTuple

import numpy as np

from entitynlm.compilation import njit
from entitynlm.coref.mention_table import (
    CLASSES,
    FORMS,
    GENDERED,
    GRAMMATICAL_NUMBERS,
    NAME_CLASS,
    Floats,
    MentionTable,
)
from entitynlm.coref.pair_features import RANKS
from entitynlm.discourse.identity import IdentityRules
from entitynlm.model.encoding.preprocessing import IntArray

CLUSTER_FEATURES = (
    "count", "most mentioned", "share of class", "has class", "most of class", "names", "pronouns", "quoted", "age", "distance",
    *(f"gender {name}" for name in GENDERED), "gender agrees", "gender differs",
    *(f"number {name}" for name in GRAMMATICAL_NUMBERS), "number agrees", "number differs",
    "last", "last but one", "last but two", "long since", *(f"agreeing {n}" for n in range(RANKS)), "agreeing later", "disagrees",
    "salience, short", "salience, long", "share of salience",
)  # fmt: skip
FEATURE_COUNT, PRONOUN_FORMS = len(CLUSTER_FEATURES), len(FORMS)
GENDER_AT, NUMBER_AT = CLUSTER_FEATURES.index("gender male"), CLUSTER_FEATURES.index("number singular")
LAST_AT, AGREEING_AT = CLUSTER_FEATURES.index("last"), CLUSTER_FEATURES.index("agreeing 0")
SHORT_SALIENCE, LONG_SALIENCE = 8.0, 40.0
"""Mentions after which a mention counts a third as much."""


class MentionColumns(NamedTuple):
    """Columns (M,) of the mentions from which clusters are described; -1 stands for an unknown gender or number."""

    classes: IntArray
    gender: IntArray
    number: IntArray
    quoted: IntArray


class ClusterColumns(NamedTuple):
    """Counts per cluster: mentions, mentions of each class, gender and number, quoted ones; first and last mention, salience."""

    sizes: Floats
    classes: Floats
    genders: Floats
    numbers: Floats
    quoted: Floats
    first: IntArray
    last: IntArray
    salience: Floats


class ClusterWeights(NamedTuple):
    """Weights of the layers that score a cluster: (I, H), (H,), (H,), (1,)."""

    inner: Floats
    inner_bias: Floats
    outer: Floats
    outer_bias: Floats


class AntecedentGroups(NamedTuple):
    """N pairs sorted by mention and cluster, the number of pairs in each of the G groups, and features (G, F) of the groups."""

    order: IntArray
    sizes: IntArray
    features: Floats


class ScoredPairs(NamedTuple):
    """Scored antecedents of the mentions from ``low`` on, in ranges given by ``bounds``; ``none`` scores "no antecedent"."""

    low: int
    bounds: IntArray
    antecedent: IntArray
    scores: Floats
    messages: Floats
    none: Floats


class ClusterMemory:
    """The clusters of a text so far, to which mentions are added one by one."""

    def __init__(self, mentions: MentionTable) -> None:
        size = mentions.size
        quoted = (mentions.quote > 0).astype(np.int64)
        self.mentions = MentionColumns(mentions.classes, mentions.gender, mentions.number, quoted)
        self.clusters = np.full(size, -1, dtype=np.int64)
        self.count = 0  # of clusters
        widths = (1, CLASSES, len(GENDERED), len(GRAMMATICAL_NUMBERS), 1, 2)
        sizes, classes, genders, numbers, in_quotes, salience = (
            np.zeros((size, width), dtype=np.float32) for width in widths
        )
        first, last = np.zeros((2, size), dtype=np.int64)
        self.columns = ClusterColumns(
            sizes[:, 0], classes, genders, numbers, in_quotes[:, 0], first, last, salience
        )

    def follow(
        self,
        pairs: ScoredPairs,
        weights: ClusterWeights,
        given: IntArray | None = None,
        rules: IdentityRules | None = None,
    ) -> tuple[AntecedentGroups, Floats]:
        """Put each mention into its given cluster, or else into the best cluster that ``rules`` allow.

        :return: the antecedents of each mention grouped by cluster, and the probabilities of the decisions.
        """
        count = len(pairs.antecedent)
        groups = AntecedentGroups(
            np.empty(count, dtype=np.int64),
            np.empty(count, dtype=np.int64),
            np.empty((count, FEATURE_COUNT), dtype=np.float32),
        )
        sure = np.ones(len(pairs.none), dtype=np.float32)
        used = 0
        for number in range(len(pairs.none)):
            mention, excluded = pairs.low + number, list[int]()
            while True:
                size, cluster, sure[number] = _propose(
                    number, self.count, self.mentions, self.clusters, self.columns, pairs, weights, given is None, groups,
                    used, np.array(excluded, dtype=np.int64),
                )  # fmt: skip
                if rules is None or cluster == self.count or rules.allows(mention, int(cluster)):
                    break
                excluded.append(int(cluster))
            used += size
            if given is not None:
                cluster = given[mention]
            elif rules is not None:
                known = rules.find_entity(mention)
                cluster = cluster if known is None else known
                rules.note(mention, int(cluster))
            self.clusters[mention] = cluster
            self.count = max(self.count, int(cluster) + 1)
            _add(mention, self.mentions, cluster, self.columns)
        return AntecedentGroups(groups.order, groups.sizes[:used], groups.features[:used]), sure


@njit()
def _propose(  # type: ignore[no-untyped-def]
    number, new, mentions, clusters, columns, pairs, weights, choose, groups, used, excluded
):
    """Group a mention's antecedents by cluster; return the number of groups, the best cluster and its probability."""
    mention, start, stop = pairs.low + number, pairs.bounds[number], pairs.bounds[number + 1]
    if stop == start:
        return 0, new, 1.0
    members = np.empty(stop - start, dtype=np.int64)
    size = _group(clusters, pairs.antecedent, start, stop, members, groups.order, groups.sizes[used:])
    features, sizes = groups.features[used : used + size], groups.sizes[used : used + size]
    features[:] = 0
    _describe(mention, mentions, members[:size], columns, features)
    if not choose:
        return size, new, 1.0
    allowed = np.ones(size, dtype=np.bool_)
    for group in range(size):
        for cluster in excluded:
            allowed[group] &= members[group] != cluster
    best, probability = _choose(
        pairs, groups.order[start:stop], sizes, features, weights, pairs.none[number], allowed
    )
    return size, members[best] if best >= 0 else new, probability


@njit()
def _add(mention, mentions, cluster, columns):  # type: ignore[no-untyped-def]
    if columns.sizes[cluster] == 0:
        columns.first[cluster] = mention
    ago = mention - columns.last[cluster]
    columns.salience[cluster, 0] = columns.salience[cluster, 0] * math.exp(-ago / SHORT_SALIENCE) + 1
    columns.salience[cluster, 1] = columns.salience[cluster, 1] * math.exp(-ago / LONG_SALIENCE) + 1
    columns.last[cluster] = mention
    columns.sizes[cluster] += 1
    columns.quoted[cluster] += mentions.quoted[mention]
    columns.classes[cluster, mentions.classes[mention]] += 1
    if mentions.gender[mention] >= 0:
        columns.genders[cluster, mentions.gender[mention]] += 1
    if mentions.number[mention] >= 0:
        columns.numbers[cluster, mentions.number[mention]] += 1


@njit()
def _group(clusters, antecedent, start, stop, members, order, sizes):  # type: ignore[no-untyped-def]
    """Order pairs by cluster, the last mentioned cluster first; count the clusters."""
    count = 0
    own = np.empty(stop - start, dtype=np.int64)
    for pair in range(start, stop):
        cluster, group = clusters[antecedent[pair]], 0
        while group < count and members[group] != cluster:
            group += 1
        if group == count:
            members[count], sizes[count] = cluster, 0
            count += 1
        own[pair - start] = group
        sizes[group] += 1
    at = start + np.cumsum(sizes[:count]) - sizes[:count]
    for pair in range(start, stop):
        group = own[pair - start]
        order[at[group]] = pair
        at[group] += 1
    return count


@njit()
def _describe(mention, mentions, members, columns, rows):  # type: ignore[no-untyped-def]
    """Compute the features of the clusters that a mention may join."""
    own_class = mentions.classes[mention]
    fits, salience = np.empty(len(members), dtype=np.bool_), np.empty(len(members))
    most, most_own, all_salience = np.float32(0), np.float32(0), 0.0
    for group in range(len(members)):
        cluster, row = members[group], rows[group]
        size, own = columns.sizes[cluster], columns.classes[cluster, own_class]
        ago = mention - columns.last[cluster]
        most, most_own = max(most, size), max(most_own, own)
        row[0], row[2], row[3] = math.log(size) / 3, own / size, own > 0
        row[5] = columns.classes[cluster, NAME_CLASS] / size
        row[6] = columns.classes[cluster, :PRONOUN_FORMS].sum() / size
        row[7] = columns.quoted[cluster] / size
        row[8], row[9] = math.log(mention - columns.first[cluster]) / 5, math.log(ago) / 4
        gender = _share(columns.genders[cluster], mentions.gender[mention], row[GENDER_AT:])
        number = _share(columns.numbers[cluster], mentions.number[mention], row[NUMBER_AT:])
        fits[group] = gender <= 0.5 and number <= 0.5
        row[FEATURE_COUNT - 3] = math.log1p(columns.salience[cluster, 0] * math.exp(-ago / SHORT_SALIENCE))
        salience[group] = columns.salience[cluster, 1] * math.exp(-ago / LONG_SALIENCE)
        row[FEATURE_COUNT - 2] = math.log1p(salience[group])
        all_salience += salience[group] if fits[group] else 0.0
    for group in range(len(members)):
        cluster, row = members[group], rows[group]
        own = columns.classes[cluster, own_class]
        row[1], row[4] = columns.sizes[cluster] == most, own > 0 and own == most_own
        rank = nearer = 0
        for other in range(len(members)):
            if columns.last[members[other]] > columns.last[cluster]:
                rank += 1
                nearer += fits[other]
        if rank < 3:
            row[LAST_AT + rank] = 1
        row[LAST_AT + 3] = rank > 5
        if fits[group]:
            row[AGREEING_AT + min(nearer, RANKS)] = 1
            row[FEATURE_COUNT - 1] = salience[group] / max(all_salience, 1e-6)
        else:
            row[AGREEING_AT + RANKS + 1] = 1


@njit()
def _share(counts, value, row):  # type: ignore[no-untyped-def]
    """Write the shares of each value, of the mention's own value (-1: unknown) and of other values; return the last share."""
    known, size = counts.sum(), len(counts)
    if known == 0:
        return 0.0
    for number in range(size):
        row[number] = counts[number] / known
    if value < 0:
        return 0.0
    row[size] = row[value]
    row[size + 1] = 1 - row[value]
    return row[size + 1]


@njit()
def _choose(pairs, order, sizes, features, weights, none, allowed):  # type: ignore[no-untyped-def]
    """Choose the cluster that a mention joins (-1: a new cluster), with the probability of the choice.

    The chosen cluster has the largest sum of its members' antecedent probabilities, unless "no antecedent" is more probable.
    """
    width = pairs.messages.shape[1]
    inputs = np.empty(2 * width + FEATURE_COUNT, dtype=np.float32)
    hidden = np.empty(len(weights.outer), dtype=np.float32)
    totals = np.empty(len(sizes))
    start = 0
    for group in range(len(sizes)):
        stop = start + sizes[group]
        highest, total = -np.inf, 0.0
        inputs[:width], inputs[width:] = -np.inf, 0
        for pair in order[start:stop]:
            highest = max(highest, pairs.scores[pair])
            for unit in range(width):
                inputs[unit] = max(inputs[unit], pairs.messages[pair, unit])
                inputs[width + unit] += pairs.messages[pair, unit]
        for pair in order[start:stop]:
            total += math.exp(pairs.scores[pair] - highest)
        inputs[width : 2 * width] /= sizes[group]
        inputs[2 * width :] = features[group]
        hidden[:] = weights.inner_bias
        for unit in range(len(inputs)):
            if inputs[unit] != 0:
                for other in range(len(hidden)):
                    hidden[other] += inputs[unit] * weights.inner[unit, other]
        gain = weights.outer_bias[0]
        for unit in range(len(hidden)):
            gain += max(hidden[unit], 0) * weights.outer[unit]
        totals[group] = highest + math.log(total) + gain if allowed[group] else -np.inf
        start = stop
    best = np.argmax(totals)
    highest = max(totals[best], none)
    everything = np.exp(totals - highest).sum() + math.exp(none - highest)
    if totals[best] <= none:
        return -1, math.exp(none - highest) / everything
    return best, math.exp(totals[best] - highest) / everything
