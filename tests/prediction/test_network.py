"""What the choosers of entities look at: situations, stems, verbs, scenarios, and statistics that leave a story out."""

from __future__ import annotations

import numpy as np
import pytest

from entitynlm.prediction.contexts import START, extract_contexts, stem
from entitynlm.prediction.features import NUMBER_OF_BUCKETS, SIZE, extract_features, extract_shallow_features
from entitynlm.prediction.loglinear import fit_weights
from entitynlm.prediction.network.candidate_rates import WIDTH, RateTable
from entitynlm.prediction.network.context_counts import SHOWN, ContextCounts
from entitynlm.prediction.network.expectations import Expectations
from entitynlm.prediction.network.facts import gather_facts
from entitynlm.prediction.network.inputs import Numberer, Words, join_slots
from entitynlm.prediction.network.scenarios import ScenarioClassifier, collect_verbs, find_verb
from entitynlm.text.document import Document, Mention

THINGS = ("cup", "pot", "jar")


def make_story(number: int) -> Document:
    """Four sentences "ann took the cup ."; who took what goes round."""
    tokens: list[str] = []
    sentences, mentions, tags = [], [], []
    for line in range(4):
        start = len(tokens)
        thing = THINGS[(number + line // 2 * (number + 1)) % 3]
        mentions += [Mention(start, start + 1, "ann"), Mention(start + 3, start + 4, thing)]
        tokens += ["ann" if line == 0 else "she", ("took", "saw")[(number + line) % 2], "the", thing, "."]
        tags += ["NN", "VBD", "DT", "NN", "."]
        sentences.append((start, len(tokens)))
    types = {m.entity: "person" if m.entity == "ann" else "vessel" for m in mentions}
    return Document(
        f"tea_{number}", tuple(tokens), tuple(sentences), tuple(mentions), types,
        columns={"pos": tuple(tags)}, meta={"scenario": ("tea", "soup")[number % 2]},
    )  # fmt: skip


def test_a_situation_holds_what_is_before_and_nothing_else() -> None:
    story = make_story(0)
    first, later = extract_contexts(story, [0, 13])
    assert (first.candidates, first.before, first.latest, first.offset) == ((), (), "", 0)
    assert later.before == ("she", "took", "the")
    assert later.latest == "she"
    ann, cup = later.candidates
    assert ann.heads == ("ann", "she", "she")
    assert ann.contexts == (START, START, START)
    assert (cup.starts, cup.last, cup.sentence, cup.rank) == ((3, 8), 8, 1, 3)
    assert extract_contexts(story, [13, 0]) == [later, first]


def test_after_a_full_stop_a_new_sentence_begins() -> None:
    story = make_story(0)
    (end,) = extract_contexts(story, [len(story)])
    assert (end.sentence, end.offset, end.before) == (4, 0, ())


@pytest.mark.parametrize(
    ("word", "expected"),
    [("Tires", "tire"), ("berries", "berry"), ("glass", "glass"), ("bus", "bus"), ("his", "his"), ("I", "i")],
)
def test_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_verbs_and_scenarios_are_learned_from_training_stories_and_found_by_words() -> None:
    stories = [make_story(number) for number in range(8)]
    verbs = collect_verbs(stories)
    assert verbs == {"took", "saw"}
    assert find_verb(["she", "took", "the"], verbs) == "took"
    assert find_verb(["the"], verbs) == ""
    garden = Document("g_1", ("trees", "grow"), meta={"scenario": "garden"})
    home = Document("h_1", ("cups", "break"), meta={"scenario": "home"})
    guesser = ScenarioClassifier.fit([garden] * 3 + [home] * 3)
    assert guesser.guess(Document("x", ("cups", "grow")), [1]) == ["home"]
    assert guesser.guess(Document("x", ("trees", "break")), [1, 2, 9])[0] == "garden"


def test_statistics_leave_the_story_out_that_they_are_asked_about() -> None:
    stories = [make_story(number) for number in range(9)]
    whole = ContextCounts.fit(stories)
    story = stories[4]
    others = ContextCounts.fit([other for other in stories if other is not story])
    others.guesser = whole.guesser
    situations = extract_contexts(story, [mention.start for mention in story.mentions])
    for left_out, never_seen in zip(
        whole.measure(story, situations), others.measure(story, situations), strict=True
    ):
        for name in ("words", "types", "kinds", "probabilities", "presences"):
            np.testing.assert_allclose(getattr(left_out, name), getattr(never_seen, name), atol=1e-4)


def test_rates_leave_the_story_out_that_they_are_asked_about() -> None:
    stories = [make_story(number) for number in range(9)]
    questions = [(story, [mention.start for mention in story.mentions]) for story in stories]
    statistics = ContextCounts.fit(stories)
    whole = RateTable.fit(questions, statistics)
    story, positions = questions[4]
    others = RateTable.fit(questions[:4] + questions[5:], statistics)
    others.inventory = whole.inventory
    situations = extract_contexts(story, positions)
    facts = [
        whole.gather(*pair) for pair in zip(situations, statistics.measure(story, situations), strict=True)
    ]
    measured = whole.measure(story, situations, facts)
    for left_out, never_seen, situation in zip(
        measured, others.measure(story, situations, facts), situations, strict=True
    ):
        np.testing.assert_allclose(left_out, never_seen, atol=1e-5)
        assert left_out.shape == (len(situation.candidates) + 1, WIDTH)
    seen = whole.measure(make_story(4), situations, facts)  # equal, but not the story that was counted
    assert not np.allclose(np.concatenate(seen), np.concatenate(measured))


def test_rates_are_shares_of_those_who_were_there() -> None:
    stories = [make_story(number) for number in range(9)]
    questions = [(story, [mention.start for mention in story.mentions]) for story in stories]
    table = RateTable.fit(questions, ContextCounts.fit(stories))
    assert all(0 <= table.chosen[key] <= count for key, count in table.there.items())
    both = ("tea", "soup")  # scenarios are guessed from words, so a story may count for the other one
    assert sum(table.there["Na", name] for name in both) == sum(len(story.mentions) for story in stories)
    assert sum(table.chosen["Na", name] for name in both) == sum(len(story.entities) for story in stories)
    assert sum(table.chosen["a", name, "person"] for name in both) == 3 * len(
        stories
    )  # ann is "she" three times


def test_facts_are_found_in_the_words_before() -> None:
    tokens = ("ann", "took", "a", "cup", ".", "she", "put", "the", "tea", "in", "the", "cup", ".")
    names = ("ann", "cup", "ann", "tea", "cup")
    mentions = tuple(Mention(i, i + 1, name) for i, name in zip((0, 3, 5, 8, 11), names, strict=True))
    story = Document("x", tokens, ((0, 5), (5, 13)), mentions)
    (situation,) = extract_contexts(story, [11])
    facts = gather_facts(
        situation, "tea", np.eye(3), ("person", "vessel", "drink"), frozenset({"took", "put"})
    )
    assert facts.words == ("the", "in", "tea")
    assert (facts.verb, facts.earlier, facts.link, facts.determiner) == ("put", "took", "in", "the")
    assert facts.types == ("person", "vessel", "drink")
    assert (facts.latest, facts.second, facts.after) == ("drink", "person", "drink")


def test_slots_are_picked_and_joined_without_mixing_their_pairs() -> None:
    stories = [make_story(number) for number in range(6)]
    questions = [(story, [mention.start for mention in story.mentions]) for story in stories]
    numberer = Numberer(Words.collect(stories), Expectations.fit(questions))
    parts = [numberer.number(story, positions, learn=True)[0] for story, positions in questions]
    joined = join_slots(parts)
    assert len(joined) == sum(map(len, parts))
    size = len(parts[0])
    again = joined.pick(np.arange(size, size + len(parts[1])))
    for name in ("nearest", "recent", "bounds", "features", "heads", "beliefs", "answers", "outcomes"):
        np.testing.assert_array_equal(getattr(again, name), getattr(parts[1], name))
    back = joined.pick(np.array([9, 2]))
    assert back.answers[1] - back.bounds[1] == parts[0].answers[2] - parts[0].bounds[2]


def test_statistics_count_only_the_mentions_that_they_are_told_to() -> None:
    stories = [make_story(number) for number in range(4)]
    things = [[mention.start for mention in story.mentions if mention.entity != "ann"] for story in stories]
    made = ContextCounts.fit(stories, things)
    assert set(made.words["",]) == {"cup", "pot", "jar"}
    assert ("", "ann") in made.heads


def test_statistics_are_stored_and_read_back() -> None:
    stories = [make_story(number) for number in range(6)]
    made = ContextCounts.fit(stories)
    again = ContextCounts.from_dict(made.to_dict())
    story = make_story(7)
    situations = extract_contexts(story, [8, 13])
    for first, second in zip(made.measure(story, situations), again.measure(story, situations), strict=True):
        np.testing.assert_array_equal(first.words, second.words)
        np.testing.assert_array_equal(first.types, second.types)
        assert first.words.shape == (len(situations[0].candidates) + 1, len(SHOWN))


def test_measures_have_a_row_for_each_candidate_and_one_for_a_new_entity() -> None:
    story = make_story(1)
    for situation in extract_contexts(story, [0, 13, len(story)]):
        measured = extract_features(situation)
        assert measured.shape == (len(situation.candidates) + 1, SIZE)
        assert np.isfinite(measured).all()
        shallow = extract_shallow_features(situation)
        assert (shallow[:-1].sum(axis=1) == 4).all()  # one bucket of each quantity
        assert shallow[-1].sum() == 1
        new = measured[:, NUMBER_OF_BUCKETS]
        assert new.tolist() == [0] * len(situation.candidates) + [1]


def test_fitted_weights_recover_frequencies() -> None:
    rows = np.eye(2)
    answers = [0] * 30 + [1] * 10
    weights = fit_weights([rows] * 40, answers, penalty=0)
    probability = 1 / (1 + np.exp(weights[1] - weights[0]))
    assert probability == pytest.approx(0.75, abs=1e-3)
