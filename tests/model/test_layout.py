"""The layout of the paper's running example, worked out by hand, and f(e)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.model.batch.document_index import DocumentIndex, index_document
from entitynlm.model.encoding.encoder import EncodedDocument
from entitynlm.model.features import BUCKET_EDGES, make_feature_set
from support.slow_twin import find_bucket
from support.small_models import make_document

SENTENCES = [0] * 12 + [1] * 10


def running_example(mention_types: tuple[int, int, int, int] = (1, 1, 1, 1)) -> EncodedDocument:
    """[John] wanted to go to [the coffee shop] in [downtown Copenhagen] . [He] was told that [it] sold [the best beans] ."""
    john, shop, town, beans = mention_types
    mentions = [
        (0, 1, 1, john),
        (5, 8, 2, shop),
        (9, 11, 3, town),
        (12, 13, 1, john),
        (16, 17, 2, shop),
        (18, 21, 4, beans),
    ]
    return make_document([1] * 22, mentions, SENTENCES)


def pairs_of(index: DocumentIndex, mention: int) -> list[int]:
    return index.pair_rows[slice(*index.pair_bounds[mention : mention + 2])].tolist()


def test_rows_of_the_running_example() -> None:
    """Row 0 is none, 1-6 are newborns, 7 and so on the states after each of the eleven words in mentions."""
    index = index_document(running_example(), make_feature_set("paper"))
    assert index.starts.tolist() == [0, 5, 9, 12, 16, 18]
    assert index.lengths.tolist() == [1, 3, 2, 1, 1, 3]
    assert index.update_tokens.tolist() == [0, 5, 6, 7, 9, 10, 12, 16, 18, 19, 20]
    assert index.update_previous.tolist() == [1, 2, 8, 9, 3, 11, 7, 10, 6, 15, 16]
    assert index.entity_rows.tolist() == [1, 2, 3, 7, 10, 6]
    assert pairs_of(index, 0) == [1]
    assert pairs_of(index, 3) == [7, 10, 12, 4]  # John, the shop, Copenhagen, a newborn
    assert pairs_of(index, 5) == [13, 14, 12, 6]
    assert index.pair_rows[index.chosen_pairs].tolist() == [1, 2, 3, 7, 10, 6]
    assert index.final_rows.tolist() == [13, 14, 12, 17]
    assert index.size == 18
    assert not index.reaches_end.any()


def test_types_restrict_the_candidates() -> None:
    """With John a person (kind 1) and all others things (kind 2), "He" can mean John or someone new."""
    index = index_document(running_example((1, 2, 2, 2)), make_feature_set("paper"))
    assert pairs_of(index, 3) == [7, 4]
    assert pairs_of(index, 4) == [10, 12, 5]
    assert index.types_of_mentions.tolist() == [1, 2, 2, 1, 2, 2]


def test_features_of_the_running_example() -> None:
    """At "it" (word 16): John was at word 12 in this sentence, the shop ended at word 7 in the last, …"""
    features = make_feature_set("rich")
    index = index_document(running_example(), features)
    hot = index.pair_features[slice(*index.pair_bounds[4:6])]
    names = ("token", "sentence", "mention", "count")
    bases = dict(zip(names, features.lookup[:, 0].tolist(), strict=True))

    def buckets(token: int, sentence: int, mention: int, count: int) -> list[int]:
        values = {"token": token, "sentence": sentence, "mention": mention, "count": count}
        return [bases[name] + find_bucket(name, values[name]) for name in names]

    assert hot[0].tolist() == buckets(token=4, sentence=0, mention=1, count=2)
    assert hot[1].tolist() == buckets(token=9, sentence=1, mention=3, count=1)
    assert hot[2].tolist() == buckets(token=6, sentence=1, mention=2, count=1)
    assert hot[3].tolist() == [features.size] * 4  # a new entity has f(e) = 0


@pytest.mark.parametrize("quantity", list(BUCKET_EDGES))
def test_buckets_are_in_order_and_cover_everything(quantity: str) -> None:
    edges = BUCKET_EDGES[quantity]
    buckets = [find_bucket(quantity, value) for value in range(edges[0], edges[-1] + 10)]
    assert buckets == sorted(buckets)
    assert set(buckets) == set(range(len(edges)))
    assert [find_bucket(quantity, edge) for edge in edges] == list(range(len(edges)))


@given(gap=st.integers(1, 1100))
def test_the_layout_measures_any_gap_as_the_plain_way_does(gap: int) -> None:
    document = make_document([1] * (gap + 1), [(0, 1, 1, 1), (gap, gap + 1, 1, 1)], list(range(gap + 1)))
    hot = index_document(document, make_feature_set("paper")).pair_features[1]
    edges = np.cumsum([0, len(BUCKET_EDGES["token"]), len(BUCKET_EDGES["sentence"])])
    expected = [find_bucket("token", gap), find_bucket("sentence", gap), find_bucket("mention", 1)]
    assert hot.tolist() == (edges + expected).tolist()
