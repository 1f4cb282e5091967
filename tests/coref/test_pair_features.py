"""Features of pairs of mentions, computed column by column."""

import numpy as np
import pytest

from entitynlm.coref import pair_features
from entitynlm.coref.mention_table import MENTION_FEATURES, MentionTable
from entitynlm.coref.pair_features import PAIR_FEATURES, pair_mentions
from entitynlm.discourse.discourse import read_discourse
from entitynlm.text.document import Document

TEXT = (
    "Mary Lee met old John , a friend . “ I like you , ” said Mary . She saw her dog . Mary Lee fed the dogs ."
).split()
SPANS = [
    (0, 2), (3, 5), (6, 8), (10, 11), (12, 13), (16, 17), (18, 19), (20, 22), (20, 21), (23, 25), (26, 28),
]  # fmt: skip


@pytest.fixture
def table() -> MentionTable:
    ends = [i + 1 for i, token in enumerate(TEXT) if token == "."]
    return MentionTable(
        read_discourse(Document("d", tuple(TEXT), tuple(zip([0, *ends[:-1]], ends, strict=True)))), SPANS
    )


def look(table: MentionTable, mention: int, antecedent: int, name: str) -> float:
    pairs = pair_mentions(table, 0, table.size)
    (row,) = np.flatnonzero((pairs.mention == mention) & (pairs.antecedent == antecedent))
    return float(pairs.features[row, PAIR_FEATURES.index(name)])


def test_every_pair_has_every_feature(table: MentionTable) -> None:
    pairs = pair_mentions(table, 0, table.size)
    assert pairs.features.shape == (len(SPANS) * (len(SPANS) - 1) // 2, len(PAIR_FEATURES))
    assert table.features.shape == (len(SPANS), len(MENTION_FEATURES))
    assert (pairs.antecedent < pairs.mention).all() and np.isfinite(pairs.features).all()


def test_features_tell_what_is_on_the_page(table: MentionTable) -> None:
    assert look(table, 9, 0, "same text") == 1 and look(table, 9, 1, "same text") == 0
    assert look(table, 9, 5, "all content of antecedent") == 1 and look(table, 9, 5, "all content") == 0
    assert look(table, 9, 1, "other name") == 1
    assert look(table, 10, 7, "same head") == 1 and look(table, 10, 7, "number differs") == 1
    assert look(table, 2, 1, "apposition") == 1 and look(table, 1, 0, "apposition") == 0
    assert look(table, 8, 7, "contained") == 1
    assert look(table, 5, 3, "mention speaks") == 1 and look(table, 4, 3, "same quotation") == 1
    assert look(table, 1, 0, "mentions 0") == 1 and look(table, 2, 0, "mentions 1") == 1


def test_blocks_are_compared_as_the_whole_is(table: MentionTable) -> None:
    whole = pair_mentions(table, 0, table.size)
    parts = [pair_mentions(table, low, min(low + 4, table.size)) for low in range(0, table.size, 4)]
    assert np.array_equal(np.concatenate([part.features for part in parts]), whole.features)
    assert np.array_equal(np.concatenate([part.antecedent for part in parts]), whole.antecedent)


def test_further_back_only_nouns_and_then_the_same_head_are_compared(
    table: MentionTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_features, "RECENT", 2)
    monkeypatch.setattr(pair_features, "NOUNS", 5)
    pairs = pair_mentions(table, 0, table.size)
    own = pairs.antecedent[pairs.mention == 9].tolist()
    assert own == [8, 7, 5, 0]  # "Mary Lee"; 5 is a noun, 0 has the same head
    assert pairs.antecedent[pairs.mention == 8].tolist() == [7, 6]  # a pronoun


def test_no_mentions_have_no_pairs() -> None:
    empty = MentionTable(read_discourse(Document("d", ("a",))), [])
    assert len(pair_mentions(empty, 0, 0).mention) == 0 and empty.features.shape == (0, len(MENTION_FEATURES))
