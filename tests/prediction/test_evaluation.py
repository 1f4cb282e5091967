"""Entity prediction: slots by the protocol, rows that see nothing of what they foresee, and the figures of the table."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from entitynlm.errors import ConfigError, DataError, ModelError
from entitynlm.experiments.paper import load_packaged_settings
from entitynlm.experiments.table3_entity_prediction import Predictors, TrainingStories, choose_rows
from entitynlm.inference.scoring import score_document
from entitynlm.interfaces.api import EntityNLM
from entitynlm.prediction.agreement import HumanChooser, count_shares, find_majority, measure_divergence
from entitynlm.prediction.choices import NEW, Chooser
from entitynlm.prediction.ensemble import CachedChooser, join_rows
from entitynlm.prediction.evaluation import compare_rows, describe_table, measure_row
from entitynlm.prediction.network.predictor import EntityPredictor, PredictorConfig, load_config
from entitynlm.prediction.network.training import PredictorTraining
from entitynlm.prediction.network_choice import NetworkChooser
from entitynlm.prediction.slots import (
    SlottedStory,
    collect_slots,
    find_all_slots,
    find_human_slots,
    find_similar_slots,
    read_guesses,
)
from entitynlm.text.corpora import open_corpus
from entitynlm.training.settings import load_settings
from support.small_bundles import make_bundle, make_documents
from support.small_stories import make_stories, make_story, scramble

ROWS = ("always-new", "shallow", "modi", "entitynlm", "ours", "ensemble")
TINY = PredictorConfig(
    hidden=8, match=4, scorer=8, embeddings="random", learning=PredictorTraining(epochs=3, batch_size=8)
)


@pytest.fixture(scope="module")
def predictors() -> Predictors:
    pretrained, _ = make_bundle()
    stories = [find_similar_slots(story) for story in make_stories(4, first=100)]
    training = TrainingStories(make_stories(30), make_stories(6, first=50))
    return Predictors(training, stories, pretrained, config=TINY)


@pytest.fixture(scope="module")
def choosers(predictors: Predictors) -> dict[str, Chooser]:
    return {name: predictors.get(name) for name in ROWS}


@pytest.mark.parametrize("name", ROWS)
def test_no_row_sees_anything_from_the_slot_on(choosers: dict[str, Chooser], name: str) -> None:
    for story in make_stories(3, first=100):
        positions = [mention.start for mention in story.mentions]
        choices = choosers[name].choose(story, positions)
        for position, choice in list(zip(positions, choices, strict=True))[::3]:
            for seed in range(2):
                (other,) = choosers[name].choose(scramble(story, position, seed=seed), [position])
                assert other.entities == choice.entities
                assert other.best == choice.best
                np.testing.assert_allclose(other.probabilities, choice.probabilities, atol=1e-6)


@pytest.mark.parametrize("name", ROWS)
def test_choices_are_distributions_over_the_entities_so_far_and_a_new_one(
    choosers: dict[str, Chooser], name: str
) -> None:
    story = make_story(100)
    positions = [*(mention.start for mention in story.mentions), len(story)]
    for position, choice in zip(positions, choosers[name].choose(story, positions), strict=True):
        seen = tuple(dict.fromkeys(m.entity for m in story.mentions if m.start < position))
        assert choice.entities == (*seen, NEW)
        assert sum(choice.probabilities) == pytest.approx(1)
        assert choice.ranked[0][1] == max(choice.probabilities)


def test_what_is_learned_is_better_than_always_new(
    predictors: Predictors, choosers: dict[str, Chooser]
) -> None:
    accuracy = {name: measure_row(name, choosers[name], predictors.stories).accuracy for name in ROWS}
    assert accuracy["shallow"] > accuracy["always-new"]
    assert accuracy["modi"] > accuracy["always-new"]
    assert accuracy["ours"] > accuracy["always-new"]


def test_the_network_is_asked_by_its_own_equation() -> None:
    pretrained, encoded = make_bundle(sigma=0.3)
    network = pretrained.get("generative")
    for document, numbers in zip(make_documents(), encoded, strict=True):
        starts = [mention.start for mention in document.mentions]
        choices = NetworkChooser(network, pretrained.encoder).choose(document, starts)
        scores = score_document(network, numbers, ()).e
        words = [t for t in range(len(numbers)) if numbers.origin[t] in set(starts)]
        seen: set[str] = set()
        for word, mention, choice in zip(words, document.mentions, choices, strict=True):
            truth = mention.entity if mention.entity in seen else NEW
            seen.add(mention.entity)
            assert np.log(choice.probability(truth)) == pytest.approx(scores[word], abs=1e-5)


def test_next_entity_at_the_end_equals_the_same_place_inside() -> None:
    pretrained, _ = make_bundle()
    model = EntityNLM(pretrained)
    document = make_documents()[0]
    place = document.mentions[2].start
    cut = replace(
        document,
        tokens=document.tokens[:place],
        sentences=document.sentences[:1],
        mentions=document.mentions[:2],
    )
    np.testing.assert_allclose(
        model.next_entity(cut).probabilities, model.next_entity(document, place).probabilities, atol=1e-6
    )
    with pytest.raises(ConfigError, match="tokens"):
        model.next_entity(cut, 99)


def test_a_typed_or_causal_network_is_not_asked() -> None:
    pretrained, _ = make_bundle()
    with pytest.raises(ConfigError, match="generative"):
        NetworkChooser(pretrained.get("causal"), pretrained.encoder)


def test_ours_is_stored_and_read_back(choosers: dict[str, Chooser], tmp_path: Path) -> None:
    assert isinstance(choosers["ours"], CachedChooser)
    ours = choosers["ours"].chooser
    assert isinstance(ours, EntityPredictor)
    ours.save(tmp_path)
    story = make_story(101)
    positions = [mention.start for mention in story.mentions]
    for first, second in zip(
        ours.choose(story, positions), EntityPredictor.load(tmp_path).choose(story, positions), strict=True
    ):
        np.testing.assert_allclose(first.probabilities, second.probabilities, atol=1e-6)
    (tmp_path / "predictor.json.gz").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="can't be read"):
        EntityPredictor.load(tmp_path)


def test_a_stored_one_is_not_taken_for_one_with_other_settings(
    predictors: Predictors, tmp_path: Path
) -> None:
    made = replace(predictors, folder=tmp_path, _made={})
    made.get("ours")
    for change in ({}, {"config": None, "seed": 2}):
        replace(made, _made={}, **change).get("ours")
    for change in ({"config": replace(TINY, hidden=9)}, {"seed": 2}):
        with pytest.raises(ConfigError, match="other settings or another seed"):
            replace(made, _made={}, **change).get("ours")


def test_the_configuration_files_say_what_the_defaults_are() -> None:
    folder = Path(__file__).parents[2] / "configs"
    assert load_config(folder / "ours-inscript.toml") == PredictorConfig()
    assert load_settings(folder / "paper-inscript.toml") == load_settings(
        None, load_packaged_settings("inscript")
    )


def test_joined_rows_are_the_mean_of_what_they_say(predictors: Predictors) -> None:
    rows = [measure_row(name, predictors.get(name), predictors.stories) for name in ("ours", "modi")]
    joined = join_rows("both", rows)
    for answer, first, second in zip(joined.answers, rows[0].answers, rows[1].answers, strict=True):
        means = np.sqrt(np.array(first.choice.probabilities) * second.choice.probabilities)
        np.testing.assert_allclose(answer.choice.probabilities, means / means.sum(), atol=1e-6)
        assert answer.truth == first.truth
    with pytest.raises(ConfigError):
        join_rows("none", [])


def test_similar_slots_start_in_the_third_sentence_and_leave_out_what_is_outside_of_the_script() -> None:
    story = make_story(3)
    slots = find_similar_slots(story, limit=None).slots
    assert min(story.sentence_of[slot.position] for slot in slots) == 2
    assert all(story.tokens[slot.position] not in ("garden", "library") for slot in slots)
    assert len(find_similar_slots(story, limit=2).slots) == 2
    assert find_all_slots(story).slots[0].is_new


def test_human_slots_ask_before_the_mentions_first_word(tmp_path: Path) -> None:
    story = make_story(2)
    path = tmp_path / "humanPredictions.json"
    label = story.mentions[0].entity
    path.write_text(
        json.dumps({story.id: {"2_1": {label: [label, "x", label]}, "1_1": {label: ["x", "y", "x"]}}})
    )
    slotted = find_human_slots(story, read_guesses(path))
    assert slotted.positions == [0, story.sentences[1][0]]
    assert [slot.is_new for slot in slotted.slots] == [True, False]
    row = measure_row("human", HumanChooser([slotted]), [slotted])
    assert row.accuracy == 100
    path.write_text('{"a": 3}')
    with pytest.raises(DataError, match="guesses"):
        read_guesses(path)


def test_the_majority_comes_first_and_is_mapped_then() -> None:
    assert find_majority(["a", "x", "x", "y"], ["a"]) == NEW
    assert find_majority(["x", "a", "y", "a", "x"], ["a"]) == NEW  # of equals the one that stands first
    assert count_shares(["a", "x", "a", "y"], ["a", "b"]).tolist() == [0.5, 0, 0.5]


def test_divergence_has_its_known_values() -> None:
    one, other = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    assert measure_divergence(one, one) == 0
    assert measure_divergence(one, other) == pytest.approx(1)


def test_the_table_has_the_promised_shape(predictors: Predictors, choosers: dict[str, Chooser]) -> None:
    rows = [measure_row(name, choosers[name], predictors.stories) for name in ("always-new", "shallow")]
    table = describe_table(rows)
    assert table["slots"] == sum(len(slotted.slots) for slotted in predictors.stories)
    assert set(table["rows"]) == {"always-new", "shallow"}
    found = table["rows"]["shallow"]
    assert set(found["breakdown"]) == {"newness", "distance", "candidates", "scenario", "form"}
    assert found["interval"][0] <= found["accuracy"] <= found["interval"][1]
    ((first, second, comparison),) = compare_rows(rows)
    assert (first, second) == ("always-new", "shallow")
    assert comparison.difference == pytest.approx(rows[1].accuracy - rows[0].accuracy)
    assert json.dumps(table)


def test_rows_are_chosen_by_name() -> None:
    assert choose_rows(["human", "always-new"], model=False, human=True) == ["always-new", "human"]
    assert choose_rows([], model=False, human=False) == ["always-new", "shallow", "modi"]
    with pytest.raises(ConfigError, match="there is no row"):
        choose_rows(["best"], model=True, human=True)
    with pytest.raises(ConfigError, match="--model"):
        Predictors(TrainingStories([], []), []).get("entitynlm")
    with pytest.raises(ConfigError, match="training stories"):
        Predictors(TrainingStories([], []), []).get("modi")


@pytest.mark.corpora
def test_inscript_slots_are_those_of_the_paper(corpora_path: Path) -> None:
    corpus = open_corpus(corpora_path / "inscript")
    test = list(corpus.documents("test"))
    stories = collect_slots(test, read_guesses(corpora_path / "inscript" / "humanPredictions.json"))
    assert sum(len(slotted.slots) for slotted in stories) == 3327
    new = measure_row("always-new", Predictors(TrainingStories([], []), stories).get("always-new"), stories)
    assert round(new.accuracy, 2) == 31.08
    assert round(measure_row("human", HumanChooser(stories), stories).accuracy, 2) == 77.34


@pytest.mark.corpora
def test_shallow_features_come_near_the_papers(corpora_path: Path) -> None:
    corpus = open_corpus(corpora_path / "inscript")
    stories = collect_slots(
        list(corpus.documents("test")), read_guesses(corpora_path / "inscript" / "humanPredictions.json")
    )
    predictors = Predictors(TrainingStories(list(corpus.documents("train")), []), stories)
    row = measure_row("shallow", predictors.get("shallow"), stories)
    assert abs(row.accuracy - 45.34) < 3


def test_stories_without_slots_are_left_out() -> None:
    story = make_story(1, sentences=2)
    assert collect_slots([story], None) == []
    with pytest.raises(ConfigError, match="no slots"):
        measure_row("always-new", Predictors(TrainingStories([], []), []).get("always-new"), [])
    assert isinstance(find_similar_slots(story), SlottedStory)
