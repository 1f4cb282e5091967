"""k-best lists from antecedent scores: small ones by hand, the real ones by their published figures."""

from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.coref.candidates import kbest
from entitynlm.coref.candidates.candidate_files import (
    AntecedentScores,
    KBestList,
    ScoredClustering,
    make_antecedent_scores,
    read_candidates,
)
from entitynlm.coref.candidates.kbest import (
    count_candidates,
    decode_best,
    decode_samples,
    decode_swaps,
    find_oracle,
    label_chains,
    list_clusters,
    measure_margin,
)
from entitynlm.coref.metrics.coreference import CorpusCounts, join_counts
from entitynlm.errors import ConfigError
from entitynlm.text.document import Document

A, B, C, D = (0, 1), (1, 2), (2, 3), (3, 4)


def small_scores() -> AntecedentScores:
    """One-best: C → A and D → C, one chain A C D; B by itself."""
    candidates = [
        [(-1, 0.0)],
        [(0, -2.0), (-1, 0.0)],
        [(1, 1.5), (0, 2.0), (-1, 0.0)],
        [(2, 5.0), (1, 1.0), (0, 4.5), (-1, 0.0)],
    ]
    return make_antecedent_scores("small", [A, B, C, D], candidates)


def test_swaps_come_in_the_order_of_the_score_they_lose() -> None:
    found = decode_swaps(small_scores(), 6)
    assert [(c.clusters, round(c.score, 6)) for c in found.candidates] == [
        (((A, C, D),), 7.0),
        # losing 0.5: C to B, and D comes along; D to A changes no chain
        (((B, C, D),), 6.5),
        # losing 2: C without antecedent (then D stays with it), or B to A; the first in the file comes first
        (((A, B, C, D),), 5.0),
        (((C, D),), 5.0),
        # losing 4: D to B
        (((A, C), (B, D)), 3.0),
        # losing 5: D by itself
        (((A, C),), 2.0),
    ]


def drop_padding(found: KBestList) -> list[ScoredClustering]:
    """The candidates without the repetitions of the last one."""
    return list(dict.fromkeys(found.candidates))


def sample(scores: AntecedentScores, k: int, temperature: float, seed: int = 0) -> list[ScoredClustering]:
    """Samples at a temperature of our own."""
    margin = temperature / kbest.RELATIVE_TEMPERATURE
    with mock.patch.object(kbest, "measure_margin", return_value=margin):
        return drop_padding(decode_samples(scores, k, seed=seed))


def test_a_short_list_is_padded_with_its_last_item() -> None:
    padded = decode_swaps(small_scores(), 50)
    plain = drop_padding(padded)
    assert len(padded) == 50
    assert list(padded.candidates[: len(plain)]) == plain
    assert set(padded.candidates[len(plain) :]) == {plain[-1]}


def test_no_mentions_make_one_empty_candidate() -> None:
    empty = make_antecedent_scores("empty", [], [])
    for decode in (decode_swaps, decode_samples):
        assert decode(empty, 3).candidates == (ScoredClustering((), 0.0),) * 3
    assert decode_best(empty) == ()


@st.composite
def random_scores(draw: st.DrawFn) -> AntecedentScores:
    size = draw(st.integers(1, 9))
    values = st.integers(-8, 8).map(float)
    candidates = [
        [*((antecedent, draw(values)) for antecedent in reversed(range(mention))), (-1, draw(values))]
        for mention in range(size)
    ]
    return make_antecedent_scores("random", [(i, i + 1) for i in range(size)], candidates)


def list_swaps_slowly(
    scores: AntecedentScores, k: int
) -> list[tuple[frozenset[tuple[tuple[int, int], ...]], float]]:
    """The paper's words as loops."""

    def close(tree: list[int]) -> frozenset[tuple[tuple[int, int], ...]]:
        return frozenset(list_clusters(label_chains(np.array(tree)), scores.mentions))

    best = scores.best.tolist()
    rows = [
        {int(a): float(s) for a, s in zip(scores.antecedents[x:y], scores.scores[x:y], strict=True)}
        for x, y in zip(scores.offsets[:-1], scores.offsets[1:], strict=True)
    ]
    pairs = [(row[best[m]] - score, m, a) for m, row in enumerate(rows) for a, score in row.items()]
    total = sum(row[best[m]] for m, row in enumerate(rows))
    kept = [(close(best), total)]
    for loss, mention, antecedent in sorted(pairs, key=lambda pair: pair[0]):
        chains = close([*best[:mention], antecedent, *best[mention + 1 :]])
        if len(kept) < k and all(chains != other for other, _ in kept):
            kept.append((chains, total - loss))
    return kept


@given(random_scores(), st.integers(1, 30))
def test_swaps_are_what_the_paper_says(scores: AntecedentScores, k: int) -> None:
    found = drop_padding(decode_swaps(scores, k))
    assert [(frozenset(c.clusters), c.score) for c in found] == list_swaps_slowly(scores, k)


