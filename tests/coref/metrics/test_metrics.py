"""Metrics on cases small enough to be worked out by hand; letters are mentions."""

import tracemalloc
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.coref.metrics.alignment import Chains, align_chains
from entitynlm.coref.metrics.chain_metrics import _count_link_sets, count_blanc, to_percent, truncate_percent
from entitynlm.coref.metrics.coreference import CONLL_METRICS, METRICS, CorpusCounts, count_alignments


def score_chains(key: Chains, response: Chains) -> CorpusCounts:
    """Score the chains of one document."""
    return count_alignments([""], [align_chains(key, response)])


def chains(text: str) -> list[list[str]]:
    """``"a bc def"`` is three chains of one, two and three mentions."""
    return [list(word) for word in text.split()]


def counts_of(metric: str, key: str, response: str) -> tuple[float, ...]:
    return METRICS[metric].count(align_chains(chains(key), chains(response)))


# (key, response, metric, recall numerator, its denominator, precision numerator, its denominator)
HAND_WORKED = [
    ("ab cde", "ab cde", "muc", 3, 3, 3, 3),
    ("abcd", "ab cd", "muc", 2, 3, 2, 2),
    ("abcd", "abxcd", "muc", 3, 3, 3, 4),
    ("abc defg", "abd cefg", "muc", 3, 5, 3, 5),
    ("a b", "a b", "muc", 0, 0, 0, 0),
    ("abc", "ab cx", "b3", Fraction(2, 3) * 2 + Fraction(1, 3), 3, Fraction(5, 2), 4),
    ("a bc", "abc", "b3", 3, 3, Fraction(1, 3) + 2 * Fraction(2, 3), 3),
    ("abcd", "", "b3", 0, 4, 0, 0),
    ("abc de", "ab cde", "ceafm", 4, 5, 4, 5),
    ("abcdef", "ab cd ef", "ceafm", 2, 6, 2, 6),
    ("abc de", "ab cde", "ceafe", Fraction(8, 5), 2, Fraction(8, 5), 2),
    ("abcdef", "ab cd ef", "ceafe", Fraction(1, 2), 1, Fraction(1, 2), 3),
    ("ab cd", "ab cx d", "ceafe", Fraction(5, 3), 2, Fraction(5, 3), 3),
    ("", "ab", "ceafe", 0, 0, 0, 1),
    # LEA: 3 · (1/3) + 2 · 1 of the key; 2 · 1 and 3 · (1/3) of the response
    ("abc de", "ab cde", "lea", 3, 5, 3, 5),
    ("a bc", "a bc", "lea", 3, 3, 3, 3),
    ("a bc", "abc", "lea", 2, 3, 1, 3),
    ("abcd", "abcx", "lea", 2, 4, 2, 4),
    ("a", "ab", "lea", 0, 1, 0, 2),
    ("ab cd", "abx", "mentions", 2, 4, 2, 3),
]


@pytest.mark.parametrize(("key", "response", "metric", "rn", "rd", "pn", "pd"), HAND_WORKED)
def test_counts_worked_out_by_hand(
    key: str, response: str, metric: str, rn: Fraction, rd: int, pn: Fraction, pd: int
) -> None:
    expected = (float(rn), rd, float(pn), pd)
    assert counts_of(metric, key, response) == pytest.approx(expected, abs=1e-12)


def test_blanc_counts_links_and_non_links() -> None:
    # Key links ab, cd and 4 non-links; response links ac and 5 others; of the non-links ad, bc, bd, cd, the key has 3.
    assert counts_of("blanc", "ab cd", "ac b d") == (0, 2, 0, 1, 3, 4, 3, 5)


def test_blanc_of_one_kind_of_links_only() -> None:
    only_links = score_chains(chains("abc"), chains("ab c")).score("blanc")
    assert (only_links.recall, only_links.precision) == (pytest.approx(100 / 3), 100.0)
    only_non_links = score_chains(chains("a b c"), chains("a b c")).score("blanc")
    assert only_non_links.f1 == 100.0
    assert score_chains(chains("a"), chains("a")).score("blanc").f1 == 0.0


def test_a_span_repeated_in_the_response_counts_where_it_comes_first() -> None:
    alignment = align_chains(chains("ab cd"), chains("abc ad c"))
    assert alignment.response == ((0, 1, 2), (3,))
    assert alignment.repeated_in_response == 2


def test_a_twinless_mention_may_be_repeated() -> None:
    alignment = align_chains(chains("ab"), chains("ax xb"))
    assert alignment.response == ((0, 2), (2, 1))
    assert alignment.repeated_in_response == 0
    assert alignment.response_mentions == 3


