"""Rows of Table 3: none sees anything of what it predicts, and the figures are those promised."""

import json
from pathlib import Path

import numpy as np
import pytest

from entitynlm.errors import ConfigError
from entitynlm.experiments.table import load_packaged_settings
from entitynlm.experiments.table3_entity_prediction import EntityPrediction, Predictors, choose_rows
from entitynlm.prediction.choices import NEW, Chooser
from entitynlm.prediction.evaluation import (
    compare_rows,
    count_shares,
    describe_table,
    find_majority,
    measure_people,
    measure_row,
)
from entitynlm.prediction.slots import collect_slots, find_similar_slots, read_guesses
from entitynlm.text.corpora import open_corpus
from entitynlm.training.settings import load_settings
from support.small_bundles import make_bundle
from support.small_stories import make_stories, make_story, scramble

ROWS = ("always-new", "shallow", "modi", "entitynlm", "ours")


@pytest.fixture(scope="module")
def predictors(short_training: None) -> Predictors:
    pretrained, _ = make_bundle()
    stories = [find_similar_slots(story) for story in make_stories(4, first=100)]
    documents = {"train": make_stories(30), "dev": make_stories(6, first=50)}
    return Predictors(EntityPrediction(documents, stories), pretrained)


@pytest.fixture(scope="module")
def choosers(predictors: Predictors) -> dict[str, Chooser]:
    return {name: predictors.make(name) for name in ROWS}


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
    accuracy = {
        name: measure_row(name, choosers[name], predictors.experiment.stories).accuracy for name in ROWS
    }
    assert accuracy["shallow"] > accuracy["always-new"]
    assert accuracy["modi"] > accuracy["always-new"]
    assert accuracy["ours"] > accuracy["always-new"]


def test_the_configuration_files_say_what_the_defaults_are() -> None:
    folder = Path(__file__).parents[2] / "configs"
    assert load_settings(folder / "paper-inscript.toml") == load_settings(
        None, load_packaged_settings("inscript")
    )


def test_the_ensemble_mixes_our_network_and_entitynlm(predictors: Predictors) -> None:
    mixed, ours, entitynlm = map(predictors.measure, ("ensemble", "ours", "entitynlm"))
    shares = [np.log([*(row.answers[3].choice.probabilities for row in (ours, entitynlm))])]
    found = np.log(mixed.answers[3].choice.probabilities)
    candidates = [np.average(shares[0], axis=0, weights=(1 - w / 10, w / 10)) for w in range(11)]
    centred = [candidate - np.log(np.exp(candidate).sum()) for candidate in candidates]
    assert min(np.abs(found - candidate).max() for candidate in centred) < 1e-6
    assert predictors.measure("ensemble") is mixed


def test_the_majority_of_people_comes_first_and_is_mapped_then() -> None:
    assert find_majority(["a", "x", "x", "y"], ["a"]) == NEW
    assert find_majority(["x", "a", "y", "a", "x"], ["a"]) == NEW  # of equals the one that stands first
    assert count_shares(["a", "x", "a", "y"], ["a", "b"]).tolist() == [0.5, 0, 0.5]


def test_the_table_has_the_promised_shape(predictors: Predictors, choosers: dict[str, Chooser]) -> None:
    rows = [
        measure_row(name, choosers[name], predictors.experiment.stories) for name in ("always-new", "shallow")
    ]
    table = describe_table(rows)
    assert table["slots"] == sum(len(slotted.slots) for slotted in predictors.experiment.stories)
    assert set(table["rows"]) == {"always-new", "shallow"}
    found = table["rows"]["shallow"]
    assert set(found["breakdown"]) == {"newness", "form"}
    assert found["interval"][0] <= found["accuracy"] <= found["interval"][1]
    ((first, second, comparison),) = compare_rows(rows)
    assert (first, second) == ("always-new", "shallow")
    assert comparison.difference == pytest.approx(rows[1].accuracy - rows[0].accuracy)
    assert json.dumps(table)


def test_rows_are_chosen_by_name() -> None:
    assert choose_rows(["human", "always-new"], model=False, human=True) == ["always-new", "human"]
    assert choose_rows([], model=False, human=False) == ["always-new", "shallow", "modi"]
    with pytest.raises(ConfigError, match="--model"):
        Predictors(EntityPrediction({}, [])).make("entitynlm")
    with pytest.raises(ConfigError, match="training stories"):
        Predictors(EntityPrediction({}, [])).make("modi")


@pytest.mark.corpora
def test_inscript_slots_and_simple_rows_are_near_the_papers(corpora_path: Path) -> None:
    corpus = open_corpus(corpora_path / "inscript")
    test = list(corpus.documents("test"))
    stories = collect_slots(test, read_guesses(corpora_path / "inscript" / "humanPredictions.json"))
    assert sum(len(slotted.slots) for slotted in stories) == 3327
    predictors = Predictors(EntityPrediction({"train": list(corpus.documents("train"))}, stories))
    assert round(predictors.measure("always-new").accuracy, 2) == 31.08
    assert abs(predictors.measure("shallow").accuracy - 45.34) < 3
    assert round(measure_people(stories).accuracy, 2) == 77.34
