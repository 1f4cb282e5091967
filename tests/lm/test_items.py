"""Experimental items: regions, equal rows for equal texts, differences with small errors, files of all kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entitynlm.errors import ConfigError, DataError
from entitynlm.lm.items import Item, compare_conditions, measure_items, read_items, split_regions
from entitynlm.lm.surprisal import measure_surprisal
from support.small_bundles import make_bundle

PRETRAINED, _ = make_bundle(std=0.8)
SAMPLING: dict[str, Any] = {"samples": 8, "repeats": 3}
WORDS = st.lists(st.sampled_from(["Ann", "saw", "Bo", "She", "ran", "Zeb"]), min_size=1, max_size=6)


@settings(max_examples=10, deadline=None)
@given(words=WORDS, others=WORDS)
def test_equal_items_have_equal_rows_whatever_stands_between(words: list[str], others: list[str]) -> None:
    same, other = split_regions(" ".join(words)), split_regions(" ".join(others))
    items = [Item("1", "", "", same), Item("2", "", "", other), Item("1", "", "", same)]
    first, _, last = measure_items(PRETRAINED, items, **SAMPLING)
    assert first.rows == last.rows


def test_regions_add_up_and_the_context_is_read() -> None:
    item = Item("1", "a", "Ann saw Bo.", ("She", "saw it ran"))
    (found,) = measure_items(PRETRAINED, [item], **SAMPLING)
    document, _ = item.make_document()
    tokens = measure_surprisal(PRETRAINED, document, mentions="sampled", **SAMPLING).tokens
    assert [row.token for row in tokens] == ["Ann", "saw", "Bo", ".", "She", "saw", "it", "ran"]
    assert found.rows[0].surprisal == tokens[4].surprisal and found.rows[0].error == pytest.approx(
        tokens[4].error
    )
    assert found.rows[1].surprisal == pytest.approx(sum(row.surprisal or 0 for row in tokens[5:]))
    assert [row.words for row in found.rows] == [1, 3]
    (alone,) = measure_items(PRETRAINED, [Item("1", "b", "", item.regions)], **SAMPLING)
    assert alone.rows[0].surprisal != found.rows[0].surprisal


def test_conditions_are_compared_within_items() -> None:
    items = [
        Item(str(number), condition, "", ("Ann saw", word))
        for number in (1, 2)
        for condition, word in (("a", "Bo"), ("b", "it"))
    ]
    rows = compare_conditions(list(measure_items(PRETRAINED, items, **SAMPLING)))
    assert [(row.item, row.region) for row in rows] == [
        (item, region) for item in ("1", "2", "mean") for region in (1, 2)
    ]
    assert {(row.condition, row.minus) for row in rows} == {("b", "a")}
    assert rows[0].difference == 0 and rows[0].error == 0  # the same words, the same random numbers
    assert rows[1].difference == rows[3].difference != 0
    assert rows[-1].difference == pytest.approx(rows[1].difference) and rows[-1].error == 0
    with pytest.raises(ConfigError, match="two conditions"):
        compare_conditions(list(measure_items(PRETRAINED, items[:1], **SAMPLING)))


def test_files_of_items(tmp_path: Path) -> None:
    plain, table = tmp_path / "items.txt", tmp_path / "items.csv"
    plain.write_text("Ann ran.\n\nBo | saw it.\n", encoding="utf-8")
    assert [item.regions for item in read_items(plain)] == [("Ann ran.",), ("Bo", "saw it.")]
    table.write_text("item,condition,context,target,list\n7,new,Ann ran.,She | saw.,A\n", encoding="utf-8")
    assert read_items(table) == [Item("7", "new", "Ann ran.", ("She", "saw."), {"list": "A"})]
    table.write_text("region1,region2\nAnn,ran\n", encoding="utf-8")
    assert read_items(table) == [Item("1", "", "", ("Ann", "ran"))]
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(DataError, match="target"):
        read_items(table)
    with pytest.raises(DataError, match="can't be read"):
        read_items(tmp_path / "nowhere.txt")
