"""The index of a document: everything about R, E and L that does not depend on parameters, as arrays of integers.

It gives the rows of the state table that are read and written, so that the model itself consists of gathers and matrix products.
It is computed once per document (compiled, in a single pass) and reused in every epoch.

The state table of one document (or of one window of it) has, in this order,

    row 0                   zero: "no entity yet", e_current before any mention
    rows 1 … C              the states of the C entities of earlier windows
    rows C+1 … C+M          a new entity for each of the M mentions that start here (chosen or not)
    rows C+M+1 … C+M+U      the state after each of the U words inside mentions
"""

from dataclasses import dataclass, field, replace

import numpy as np

from entitynlm.compilation import njit
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.features import FeatureSet

TYPE, TOKEN, SENTENCE, MENTION, COUNT = range(5)
"""Rows of :attr:`EntityHistory.table`: R of an entity, its last word, that word's sentence, its latest mention, its mentions."""


@dataclass(frozen=True)
class EntityHistory:
    """The entities of the text before a window, as integers (their vectors are passed separately, see ``scores``).

    :param table: (5, N) properties of each entity, in order of first mention.
    :param position: words so far.  :param mentions: mentions so far.
    :param current: number of the most recently mentioned entity (0: none).
    :param remaining: number of words of an open mention that are still to come.
    """

    table: np.ndarray = field(default_factory=lambda: np.zeros((5, 0), dtype=np.int64))
    position: int = 0
    mentions: int = 0
    current: int = 0
    remaining: int = 0

    @property
    def entities(self) -> int:
        return self.table.shape[1]

    @property
    def mention_types(self) -> np.ndarray:
        """(N,) R of each entity."""
        result: np.ndarray = self.table[TYPE]
        return result

    def measure(self, sentence: int) -> np.ndarray:
        """(4, N) the distances of equation 4 from the next word, which is in ``sentence``, in the order of ``QUANTITIES``."""
        since = np.array([self.position, sentence, self.mentions + 1])[:, None]
        return np.concatenate([since - self.table[TOKEN : MENTION + 1], self.table[COUNT:]])

    def add_entity(self, *known: int) -> "EntityHistory":
        """Add an entity, given the five values of its column."""
        return replace(self, table=np.column_stack([self.table, known]))

    def start_mention(self, mention_type: int, entity: int, length: int) -> "EntityHistory":
        """Start a mention at the next word, of a known entity or of number ``entities + 1``."""
        grown = self.add_entity(mention_type, 0, 0, 0, 0) if entity > self.entities else self
        table, mentions = grown.table.copy(), self.mentions + 1
        table[MENTION, entity - 1] = mentions
        table[COUNT, entity - 1] += 1
        return replace(self, table=table, mentions=mentions, current=entity, remaining=length)

    def read_word(self, sentence: int) -> "EntityHistory":
        """Read one more word, which belongs to the open mention if there is one."""
        after = replace(self, position=self.position + 1)
        if not self.remaining:
            return after
        table = self.table.copy()
        table[[TOKEN, SENTENCE], self.current - 1] = self.position, sentence
        return replace(after, table=table, remaining=self.remaining - 1)


@dataclass(frozen=True)
class DocumentIndex:
    """See the module's docstring. T words, M mentions that start here, U words in mentions, K (mention, candidate) pairs.

    :param mention_types: (T,) R.  :param remaining: (T,) L.
    :param chooses: (T,) whether R is chosen here (not inside a mention).
    :param current_rows: (T,) row of e_current when the word is predicted.
    :param starts: (M,) first word.  :param lengths: (M,) L.  :param types_of_mentions: (M,) R there.
    :param reaches_end: (M,) whether the mention's last word is the text's last word.
    :param entity_rows: (M,) row of the chosen entity's state before the mention.
    :param update_tokens: (U,) word of each update.  :param update_previous: (U,) row that it reads.
    :param pair_bounds: (M + 1,) mention m has the pairs ``pair_bounds[m]`` … ``pair_bounds[m + 1]`` - 1.
    :param pair_rows: (K,) candidate states.  :param pair_features: (K, W) hot buckets of f(e), with ``feature_set.size`` for
        "none". (Pairs grow with the square of a text, so small integers are used: seven bytes a pair.)
    :param chosen_pairs: (M,) pair of the observed entity.
    :param final_rows: (N,) row of every entity's state at the end.
    """

    mention_types: np.ndarray
    remaining: np.ndarray
    chooses: np.ndarray
    current_rows: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    types_of_mentions: np.ndarray
    reaches_end: np.ndarray
    entity_rows: np.ndarray
    update_tokens: np.ndarray
    update_previous: np.ndarray
    pair_bounds: np.ndarray
    pair_rows: np.ndarray
    pair_features: np.ndarray
    chosen_pairs: np.ndarray
    final_rows: np.ndarray
    past: EntityHistory
    future: EntityHistory

    @property
    def tokens(self) -> int:
        return len(self.mention_types)

    @property
    def mentions(self) -> int:
        return len(self.starts)

    @property
    def first_new(self) -> int:
        """Row of the first new entity."""
        return 1 + self.past.entities

    @property
    def first_update(self) -> int:
        """Row written by the first update."""
        return self.first_new + self.mentions

    @property
    def size(self) -> int:
        """S, rows of the state table."""
        return self.first_update + len(self.update_tokens)


