"""Descriptors of slots: verbs, scenarios, words and types."""

from __future__ import annotations

from entitynlm.prediction.contexts import extract_contexts
from entitynlm.prediction.network.descriptors import (
    ScenarioClassifier,
    collect_verbs,
    describe_candidate,
    describe_context,
)
from entitynlm.text.document import Document, Mention
from support.tea_stories import make_tea_story


def test_verbs_are_learned_from_tags() -> None:
    assert collect_verbs([make_tea_story(number) for number in range(8)]) == {"took", "saw"}


def test_scenarios_are_learned_from_training_stories_and_found_by_words() -> None:
    garden = Document("g_1", ("trees", "grow"), meta={"scenario": "garden"})
    home = Document("h_1", ("cups", "break"), meta={"scenario": "home"})
    classifier = ScenarioClassifier.fit([garden] * 3 + [home] * 3)
    assert classifier.classify(Document("x", ("cups", "grow")), [1]) == ["home"]
    assert classifier.classify(Document("x", ("trees", "break")), [1, 2, 9])[0] == "garden"
    assert ScenarioClassifier({}).classify(garden, [0, 1]) == ["", ""]


def test_descriptors_are_found_in_the_words_before() -> None:
    tokens = ("ann", "took", "a", "cup", ".", "she", "put", "the", "tea", "in", "the", "cup", ".")
    names = ("ann", "cup", "ann", "tea", "cup")
    mentions = tuple(Mention(i, i + 1, name) for i, name in zip((0, 3, 5, 8, 11), names, strict=True))
    story = Document("x", tokens, ((0, 5), (5, 13)), mentions)
    (context,) = extract_contexts(story, [11])
    found = describe_context(context, "tea", frozenset({"took", "put"}), ("person", "vessel", "drink"))
    assert (found["word1"], found["word2"], found["word3"]) == ("the", "in", "tea")
    assert (found["verb"], found["earlier_verb"]) == ("put", "took")
    assert (found["link"], found["determiner"]) == ("in", "the")
    assert (found["latest_type"], found["second_latest_type"]) == ("drink", "person")
    assert found["type_since_verb"] == "drink"
    own = describe_candidate(context, context.candidates[1], "vessel")
    assert (own["type"], own["head"], own["word_before"], own["distance"]) == ("vessel", "cup", "a", "1")


def test_without_a_verb_or_types_their_descriptors_are_empty() -> None:
    (context,) = extract_contexts(make_tea_story(0), [8])
    found = describe_context(context, "", frozenset())
    assert (found["verb"], found["latest_type"], found["type_since_verb"]) == ("", "", "")
