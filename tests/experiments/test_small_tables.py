"""The small tables: all three of one quick model and settings that the package carries."""

from __future__ import annotations

import pytest

from entitynlm.errors import DataError
from entitynlm.experiments.paper import CORPORA, TABLE_TITLES, load_packaged_settings
from entitynlm.experiments.small_tables import NEEDED_PARTS, Stories, measure_small_tables
from entitynlm.stories import generate_stories
from entitynlm.training.recipe import train_pretrained
from entitynlm.training.settings import load_settings


def test_one_model_makes_all_three_tables() -> None:
    train, development, test = (
        list(generate_stories(30, seed=2, split=split)) for split in ("train", "dev", "test")
    )
    stories = Stories("stories", train, development, test)
    sizes = {"model.hidden_size": 8, "model.embedding_size": 8, "training.epochs": 1}
    settings = load_settings(None, {**load_packaged_settings("quick"), **sizes})
    pretrained = train_pretrained(train, development, settings, parts=NEEDED_PARTS, seed=1)
    assert pretrained is not None
    told: list[str] = []
    tables = measure_small_tables(pretrained, stories, seed=1, say=told.append)
    assert list(tables) == ["lm", "coref", "entity"]
    assert told == list(TABLE_TITLES.values())
    assert {task: table.paper_corpus for task, table in tables.items()} == CORPORA
    assert [row.system for row in tables["lm"].rows] == ["5-gram", "RNNLM", "EntityNLM"]
    assert [row.paper for row in tables["coref"].rows] == [62.93, 64.0, 64.04, None]
    with pytest.raises(DataError, match="no test documents"):
        measure_small_tables(pretrained, Stories("stories", train, development, []))
