"""Table 3 for two seeds: baselines are fitted once, and tables have means and tests (rows themselves: tests/prediction)."""

from pathlib import Path

from entitynlm.experiments.runner import Runner
from entitynlm.experiments.table3_entity_prediction import EntityPrediction, describe
from entitynlm.prediction.slots import find_similar_slots
from entitynlm.training.settings import load_settings
from support.small_stories import make_stories


def test_rows_that_do_not_change_with_the_seed_are_made_once(tmp_path: Path) -> None:
    documents = {"train": make_stories(10), "dev": make_stories(3, first=50)}
    stories = [find_similar_slots(story) for story in make_stories(4, first=100)]
    runner, settings = Runner(tmp_path), load_settings(None)
    found = EntityPrediction(documents, stories, runner).reproduce(
        ["always-new", "shallow"], settings, (1, 2)
    )
    assert list(found) == [1, 2]
    assert found[1][1] is found[2][1]
    result = describe(found, corpus="stories", split="test", facts={"out": "here"})
    (table,) = result.tables
    assert table.columns == ("accuracy", "interval", "new", "old")
    assert [row.paper for row in table.rows] == [31.08, 45.34]
    assert any(remark.startswith("shallow against always-new") for remark in table.remarks)
    assert result.figures["out"] == "here" and result.figures["seeds"]["numbers"] == [1, 2]
