"""How hard the stories are, and that the reader who knows the scripts knows no more than that."""

from __future__ import annotations

import pytest

from entitynlm.errors import DataError
from entitynlm.text.document import Document, Mention
from entitynlm.text.stories import generate_stories, measure_difficulty
from entitynlm.text.stories.difficulty import (
    BASELINES,
    KNOWING,
    NEW,
    find_outermost,
    predict_by_script,
)
from entitynlm.text.stories.generator import generate_story


@pytest.fixture(scope="module")
def difficulty() -> dict[str, object]:
    return measure_difficulty(generate_stories(150, seed=1))


def test_each_baseline_stays_fifteen_points_under_the_reader_who_knows(difficulty: dict[str, object]) -> None:
    accuracy = difficulty["accuracy"]
    assert isinstance(accuracy, dict)
    for name in BASELINES:
        assert accuracy[name] <= accuracy[KNOWING] - 15
    assert difficulty["hard_enough"] is True
    assert difficulty["margin"] == pytest.approx(
        accuracy[KNOWING] - max(accuracy[name] for name in BASELINES)
    )


def test_the_reader_who_knows_is_neither_lost_nor_all_knowing(difficulty: dict[str, object]) -> None:
    accuracy = difficulty["accuracy"]
    assert isinstance(accuracy, dict)
    assert 65 <= accuracy[KNOWING] <= 85
    assert 20 <= accuracy["always new"] <= 45


def test_the_reader_never_rules_out_what_comes() -> None:
    """The generator's draws and the reader's enumeration are one distribution, so the truth has some probability."""
    guesses = 0
    for story in range(60):
        for guess in predict_by_script(generate_story(story, seed=4)):
            assert sum(guess.probabilities.values()) == pytest.approx(1)
            assert guess.probabilities[guess.truth] > 0
            guesses += 1
    assert guesses > 1000


def test_the_reader_is_as_sure_as_it_is_right() -> None:
    """Calibration: the mean probability of the first guess is its accuracy, up to four standard errors."""
    guesses = [guess for story in range(150) for guess in predict_by_script(generate_story(story, seed=6))]
    sure = sum(max(guess.probabilities.values()) for guess in guesses) / len(guesses)
    right = sum(guess.right for guess in guesses) / len(guesses)
    assert right == pytest.approx(sure, abs=4 * (0.25 / len(guesses)) ** 0.5)


def test_reader_and_baselines_are_asked_about_the_same_slots() -> None:
    for story in range(20):
        plan = generate_story(story, seed=8)
        document = plan.document
        before: list[str] = []
        truths = []
        for mention in find_outermost(document):
            if document.sentence_of[mention.start] >= 2:
                truths.append(mention.entity in before)
            before.append(mention.entity)
        assert [guess.truth != NEW for guess in predict_by_script(plan)] == truths


def test_outermost_mentions_lie_in_no_other() -> None:
    document = Document(
        "d",
        tuple("her old friend met her".split()),
        mentions=(Mention(0, 3, "2"), Mention(0, 1, "1"), Mention(4, 5, "1")),
    )
    assert [mention.span for mention in find_outermost(document)] == [(0, 3), (4, 5)]


def test_simple_readers_guess_as_their_names_say() -> None:
    before = ["1", "2", "1", "3", "2"]
    always_new, most_recent, most_frequent = BASELINES.values()
    assert always_new(before) == NEW
    assert most_recent(before) == "2"
    assert most_frequent(before) == "2"  # as often as 1, and mentioned later
    assert most_frequent([*before, "1"]) == "1"
    assert most_recent([]) == most_frequent([]) == NEW


def test_other_documents_are_refused() -> None:
    with pytest.raises(DataError, match="no generated story"):
        measure_difficulty([Document("d", ("Hello",))])
    changed = Document("d", ("Hello",), meta=dict(next(generate_stories(1, seed=1)).meta))
    with pytest.raises(DataError, match="not story 0 of seed 1"):
        measure_difficulty([changed])
