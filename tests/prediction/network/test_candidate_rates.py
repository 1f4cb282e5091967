"""Selection rates, which leave out the story that they are asked about."""

from __future__ import annotations

import json

import numpy as np

from entitynlm.prediction.contexts import extract_contexts
from entitynlm.prediction.network.candidate_rates import WIDTH, CandidateRates
from entitynlm.prediction.network.context_counts import ContextCounts
from support.tea_stories import make_tea_slots, make_tea_story


def test_rates_leave_out_the_story_that_they_are_asked_about() -> None:
    stories = make_tea_slots(9)
    counts = ContextCounts.fit([story for story, _ in stories])
    whole = CandidateRates.fit(stories, counts)
    story, positions = stories[4]
    others = CandidateRates.fit(stories[:4] + stories[5:], counts)
    others.inventory = whole.inventory
    contexts = extract_contexts(story, positions)
    counted = counts.measure(story, contexts)
    measured = whole.measure(story, contexts, counted)
    for left_out, never_seen, context in zip(
        measured, others.measure(story, contexts, counted), contexts, strict=True
    ):
        np.testing.assert_allclose(left_out, never_seen, atol=1e-5)
        assert left_out.shape == (len(context.candidates) + 1, WIDTH)
    seen = whole.measure(make_tea_story(4), contexts, counted)  # equal, but not the story that was counted
    assert not np.allclose(np.concatenate(seen), np.concatenate(measured))


def test_rates_are_shares_of_the_times_that_a_candidate_was_available() -> None:
    slots = make_tea_slots(9)
    stories = [story for story, _ in slots]
    counts = CandidateRates.fit(slots, ContextCounts.fit(stories)).counts
    assert all(0 <= counts.chosen[key] <= count for key, count in counts.available.items())
    both = ("tea", "soup")  # scenarios are guessed from words, so a story may count for the other one
    assert sum(counts.available["Na", name] for name in both) == sum(len(story.mentions) for story in stories)
    assert sum(counts.chosen["Na", name] for name in both) == sum(len(story.entities) for story in stories)
    chosen = sum(counts.chosen["a", name, "person"] for name in both)
    assert chosen == 3 * len(stories)  # ann is "she" three times


def test_rates_are_stored_and_read_back() -> None:
    stories = make_tea_slots(9)
    counts = ContextCounts.fit([story for story, _ in stories])
    made = CandidateRates.fit(stories, counts)
    again = CandidateRates.from_dict(json.loads(json.dumps(made.to_dict())), counts)
    story = make_tea_story(10)
    contexts = extract_contexts(story, [8, 13])
    counted = counts.measure(story, contexts)
    for first, second in zip(
        made.measure(story, contexts, counted), again.measure(story, contexts, counted), strict=True
    ):
        np.testing.assert_array_equal(first, second)
