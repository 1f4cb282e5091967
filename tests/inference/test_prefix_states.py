"""What is believed before a word depends on the words before it, whatever was asked before, and agrees with the filter's own."""

import numpy as np
import pytest

from entitynlm.inference import prefix_states, readings
from entitynlm.inference.prefix_states import PrefixStates, WeightedStates
from entitynlm.lm.surprisal_words import estimate_words
from entitynlm.model.entitynlm import EntityNetwork
from support.small_models import make_document, make_network

WORDS = [1, 3, 5, 2, 4, 1, 1, 6, 3, 2, 5, 4, 1, 3, 7, 2, 6, 1, 4, 2, 3, 5, 1, 6]
SENTENCES = [0] * 9 + [1] * 8 + [2] * 7


@pytest.fixture(scope="module")
def networks() -> tuple[EntityNetwork, EntityNetwork]:
    options = {"sigma": 0.01, "new_entity": "noise", "mention_positions": 2}
    return make_network(mode="generative", **options), make_network(mode="causal", seed=1, **options)


def make_states(networks: tuple[EntityNetwork, EntityNetwork], length: int = len(WORDS)) -> PrefixStates:
    return PrefixStates(*networks, make_document(WORDS[:length], [], SENTENCES[:length]), particles=12)


def summarise(belief: WeightedStates) -> list[tuple[float, int, float]]:
    """Numbers that would differ if anything did."""
    return [
        (float(weight), len(state.rows), float(state.expect(belief.tables, belief.at).log_probs.sum()))
        for weight, state in zip(belief.weights, belief.states, strict=True)
    ]


def assert_same(one: WeightedStates, other: WeightedStates) -> None:
    assert np.allclose(summarise(one), summarise(other), atol=1e-9)
    assert all(np.array_equal(*pair) for pair in zip(one.first_spans, other.first_spans, strict=True))


@pytest.mark.parametrize("t", [1, 7, 8, 9, 16, 20])
def test_words_to_come_change_nothing(networks: tuple[EntityNetwork, EntityNetwork], t: int) -> None:
    """The text may be cut right after the word that is asked about."""
    assert_same(make_states(networks).before(t), make_states(networks, t + 1).before(t))


def test_the_order_of_questions_changes_nothing(networks: tuple[EntityNetwork, EntityNetwork]) -> None:
    straight = make_states(networks)
    expected = {t: summarise(straight.before(t)) for t in range(len(WORDS))}
    jumping = make_states(networks)
    for t in (20, 3, 21, 20, 0, 9, 10, 23, 8, 1):
        assert np.allclose(summarise(jumping.before(t)), expected[t], atol=1e-9)


def test_reading_ahead_changes_nothing_and_saves_words(networks: tuple[EntityNetwork, EntityNetwork]) -> None:
    plain, prepared = make_states(networks), make_states(networks)
    prepared.advance(len(WORDS))
    assert plain.count_missing(20) == 20 and prepared.count_missing(20) <= prefix_states.LEAST_GAP
    assert_same(plain.before(20), prepared.before(20))


def test_chunks_change_nothing(
    networks: tuple[EntityNetwork, EntityNetwork], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = make_states(networks)
    expected = {t: summarise(whole.before(t)) for t in (22, 4)}
    monkeypatch.setattr(prefix_states, "CHUNK_WORDS", 5)
    monkeypatch.setattr(readings, "KEPT_WORDS", 10)
    cut = make_states(networks)
    for t, values in expected.items():
        assert np.allclose(summarise(cut.before(t)), values, atol=1e-6)


def test_it_expects_as_many_mentions_as_surprisal_does(networks: tuple[EntityNetwork, EntityNetwork]) -> None:
    """Two particle filters with other random numbers: the same within the error of sampling."""
    document = make_document(WORDS, [], SENTENCES)
    states = PrefixStates(*networks, document, particles=600)
    estimated = estimate_words(*networks, document, particles=600, repeats=2).reader
    assert estimated is not None
    for t in (1, 5, 11):
        belief = states.before(t)
        inside = [float(state.history.remaining > 0) for state in belief.states]
        starts = -np.expm1(belief.tables.log_types[belief.at, 0])
        expected = float(belief.weights @ np.where(inside, 1.0, starts))
        assert expected == pytest.approx(estimated.mention_expected[t], abs=0.08)


def test_a_first_mention_is_where_its_entity_began(networks: tuple[EntityNetwork, EntityNetwork]) -> None:
    belief = make_states(networks).before(20)
    for state, spans in zip(belief.states, belief.first_spans, strict=True):
        assert len(spans) == len(state.rows)
        assert (np.diff(spans[:, 0]) > 0).all() and (spans[:, 0] < 20).all() and (spans[:, 0] >= 0).all()


def test_a_word_that_is_not_there_is_refused(networks: tuple[EntityNetwork, EntityNetwork]) -> None:
    with pytest.raises(IndexError):
        make_states(networks).before(len(WORDS))
