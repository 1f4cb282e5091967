"""Choices over candidates, and the weight with which two rows are mixed."""

import numpy as np
import pytest

from entitynlm.prediction.choices import NEW, Answer, make_choice, mix
from entitynlm.prediction.evaluation import PredictionRow, choose_weight
from entitynlm.prediction.slots import find_all_slots
from entitynlm.text.document import Document, Mention

STORY = Document(
    "d", tuple("Ann met Bo and she left .".split()), mentions=(Mention(0, 1, "a"), Mention(2, 3, "b"), Mention(4, 5, "a"))
)  # fmt: skip


def test_a_choice_is_a_softmax_over_the_entities_so_far_and_a_new_one() -> None:
    choice = make_choice(["a", "b"], np.log([0.2, 0.5, 0.3]))
    assert choice.entities == ("a", "b", NEW)
    assert choice.probabilities == pytest.approx((0.2, 0.5, 0.3))
    assert choice.best == "b"
    assert [name for name, _ in choice.ranked] == ["b", NEW, "a"]
    assert choice.probability("somebody else") == pytest.approx(0.3)  # who is new to this model


def test_a_mixture_is_a_weighted_geometric_mean() -> None:
    pair = [make_choice(["a", "b"], np.log(shares)) for shares in ([0.9, 0.05, 0.05], [0.2, 0.4, 0.4])]
    mixed = mix(pair, (0.75, 0.25))
    expected = np.array([0.9, 0.05, 0.05]) ** 0.75 * np.array([0.2, 0.4, 0.4]) ** 0.25
    np.testing.assert_allclose(mixed.probabilities, expected / expected.sum(), atol=1e-9)


@pytest.mark.parametrize(("first", "second", "weight"), [(0.2, 0.9, 1.0), (0.9, 0.2, 0.0)])
def test_the_weight_is_that_of_the_better_row(first: float, second: float, weight: float) -> None:
    slotted = find_all_slots(STORY)  # the third answer is the first entity
    rows = [
        PredictionRow("", (Answer(slotted, slotted.slots[2], make_choice(["a"], np.log([p, 1 - p]))),))
        for p in (first, second)
    ]
    assert choose_weight(*rows) == weight