def index_document(
    document: EncodedDocument,
    feature_set: FeatureSet,
    *,
    start: int = 0,
    end: int | None = None,
    past: EntityHistory | None = None,
) -> DocumentIndex:
    """Index the words ``start`` … ``end`` - 1 of a document, given the history before them."""
    past = past or EntityHistory()
    end = len(document) if end is None else end
    columns = (document.r, document.e, document.l, document.sentence)
    r, e, l, sentence = (np.ascontiguousarray(a[start:end]) for a in columns)
    entities = int(max(past.entities, e.max(initial=0)))
    table = np.zeros((5, entities + 1), dtype=np.int64)  # as in EntityHistory, from 1 on
    table[:, 1 : past.entities + 1] = past.table
    of_type = np.bincount(past.mention_types, minlength=int(r.max(initial=0)) + 1)
    mentions, updates, pairs = _count(r, e, l, past.remaining, past.entities, of_type)
    arrays = {
        "chooses": np.zeros(len(r), dtype=np.bool_),
        "current_rows": np.zeros(len(r), dtype=np.int64),
        "starts": np.zeros(mentions, dtype=np.int64),
        "entity_rows": np.zeros(mentions, dtype=np.int64),
        "update_tokens": np.zeros(updates, dtype=np.int64),
        "update_previous": np.zeros(updates, dtype=np.int64),
        "pair_bounds": np.zeros(mentions + 1, dtype=np.int64),
        "pair_rows": np.empty(pairs, dtype=np.int32),
        "pair_features": np.empty((pairs, len(feature_set.quantities)), dtype=np.uint8),
        "chosen_pairs": np.zeros(mentions, dtype=np.int64),
        "final_rows": np.zeros(entities, dtype=np.int64),
    }
    scalars = np.array([past.position, past.mentions, past.current, past.remaining, past.entities])
    features = (feature_set.quantities, feature_set.lookup, feature_set.size)
    current, remaining = _fill(r, e, l, sentence, scalars, table, *features, *arrays.values())
    lengths = l[arrays["starts"]]
    future = EntityHistory(
        table[:, 1:],
        position=past.position + len(r),
        mentions=past.mentions + mentions,
        current=int(current),
        remaining=int(remaining),
    )
    return DocumentIndex(
        mention_types=r,
        remaining=l,
        lengths=lengths,
        types_of_mentions=r[arrays["starts"]],
        reaches_end=start + arrays["starts"] + lengths >= len(document),
        past=past,
        future=future,
        **arrays,
    )


@njit()
def _count(r, e, l, remaining, entities, of_type):  # type: ignore[no-untyped-def]
    """Count the mentions that start, the words in mentions, and the pairs; ``of_type`` counts the entities of each type."""
    mentions, updates, pairs = 0, 0, 0
    for t in range(len(r)):
        if remaining == 0 and r[t] > 0:
            mentions += 1
            pairs += of_type[r[t]] + 1  # and a new entity
            if e[t] > entities:
                entities = e[t]
                of_type[r[t]] += 1
            remaining = l[t]
        if r[t] > 0:
            updates += 1
            remaining -= 1
    return mentions, updates, pairs


@njit()
def _fill(  # type: ignore[no-untyped-def]
    r, e, l, sentence, scalars, table,
    quantities, lookup, no_feature,
    chooses, current_rows, starts, entity_rows, update_tokens, update_previous,
    pair_bounds, pair_rows, pair_features, chosen_pairs, final_rows,
):  # fmt: skip
    """Go once over the words in the order of the generative story; returns (current entity, words left of an open mention)."""
    position, mentions_before, current, remaining, entities = scalars
    carried = entities
    first_new = 1 + carried
    first_update = first_new + len(starts)
    row_of = np.zeros(table.shape[1], dtype=np.int64)  # the newest state of each entity
    for n in range(1, entities + 1):
        row_of[n] = n
    current_row = row_of[current] if current > 0 else 0
    values = np.zeros(4, dtype=np.int64)
    farthest = lookup.shape[1] - 1
    m, u, k = 0, 0, 0
    for t in range(len(r)):
        if remaining == 0:
            chooses[t] = True
            if r[t] > 0:
                starts[m] = t
                for n in range(1, entities + 1):  # every entity of this type so far …
                    if table[TYPE, n] != r[t]:
                        continue
                    values[0] = position + t - table[TOKEN, n]
                    values[1] = sentence[t] - table[SENTENCE, n]
                    values[2] = mentions_before + m + 1 - table[MENTION, n]
                    values[3] = table[COUNT, n]
                    for hot in range(len(quantities)):
                        q = quantities[hot]
                        pair_features[k, hot] = lookup[q, min(values[q], farthest)]
                    pair_rows[k] = row_of[n]
                    if n == e[t]:
                        chosen_pairs[m] = k
                    k += 1
                pair_rows[k] = first_new + m  # … and a new one
                for hot in range(pair_features.shape[1]):
                    pair_features[k, hot] = no_feature
                if e[t] > entities:
                    entities = e[t]
                    table[TYPE, entities] = r[t]
                    row_of[entities] = first_new + m
                    chosen_pairs[m] = k
                k += 1
                entity_rows[m] = row_of[e[t]]
                current_row = row_of[e[t]]
                table[MENTION, e[t]] = mentions_before + m + 1
                table[COUNT, e[t]] += 1
                remaining = l[t]
                m += 1
                pair_bounds[m] = k
        current_rows[t] = current_row
        if r[t] > 0:
            n = e[t]
            update_tokens[u] = t
            update_previous[u] = row_of[n]
            row_of[n] = first_update + u
            current_row = row_of[n]
            current = n
            table[TOKEN, n] = position + t
            table[SENTENCE, n] = sentence[t]
            remaining -= 1
            u += 1
    for n in range(1, entities + 1):
        final_rows[n - 1] = row_of[n]
    return current, remaining
