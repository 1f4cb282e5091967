"""Choices, and the choosers that are made of others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from entitynlm.prediction.choices import NEW, CachedChooser, Choice, Ensemble, choose_weight, make_choice
from entitynlm.prediction.slots import SlottedStory, find_all_slots
from entitynlm.text.document import Document, Mention

STORY = Document(
    "d", tuple("Ann met Bo and she left .".split()), mentions=(Mention(0, 1, "a"), Mention(2, 3, "b"), Mention(4, 5, "a"))
)  # fmt: skip


class FixedChooser:
    """Gives the first entity a certain probability, and shares the rest."""

    def __init__(self, probability: float) -> None:
        self.probability = probability
        self.asked = 0

    def choose(self, story: Document, positions: Sequence[int]) -> list[Choice]:
        self.asked += 1
        entities = [[m.entity for m in story.mentions if m.start < position] for position in positions]
        return [
            make_choice(
                names, np.log([self.probability, *[(1 - self.probability) / len(names)] * len(names)])
            )
            if names
            else make_choice([], np.zeros(1))
            for names in entities
        ]


def test_a_choice_is_a_softmax_over_the_entities_so_far_and_a_new_one() -> None:
    choice = make_choice(["a", "b"], np.log([0.2, 0.5, 0.3]))
    assert choice.entities == ("a", "b", NEW)
    assert choice.probabilities == pytest.approx((0.2, 0.5, 0.3))
    assert choice.best == "b"
    assert [name for name, _ in choice.ranked] == ["b", NEW, "a"]
    assert choice.probability("somebody else") == pytest.approx(0.3)  # who is new to this model


def test_an_ensemble_is_a_weighted_geometric_mean() -> None:
    first, second = FixedChooser(0.9), FixedChooser(0.2)
    (mixed,) = Ensemble(first, second, 0.25).choose(STORY, [4])
    expected = np.array([0.9, 0.05, 0.05]) ** 0.75 * np.array([0.2, 0.4, 0.4]) ** 0.25
    np.testing.assert_allclose(mixed.probabilities, expected / expected.sum(), atol=1e-9)


def test_the_weight_is_that_of_the_better_one() -> None:
    slotted = find_all_slots(STORY)
    old = SlottedStory(STORY, slotted.slots[2:])  # the answer is the first entity
    assert choose_weight(FixedChooser(0.2), FixedChooser(0.9), [old]) == 1.0
    assert choose_weight(FixedChooser(0.9), FixedChooser(0.2), [old]) == 0.0


def test_a_cached_chooser_is_asked_once_per_story() -> None:
    chooser = FixedChooser(0.5)
    cached = CachedChooser(chooser)
    assert cached.choose(STORY, [2, 4]) == cached.choose(STORY, [2, 4])
    assert chooser.asked == 1
    cached.choose(STORY, [4])
    assert chooser.asked == 2
