"""The word cache: a distribution over words, the same whether a text comes at once or in pieces."""

from __future__ import annotations

import numpy as np
import pytest

from entitynlm.errors import ConfigError
from entitynlm.inference.words.word_cache import WordCache

TEXT = np.array([1, 2, 1, 1, 3, 2])


def test_by_hand() -> None:
    assert WordCache(0.1).read(TEXT)[:, 0].tolist() == [0, 0, 1 / 2, 2 / 3, 0, 1 / 5]
    mixed = WordCache(0.25).mix(np.log(np.full(6, 0.2)), TEXT)
    cached = [0.75 * 0.2 + 0.25 * share for share in (0, 1 / 2, 2 / 3, 0, 1 / 5)]
    np.testing.assert_allclose(np.exp(mixed), [0.2, *cached])


def test_bigrams_by_hand() -> None:
    """After 1 came 2, then 1, then 3; nothing had come after 3 or, the first time, after 2."""
    text = np.array([1, 2, 1, 2, 1, 1, 3])
    known = WordCache(0.0, 0.5).read(text)[:, 2:]
    np.testing.assert_allclose(known, [[0, 0], [0, 0], [0, 0], [1, 1], [1, 1], [0, 1], [0, 1]])
    mixed = WordCache(0.1, 0.5).mix(np.log(np.full(7, 0.2)), text)
    assert np.exp(mixed[0]) == pytest.approx(0.2)
    assert np.exp(mixed[2]) == pytest.approx(0.9 * 0.2 + 0.1 * 1 / 2)  # nothing came after 2 so far
    assert np.exp(mixed[3]) == pytest.approx(0.4 * 0.2 + 0.1 * 1 / 3 + 0.5)


@pytest.mark.parametrize("shares", [(0.3, 0.0), (0.2, 0.3)])
def test_pieces_and_columns(shares: tuple[float, float]) -> None:
    log_probs = np.log(np.random.default_rng(0).uniform(0.1, 0.9, (6, 3)))
    whole = WordCache(*shares).mix(log_probs, TEXT)
    cache = WordCache(*shares)
    pieces = [
        cache.mix(log_probs[:1], TEXT[:1]),
        cache.mix(log_probs[1:4], TEXT[1:4]),
        cache.mix(log_probs[4:], TEXT[4:]),
    ]
    np.testing.assert_allclose(np.concatenate(pieces), whole)
    np.testing.assert_allclose(whole[:, 1], WordCache(*shares).mix(log_probs[:, 1], TEXT))


@pytest.mark.parametrize("text", [TEXT, np.append(TEXT, 1), TEXT[:0]])
def test_it_sums_to_one(text: np.ndarray) -> None:
    """After any text, over all words."""
    plain = np.log(np.array([0.5, 0.2, 0.2, 0.1]))
    total = 0.0
    for word in range(4):
        cache = WordCache(0.3, 0.4)
        cache.read(text)
        total += float(np.exp(cache.mix(plain[word : word + 1], np.array([word]))[0]))
    assert total == pytest.approx(1)


@pytest.mark.parametrize("shares", [(-0.1,), (1.0,), (0.5, 0.5), (0.1, -0.1)])
def test_impossible_shares(shares: tuple[float, ...]) -> None:
    with pytest.raises(ConfigError, match="share"):
        WordCache(*shares)