def test_a_span_repeated_in_the_key_belongs_to_its_last_chain() -> None:
    alignment = align_chains(chains("ab bc"), chains("abc"))
    assert alignment.key_chain_of == {0: 0, 1: 1, 2: 1}
    assert alignment.repeated_in_key == 1
    # The links: ab is not within one key chain any more, bc is.
    assert METRICS["muc"].count(alignment) == (1, 2, 1, 2)
    # With sets of pairs: links ab, bc of the key; non-links ab (a, b), ac, bb, bc.
    assert METRICS["blanc"].count(alignment) == (2, 2, 2, 3, 0, 4, 0, 0)


def test_percentages_are_cut_off_and_not_rounded() -> None:
    assert truncate_percent(2 / 3) == 66.66
    assert truncate_percent(0.29) == 29.0
    assert to_percent(0.29) == 29.0
    assert truncate_percent(0.999999) == 99.99


clusterings = st.lists(st.integers(0, 5), max_size=14).map(
    lambda owners: [[m for m, o in enumerate(owners) if o == owner] for owner in sorted(set(owners))]
)


@given(clusterings)
def test_the_key_itself_scores_a_hundred(key: list[list[int]]) -> None:
    counts = score_chains(key, key)
    if not key:
        assert all(counts.score(name).f1 == 0 for name in METRICS)
        return
    for name in ("b3", "ceafm", "ceafe", "lea", "mentions"):
        assert counts.score(name).f1 == pytest.approx(100, abs=1e-9)
    assert counts.score("muc").f1 == (100 if any(len(chain) > 1 for chain in key) else 0)


@given(clusterings, clusterings, st.randoms())
def test_scores_stay_in_range_and_ignore_the_order(
    key: list[list[int]], response: list[list[int]], random
) -> None:
    counts = score_chains(key, response)
    shuffled = [random.sample(chain, len(chain)) for chain in random.sample(response, len(response))]
    again = score_chains(random.sample(key, len(key)), shuffled)
    for name in METRICS:
        score = counts.score(name)
        for value in (score.recall, score.precision, score.f1):
            assert -1e-9 <= value <= 100 + 1e-9
        assert again.score(name).f1 == pytest.approx(score.f1, abs=1e-9)
    assert counts.conll == pytest.approx(sum(counts.score(name).f1 for name in CONLL_METRICS) / 3)


@given(clusterings, clusterings)
def test_recall_and_precision_change_places_with_key_and_response(
    key: list[list[int]], response: list[list[int]]
) -> None:
    forth, back = score_chains(key, response), score_chains(response, key)
    for name in ("mentions", "muc", "b3", "ceafm", "ceafe", "lea"):
        assert forth.score(name).recall == pytest.approx(back.score(name).precision, abs=1e-9)


def list_pairs(numbered: Chains) -> tuple[set[object], set[object]]:
    """Pairs of mentions in one chain, and in two."""
    places = [(mention, number) for number, chain in enumerate(numbered) for mention in chain]
    pairs = list(combinations(places, 2))
    found = ({frozenset((a, b)) for (a, i), (b, j) in pairs if (i == j) is same} for same in (True, False))
    return next(found), next(found)


repeating = st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=4), max_size=4)


@given(clusterings | repeating, clusterings | repeating)
def test_blanc_counts_sets_of_pairs(key: list[list[int]], response: list[list[int]]) -> None:
    alignment = align_chains(key, response)
    both = zip(list_pairs(alignment.key), list_pairs(alignment.response), strict=True)
    counts = [count for one, two in both for count in (len(one & two), len(one), len(one & two), len(two))]
    assert count_blanc(alignment) == tuple(counts) == _count_link_sets(alignment)


@pytest.mark.parametrize(
    ("key", "response"),
    [
        ([[0]] * 3_000, [[0]] * 3_000),  # many entities of one span
        ([*([n] for n in range(3_000)), [0]], [[n] for n in range(3_000)]),
        ([[n, n + 1] for n in range(0, 6_000, 2)], [[n, n + 1] for n in range(1, 6_000, 2)]),
    ],
)
def test_memory_grows_with_mentions_and_not_with_their_pairs(
    key: list[list[int]], response: list[list[int]]
) -> None:
    """An array of the pairs of 3,000 mentions has 36 MB, a table of 3,000 by 3,000 chains 72 MB."""
    score_chains([[0, 1], [2, 0]], [[0], [1, 0]])  # modules that are imported now are not counted
    tracemalloc.start()
    score_chains(key, response)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 << 20


@given(clusterings, clusterings)
def test_ceaf_finds_the_best_assignment(key: list[list[int]], response: list[list[int]]) -> None:
    from itertools import permutations

    key, response = key[:4], response[:4]
    longer, shorter = (key, response) if len(key) >= len(response) else (response, key)
    best = max(
        (
            sum(
                Fraction(2 * len(set(a) & set(b)), len(a) + len(b))
                for a, b in zip(order, shorter, strict=True)
            )
            for order in permutations(longer, len(shorter))
        ),
        default=Fraction(0),
    )
    assert METRICS["ceafe"].count(align_chains(key, response))[0] == pytest.approx(float(best))
