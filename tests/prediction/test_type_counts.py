"""Counts of types in contexts, which leave out the story that is measured."""

import numpy as np

from entitynlm.prediction.contexts import extract_contexts
from entitynlm.prediction.loglinear import BACK_OFF_LEVELS, ScenarioClassifier, TypeCounts, collect_verbs
from entitynlm.text.document import Document
from support.tea_stories import make_tea_story


def count_all(stories: list[Document]) -> TypeCounts:
    return TypeCounts(stories, [[mention.start for mention in story.mentions] for story in stories])


def test_counts_leave_out_the_story_that_is_measured() -> None:
    stories = [make_tea_story(number) for number in range(9)]
    whole, story = count_all(stories), stories[4]
    others = count_all([other for other in stories if other is not story])
    others.scenarios = whole.scenarios
    contexts = extract_contexts(story, [mention.start for mention in story.mentions])
    measured = whole.measure(story, contexts)
    for left_out, never_seen, context in zip(
        measured, others.measure(story, contexts), contexts, strict=True
    ):
        np.testing.assert_allclose(left_out, never_seen, atol=1e-4)
        assert left_out.shape == (2, len(context.candidates) + 1, len(BACK_OFF_LEVELS))
    seen = whole.measure(make_tea_story(4), contexts)  # equal, but not the story that was counted
    assert not np.allclose(seen[-1], measured[-1])


def test_only_the_mentions_that_are_named_are_counted() -> None:
    stories = [make_tea_story(number) for number in range(4)]
    things = [[mention.start for mention in story.mentions if mention.entity != "ann"] for story in stories]
    made = TypeCounts(stories, things)
    person, vessel = made.counts["0",].reshape(2, 2).sum(axis=0)
    assert (person, vessel) == (0, 16)
    assert ("head", "", "ann") in made.counts


def test_keys_are_found_in_the_words_before() -> None:
    counts = count_all([make_tea_story(number) for number in range(4)])
    first, later = extract_contexts(make_tea_story(0), [0, 13])
    assert counts.make_keys(later, "tea")[-1] == ("6", "tea", "she", "took", "the")
    assert counts.make_keys(first, "tea")[-1] == ("6", "tea", "", "", "<s>")


def test_verbs_are_learned_from_tags() -> None:
    assert collect_verbs([make_tea_story(number) for number in range(8)]) == {"took", "saw"}


def test_scenarios_are_learned_from_training_stories_and_found_by_words() -> None:
    garden = Document("g_1", ("trees", "grow"), meta={"scenario": "garden"})
    home = Document("h_1", ("cups", "break"), meta={"scenario": "home"})
    classifier = ScenarioClassifier([garden] * 3 + [home] * 3)
    assert classifier.classify(Document("x", ("cups", "grow")), [1]) == ["home"]
    assert classifier.classify(Document("x", ("trees", "break")), [1, 2, 9])[0] == "garden"