@given(random_scores())
def test_samples_are_different_and_start_with_the_best(scores: AntecedentScores) -> None:
    found = sample(scores, 20, 3.0)
    assert found[0].clusters == decode_best(scores)
    assert len({c.clusters for c in found}) == len(found)
    totals = [c.score for c in found[1:]]
    assert totals == sorted(totals, reverse=True)
    assert found == sample(scores, 20, 3.0)


def test_samples_follow_the_softmax_of_the_scores() -> None:
    scores = make_antecedent_scores("x", [A, B], [[(-1, 0.0)], [(0, 1.0), (-1, 2.0)]])
    linked = Counter(any(c.clusters for c in sample(scores, 2, 1.0, seed)) for seed in range(400))
    # ATTEMPTS · k = 8 draws; the link turns up with probability 1 - (1 - p)^8 where p = 1 / (1 + e)
    expected = 1 - (1 - 1 / (1 + np.e)) ** 8
    assert linked[True] / 400 == pytest.approx(expected, abs=4 * np.sqrt(expected * (1 - expected) / 400))


def test_the_margin_is_to_another_chain() -> None:
    # A: none; B: 0 - (-2); C: 2 - 1.5; D's rivals are B and none: 5 - 1
    assert measure_margin(small_scores()) == pytest.approx(np.median([2.0, 0.5, 4.0]))


def measure_oracle(keys: list[Document], lists: list[KBestList]) -> CorpusCounts:
    chosen = zip(keys, lists, find_oracle(keys, lists), strict=True)
    return join_counts([count_candidates(key, [item.candidates[choice]]) for key, item, choice in chosen])


def test_the_oracle_takes_the_best_candidate_of_each_document() -> None:
    key = Document("small", tuple("abcdef")).with_clusters([[A, B], [C, D]])
    wrong, near, right = (ScoredClustering(c, 0.0) for c in (((A, C),), ((A, B),), ((A, B), (C, D))))
    other = Document("other", tuple("abcdef")).with_clusters([[A, C]])
    lists = [KBestList("small", (wrong, near, right)), KBestList("other", (near, wrong))]
    assert find_oracle([key, other], lists) == [2, 1]
    counts = measure_oracle([key, other], lists)
    assert counts.conll == 100
    assert counts.doc_ids == ("small", "other")
    counts = count_candidates(key, (wrong, wrong, right))
    assert counts.conll_documents[0] == counts.conll_documents[1] < counts.conll_documents[2]
    assert len(join_counts([counts, counts])) == 6


def test_no_candidate_is_an_error() -> None:
    with pytest.raises(ConfigError, match="at least one candidate"):
        decode_swaps(small_scores(), 0)


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("split", "muc", "b3", "ceafe", "conll", "oracle"),
    [("dev", 71.72, 57.56, 50.13, 59.80, 61.67), ("test", 70.48, 58.64, 51.34, 60.15, 62.29)],
)
def test_cort_on_ontogum_has_its_published_figures(
    corpora_path: Path, split: str, muc: float, b3: float, ceafe: float, conll: float, oracle: float
) -> None:
    from entitynlm.coref.metrics.coreference import score_documents
    from entitynlm.coref.metrics.documents import clean_key
    from entitynlm.text.corpora.corpus import open_corpus

    documents = {d.id: d for d in open_corpus(corpora_path / "ontogum").documents(split)}
    path = corpora_path / "cort-ontogum" / f"{split}.antecedents.jsonl"
    scores: list[Any] = [item for _, item in read_candidates(path, documents)]
    assert len(scores) == 30
    keys = [clean_key(documents[item.doc_id]) for item in scores]
    responses = [documents[item.doc_id].with_clusters(decode_best(item)) for item in scores]
    counts = score_documents(keys, responses)
    assert [counts.score(name).printed[2] for name in ("muc", "b3", "ceafe")] == [muc, b3, ceafe]
    assert counts.conll == pytest.approx(conll, abs=0.01)
    lists = [decode_swaps(item, 100) for item in scores]
    assert all(len(item) == 100 for item in lists)
    assert measure_oracle(keys, lists).conll == pytest.approx(oracle, abs=0.01)


@pytest.mark.corpora
@pytest.mark.slow
def test_samples_leave_more_room_than_swaps(corpora_path: Path) -> None:
    from entitynlm.coref.metrics.documents import clean_key
    from entitynlm.text.corpora.corpus import open_corpus

    documents = {d.id: d for d in open_corpus(corpora_path / "ontogum").documents("dev")}
    path = corpora_path / "cort-ontogum" / "dev.antecedents.jsonl"
    scores: list[Any] = [item for _, item in read_candidates(path, documents)]
    keys = [clean_key(documents[item.doc_id]) for item in scores]
    assert measure_oracle(keys, [decode_samples(item, 100) for item in scores]).conll > 61.67 + 1
