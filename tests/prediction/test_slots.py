"""Slots: those that people were asked about, and similar ones."""

import json
from pathlib import Path

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.experiments.table3_entity_prediction import EntityPrediction, Predictors
from entitynlm.prediction.evaluation import measure_people, measure_row
from entitynlm.prediction.slots import (
    SlottedStory,
    collect_slots,
    find_all_slots,
    find_human_slots,
    find_similar_slots,
    read_guesses,
)
from support.small_stories import make_story


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
    assert measure_people([slotted]).accuracy == 100
    path.write_text('{"a": 3}')
    with pytest.raises(DataError, match="guesses"):
        read_guesses(path)


def test_stories_without_slots_are_left_out() -> None:
    story = make_story(1, sentences=2)
    assert collect_slots([story], None) == []
    with pytest.raises(ConfigError, match="no slots"):
        measure_row("always-new", Predictors(EntityPrediction({}, [])).make("always-new"), [])
    assert isinstance(find_similar_slots(story), SlottedStory)
