"""Co-occurrence counts, which leave out the story that they are asked about."""

from __future__ import annotations

import json

import numpy as np

from entitynlm.prediction.contexts import extract_contexts
from entitynlm.prediction.network.context_counts import SHOWN, ContextCounts
from support.tea_stories import make_tea_story


def test_counts_leave_out_the_story_that_they_are_asked_about() -> None:
    stories = [make_tea_story(number) for number in range(9)]
    whole = ContextCounts.fit(stories)
    story = stories[4]
    others = ContextCounts.fit([other for other in stories if other is not story])
    others.scenarios = whole.scenarios
    contexts = extract_contexts(story, [mention.start for mention in story.mentions])
    for left_out, never_seen in zip(
        whole.measure(story, contexts), others.measure(story, contexts), strict=True
    ):
        np.testing.assert_allclose(left_out.log_probs, never_seen.log_probs, atol=1e-4)


def test_only_the_mentions_that_are_named_are_counted() -> None:
    stories = [make_tea_story(number) for number in range(4)]
    things = [[mention.start for mention in story.mentions if mention.entity != "ann"] for story in stories]
    made = ContextCounts.fit(stories, things)
    assert set(made.tables.words["",]) == {"cup", "pot", "jar"}
    assert ("", "ann") in made.tables.heads


def test_counts_are_stored_and_read_back() -> None:
    made = ContextCounts.fit([make_tea_story(number) for number in range(6)])
    again = ContextCounts.from_dict(json.loads(json.dumps(made.to_dict())))
    story = make_tea_story(7)
    contexts = extract_contexts(story, [8, 13])
    pairs = zip(made.measure(story, contexts), again.measure(story, contexts), strict=True)
    for context, (first, second) in zip(contexts, pairs, strict=True):
        np.testing.assert_array_equal(first.log_probs, second.log_probs)
        np.testing.assert_array_equal(first.type_probs, second.type_probs)
        assert first.log_probs.shape == (5, len(context.candidates) + 1, len(SHOWN))
