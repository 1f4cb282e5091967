"""Word classes: every predictable word in one class, none too large, words that follow the same words together."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from entitynlm.errors import DataError
from entitynlm.model.encoding import word_classes
from entitynlm.model.encoding.word_classes import WordClasses, assign_classes


def check_partition(classes: WordClasses, size: int, number: int) -> None:
    assert classes.class_of.shape == (size,)
    assert classes.class_of[0] == -1
    assert set(classes.class_of[1:].tolist()) == set(range(number))


def make_sequences(seed: int = 0, words: int = 10) -> list[np.ndarray]:
    """Sentences over three kinds of words that take turns: ids 1…10 after 21…30 after 11…20."""
    generator = np.random.default_rng(seed)
    weights = 1 / np.arange(1, words + 1)
    draws = generator.choice(words, p=weights / weights.sum(), size=(40, 30)) + 1
    return [row + words * (np.arange(30) % 3) for row in draws]


def test_that_clustering_finds_words_that_follow_the_same_words() -> None:
    sequences = make_sequences()
    classes = assign_classes(sequences, 31, classes=3)
    check_partition(classes, 31, 3)
    mention_types = [set(classes.class_of[start : start + 10].tolist()) for start in (1, 11, 21)]
    assert all(len(mention_type) == 1 for mention_type in mention_types)
    assert len(set.union(*mention_types)) == 3


def log_likelihood(bigrams: np.ndarray, classes: WordClasses) -> float:
    """Σ log p(class | previous) p(word | class), from the definition."""
    counts = bigrams.sum(axis=1)
    total = 0.0
    for word, previous in zip(*np.nonzero(bigrams), strict=True):
        members = np.flatnonzero(classes.class_of == classes.class_of[word])
        p_class = bigrams[members, previous].sum() / bigrams[:, previous].sum()
        p_word = counts[word] / counts[members].sum()
        total += bigrams[word, previous] * np.log(p_class * p_word)
    return float(total)


@given(st.integers(0, 10_000), st.integers(2, 6))
def test_that_no_single_move_improves_on_the_clustering(seed: int, number: int) -> None:
    generator = np.random.default_rng(seed)
    sequences = [generator.integers(1, 13, size=40), generator.integers(4, 9, size=20)]
    dense = np.zeros((13, 13))
    for sequence in sequences:
        np.add.at(dense, (sequence, np.concatenate([[0], sequence[:-1]])), 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_classes, "LARGEST_CLASS", 6.0)
        patch.setattr(word_classes, "EXCHANGE_ROUNDS", 100)
        classes = assign_classes(sequences, 13, classes=number)
    check_partition(classes, 13, number)
    best = log_likelihood(dense, classes)
    for word in range(1, 13):
        for other in range(number):
            moved = classes.class_of.copy()
            moved[word] = other
            if len(np.unique(moved[1:])) == number:
                assert log_likelihood(dense, WordClasses(moved)) <= best + 1e-6


def test_that_clustering_keeps_classes_small_and_takes_words_that_never_occur(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(word_classes, "LARGEST_CLASS", 1.2)
    classes = assign_classes(make_sequences(), 41, classes=6)
    check_partition(classes, 41, 6)
    assert np.bincount(classes.class_of[1:]).max() <= 8


def test_that_classes_survive_json() -> None:
    classes = WordClasses(np.array([-1, 0, 0, 1, 1]))
    again = WordClasses.from_dict(json.loads(json.dumps(classes.to_dict())))
    assert again.class_of.tolist() == classes.class_of.tolist()
    for damaged in ({}, {"class_of": "x"}, {"class_of": [0, 1]}):
        with pytest.raises(DataError, match="word classes"):
            WordClasses.from_dict(damaged)
    with pytest.raises(DataError, match="empty"):
        WordClasses(np.array([-1, 0, 2]))
