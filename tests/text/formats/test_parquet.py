"""Parquet: rows are documents, and other tables are refused with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from entitynlm.errors import DataError
from entitynlm.text.formats.registry import read_documents

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("parquet") / "news.parquet"
    texts = [f"Ann saw Bo {number}. She ran." for number in range(1000)]
    columns = {"id": [f"d{number}" for number in range(1000)], "text": texts, "other": list(range(1000))}
    parquet.write_table(pyarrow.table(columns), path, row_group_size=150)
    return path


def test_a_row_is_a_document(table: Path) -> None:
    documents = list(read_documents(table))
    assert len(documents) == 1000
    assert documents[7].id == "d7" and documents[7].tokens[:5] == ("Ann", "saw", "Bo", "7", ".")


def test_words_and_clusters_are_read_as_those_of_json_lines(tmp_path: Path) -> None:
    columns = {
        "doc_key": ["a"],
        "sentences": [[["Ann", "ran"], ["She", "slept"]]],
        "clusters": [[[[0, 0], [2, 2]]]],
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    (document,) = read_documents(tmp_path / "a.parquet")
    assert document.clusters == (((0, 1), (2, 3)),) and len(document.sentences) == 2


def test_other_tables_and_damaged_ones(tmp_path: Path, table: Path) -> None:
    parquet.write_table(pyarrow.table({"title": ["a"], "body": ["b"]}), tmp_path / "other.parquet")
    with pytest.raises(DataError, match="no column has words; found 'title, body'; expected a column text"):
        list(read_documents(tmp_path / "other.parquet"))
    (tmp_path / "cut.parquet").write_bytes(table.read_bytes()[:-100])
    with pytest.raises(DataError, match=r"cut\.parquet: this is not a Parquet file, or a damaged one"):
        list(read_documents(tmp_path / "cut.parquet"))
    with pytest.raises(DataError, match=r"x\.parquet:1: the document has no words"):
        parquet.write_table(
            pyarrow.table({"text": pyarrow.array([None], pyarrow.string())}), tmp_path / "x.parquet"
        )
        list(read_documents(tmp_path / "x.parquet"))
