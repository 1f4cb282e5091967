"""Results of a model: pickled, copied, compared, shown on one line, as plain data."""

import copy
import json
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

import entitynlm
from entitynlm.api import Choice, Surprisal
from entitynlm.errors import DataError
from entitynlm.lm.items import ItemTable
from entitynlm.results import Result

TEXT = "Ann saw Bo. She ran."


@pytest.fixture(scope="module")
def results(model: Path) -> list[Result]:
    loaded = entitynlm.load(model)
    cast, trace = (
        loaded.characters(TEXT, least=1),
        loaded.surprisal(loaded.annotate(TEXT), samples=3, repeats=1).trace,
    )
    assert trace is not None and len(trace.after) == len(trace.referents) > 0
    return [
        loaded.surprisal(TEXT, samples=3, repeats=1),
        loaded.surprisal("Bo ran.", samples=3, repeats=1),
        loaded.surprisal(TEXT, samples=3, repeats=1, top_words=2),
        loaded.log_prob(loaded.annotate(TEXT)),
        loaded.next_entity(TEXT),
        loaded.follow(loaded.annotate(TEXT), by="mentions").expect(4),
        cast,
        cast.characters[0],
        trace,
    ]


def test_results_are_pickled_copied_and_compared(results: list[Result]) -> None:
    for result in results:
        assert pickle.loads(pickle.dumps(result)) == result
        assert copy.deepcopy(result) == result and copy.copy(result) == result
    assert results[0] != results[1] and results[0] != results[2]


def test_results_are_plain_data_and_one_line(results: list[Result]) -> None:
    for result in results:
        assert "\n" not in repr(result) and len(repr(result)) < 160
        assert json.loads(result.to_json()) == json.loads(json.dumps(result.to_dict()))
        for again in (type(result).from_dict(result.to_dict()), type(result).from_json(result.to_json())):
            assert again == result and again.to_json() == result.to_json()
    table = results[0].to_dict()
    assert [row["token"] for row in table["tokens"]][:3] == ["Ann", "saw", "Bo"]
    assert table["base"] == 2.0 and "trace" not in table


def test_what_plain_data_leaves_out_is_none_and_other_data_is_refused(results: list[Result]) -> None:
    again = Surprisal.from_dict(results[0].to_dict())
    assert (
        again.trace is None
        and again.total == results[0].total
        and again.to_pandas().equals(results[0].to_pandas())
    )
    for wrong in ({}, {"entities": 1, "probabilities": [], "best": ""}, []):
        with pytest.raises(DataError, match="plain data of a result"):
            Choice.from_dict(wrong)  # type: ignore[arg-type]


def test_tables_of_items_keep_columns_of_their_own(model: Path, tmp_path: Path) -> None:
    items, loaded = tmp_path / "items.tsv", entitynlm.load(model)
    lines = ("1\ta\tAnn saw Bo.\tShe | ran.\tx", "1\tb\tAnn saw Bo.\tBo | ran.\ty")
    items.write_text("\n".join(("item\tcondition\tcontext\ttarget\tverb class", *lines)))
    options: list[dict[str, Any]] = [{"top_words": 2}, {"rows": "mentions"}, {"compare": "condition"}]
    tables = [loaded.surprisal_of_items(items, samples=3, repeats=1, **own) for own in options]
    for table in tables:
        assert table.rows and table.rows[0].verb_class == ("" if table.about == "differences" else "x")
        for again in (pickle.loads(pickle.dumps(table)), ItemTable.from_json(table.to_json())):
            assert again == table and again.rows == table.rows and again.to_pandas().equals(table.to_pandas())
    assert tables[0] != tables[1] and "top_2" in tables[0].to_pandas()
    assert repr(tables[0]) == "<ItemTable: about='tokens', top_words=2, 1 kept, 4 rows>"
    with pytest.raises(DataError, match="plain data of a result"):
        ItemTable.from_dict({})


def test_documents_go_through_a_process_pool(model: Path) -> None:
    document = entitynlm.load(model).annotate(TEXT)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert pool.submit(len, document).result() == len(document)
