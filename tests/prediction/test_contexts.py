"""Contexts: what is before a slot, and nothing else."""

import pytest

from entitynlm.prediction.contexts import SENTENCE_START, extract_contexts, stem
from support.tea_stories import make_tea_story


def test_a_context_holds_what_is_before_and_nothing_else() -> None:
    story = make_tea_story(0)
    first, later = extract_contexts(story, [0, 13])
    assert (first.candidates, first.before, first.latest, first.offset) == ((), (), "", 0)
    assert later.before == ("she", "took", "the")
    assert later.latest == "she"
    ann, cup = later.candidates
    assert ann.heads == ("ann", "she", "she")
    assert ann.contexts == (SENTENCE_START, SENTENCE_START, SENTENCE_START)
    assert (cup.starts, cup.last, cup.sentence, cup.rank) == ((3, 8), 8, 1, 3)
    assert later.by_recency == [0, 1]
    assert extract_contexts(story, [13, 0]) == [later, first]


def test_the_answer_is_the_number_of_the_true_candidate_or_of_a_new_one() -> None:
    story = make_tea_story(0)
    first, again = extract_contexts(story, [0, 5])
    assert (first.find_answer(story), again.find_answer(story)) == (0, again.entities.index("ann"))
    assert first.find_answer(story) == len(first.candidates)


def test_after_a_full_stop_a_new_sentence_begins() -> None:
    story = make_tea_story(0)
    (end,) = extract_contexts(story, [len(story)])
    assert (end.sentence, end.offset, end.before) == (4, 0, ())


@pytest.mark.parametrize(
    ("word", "expected"),
    [("Tires", "tire"), ("berries", "berry"), ("glass", "glass"), ("bus", "bus"), ("his", "his"), ("I", "i")],
)
def test_stems(word: str, expected: str) -> None:
    assert stem(word) == expected
