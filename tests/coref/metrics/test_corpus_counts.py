"""Counts that add up over documents, documents that are matched by id, keys that are cleaned."""

import numpy as np
import pytest

from entitynlm.coref.metrics.alignment import list_chains
from entitynlm.coref.metrics.coreference import choose_metrics, score_documents
from entitynlm.coref.metrics.documents import clean_key, drop_repetitions, drop_singletons, pair_documents
from entitynlm.errors import ConfigError, DataError
from entitynlm.text.document import Document, Mention


def make_document(doc_id: str, clusters: str, size: int = 12) -> Document:
    """``"0-1 3-5|2-3"`` are two entities, the first with two mentions."""
    mentions = [
        Mention(*(int(part) for part in span.split("-")), entity=str(number))
        for number, chain in enumerate(clusters.split("|"))
        for span in chain.split()
    ]
    return Document(doc_id, tuple(f"w{index}" for index in range(size)), mentions=tuple(mentions))


KEYS = [make_document("one", "0-1 2-3 4-6|5-6 7-8"), make_document("two", "0-2 3-4")]
RESPONSES = [make_document("one", "0-1 2-3|4-6 7-8"), make_document("two", "0-2 3-4 9-10")]


def test_corpus_scores_are_ratios_of_summed_counts() -> None:
    both = score_documents(KEYS, RESPONSES)
    first, second = (score_documents([k], [r]) for k, r in zip(KEYS, RESPONSES, strict=True))
    for name, counts in both.by_metric.items():
        assert np.array_equal(counts, np.concatenate([first.by_metric[name], second.by_metric[name]]))
    muc = both.score("muc")
    assert (muc.recall, muc.precision) == (pytest.approx(100 * 2 / 4), pytest.approx(100 * 2 / 4))


def test_json_has_percentages_of_every_metric() -> None:
    figures = score_documents(KEYS, RESPONSES).to_json()
    assert set(figures) == {
        "mentions", "muc", "b3", "ceafm", "ceafe", "blanc", "lea", "conll",
    }  # fmt: skip
    assert set(figures["muc"]) == {"precision", "recall", "f1"}


def test_metrics_can_be_chosen_by_name() -> None:
    counts = score_documents(KEYS, RESPONSES, ["conll", "lea"])
    assert list(counts.by_metric) == ["muc", "b3", "ceafe", "lea"]
    assert not score_documents(KEYS, RESPONSES, ["b3"]).has_conll
    with pytest.raises(ConfigError, match="no metric 'bcub'"):
        choose_metrics(["bcub"])


def test_taking_rows_takes_documents() -> None:
    counts = score_documents(KEYS, RESPONSES).take([1, 1])
    assert counts.doc_ids == ("two", "two")
    assert counts.score("muc").recall == 100


def test_chains_come_in_the_order_of_the_official_scorer() -> None:
    # On token 0: a one-token mention of entity 2, then the longer entity 1, then entity 0.
    document = make_document("order", "0-2 5-6|0-4 4-5|7-8 0-1")
    assert list_chains(document) == [[(0, 1), (7, 8)], [(0, 4), (4, 5)], [(0, 2), (5, 6)]]
    # A mention is noted when it closes, and of two that close together the inner one first.
    nested = make_document("nested", "0-4 3-4 1-2")
    assert list_chains(nested) == [[(1, 2), (3, 4), (0, 4)]]


def test_documents_are_matched_by_id_in_the_order_of_the_key() -> None:
    keys, responses = pair_documents(KEYS, reversed(RESPONSES))
    assert [document.id for document in keys] == [document.id for document in responses] == ["one", "two"]


def test_missing_and_unknown_documents_are_errors_unless_lenient() -> None:
    with pytest.raises(DataError, match=r"lacks 1 of 2 documents \(two\).*--lenient"):
        pair_documents(KEYS, RESPONSES[:1])
    with pytest.raises(DataError, match=r"the key lacks 1 documents of the response \(two\)"):
        pair_documents(KEYS[:1], RESPONSES)
    _, responses = pair_documents(KEYS, [RESPONSES[1], make_document("three", "0-1")], lenient=True)
    assert [len(document.mentions) for document in responses] == [0, 3]


def test_ids_must_be_unique_and_keys_must_exist() -> None:
    with pytest.raises(DataError, match="two documents with the id 'one'"):
        pair_documents([KEYS[0], KEYS[0]], RESPONSES)
    with pytest.raises(DataError, match="no documents"):
        pair_documents([], RESPONSES)


def test_texts_must_be_the_same() -> None:
    shorter = make_document("one", "0-1 2-3", size=11)
    with pytest.raises(DataError, match="12 tokens in the key and 11 in the response"):
        pair_documents(KEYS[:1], [shorter])
    other = Document("one", (*KEYS[0].tokens[:5], "else", *KEYS[0].tokens[6:]))
    with pytest.raises(DataError, match="found 'else w6 w7'; expected 'w5 w6 w7' at token 5"):
        pair_documents(KEYS[:1], [other])
    assert pair_documents(KEYS[:1], [other], compare_words=False)[1] == [other]


def test_cleaning_a_key_drops_repetitions_before_singletons() -> None:
    document = make_document("x", "0-1 2-3|2-3 4-5|7-8")
    assert len(drop_singletons(document).mentions) == 4
    assert [m.entity for m in drop_repetitions(document).mentions] == ["0", "0", "1", "2"]
    assert clean_key(document).clusters() == (((0, 1), (2, 3)),)
