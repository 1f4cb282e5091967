"""Shards: together they are the input, whatever their size, and they are known again by their bytes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces.batch import job as job_module
from entitynlm.interfaces.batch import shards as shards_module
from entitynlm.interfaces.batch.job import Failure, Record, Worker, group_documents
from entitynlm.interfaces.batch.shards import Limits, Shard, plan_shards
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import read_documents, write_documents
from support.batch_jobs import write_corpus

LINES = [{"id": f"d{number}", "text": f"Ann ran {number}. Bo slept."} for number in range(23)]


def write_lines(path: Path) -> Path:
    text = "".join(json.dumps(line) + "\n" * (1 + number % 3) for number, line in enumerate(LINES))
    path.write_text("\ufeff" + text.rstrip("\n"), encoding="utf-8")
    return path


def read_all(shards: list[Shard], format: str | None = None) -> tuple[list[Document], list[Failure]]:
    worker = Worker(None, Path(), format)  # type: ignore[arg-type]
    documents = [d for shard in shards for _, d in worker._read(shard, Record(shard.name, [], ""))]
    return documents, worker.failures


@pytest.mark.parametrize("limits", [Limits(1), Limits(5), Limits(1000), Limits(1000, 200), Limits(4, 90)])
def test_json_lines_are_cut_between_documents(tmp_path: Path, limits: Limits) -> None:
    path = write_lines(tmp_path / "news.jsonl")
    shards = plan_shards([str(path)], limits)
    documents, failures = read_all(shards)
    assert documents == list(read_documents(path)) and not failures
    assert sum(shard.documents for shard in shards) == len(LINES)
    assert all(shard.documents <= limits.documents for shard in shards)
    assert len({shard.name for shard in shards}) == len(shards)
    assert plan_shards([str(path)], limits) == shards


@pytest.mark.parametrize("rows", [1, 4, 7, 1000])
def test_parquet_is_cut_between_rows(tmp_path: Path, rows: int) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "news.parquet"
    parquet.write_table(pyarrow.Table.from_pylist(LINES), path, row_group_size=5)
    shards = plan_shards([str(path)], Limits(rows))
    assert read_all(shards) == (list(read_documents(path)), [])
    assert [shard.documents for shard in shards[:-1]] == [rows] * ((len(LINES) - 1) // rows)


def test_documents_without_a_name_are_called_as_in_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_text('{"text": "Ann ran."}\n\n' * 5, encoding="utf-8")
    documents, _ = read_all(plan_shards([str(path)], Limits(2)))
    assert [document.id for document in documents] == [f"news#{number}" for number in range(1, 6)]


def test_a_folder(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "in")
    (corpus / ".hidden").write_text("Ann ran.")
    (corpus / "book.txt").write_text("Ann ran. " * 100, encoding="utf-8")
    (corpus / "packed.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Ann ran."}\n' * 30))
    (corpus / "gone.txt").symlink_to(corpus / "nowhere.txt")
    shards = plan_shards([str(corpus)], Limits(5, 600))
    assert [(shard.name, len(shard.ranges)) for shard in shards] == [
        ("news-00000", 1), ("news-00001", 1), ("news-00002", 1),
        *((f"packed-{number:05d}", 1) for number in range(6)), ("book", 1), ("texts-00001", 5), ("texts-00002", 2),
    ]  # fmt: skip
    documents, failures = read_all(shards)
    assert len(documents) == 12 + 30 + 1 + 4
    assert {(failure.id, failure.line) for failure in failures} == {
        ("wordless", 4), ("news#4", 5), ("latin.txt", 1), ("gone.txt", None),
    }  # fmt: skip
    assert all(failure.reason and str(tmp_path) not in failure.reason for failure in failures)


def test_a_shard_is_known_by_its_bytes_and_its_place(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "news.jsonl")
    before = plan_shards([str(path)], Limits(5))
    text = path.read_text(encoding="utf-8").replace("Ann ran 7", "Bob ran 7")
    path.write_text(text, encoding="utf-8")
    after = plan_shards([str(path)], Limits(5))
    assert [a.digest == b.digest for a, b in zip(before, after, strict=True)] == [
        True,
        False,
        True,
        True,
        True,
    ]
    path.write_text("\n" + text, encoding="utf-8")  # numbers of lines change, and failures name them
    assert not {shard.digest for shard in after} & {s.digest for s in plan_shards([str(path)], Limits(5))}


def test_brat_texts_are_read_with_their_annotation(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ann ran.")
    (tmp_path / "a.ann").write_text("T1\tPerson 0 3\tAnn\n")
    (shard,) = plan_shards([str(tmp_path)], Limits())
    (document,) = read_all([shard])[0]
    assert len(document.mentions) == 1
    write_documents([document], tmp_path / "ours", "brat")
    assert {path.suffix for path in (tmp_path / "ours").iterdir()} == {".ann", ".txt", ".tokens", ".conf"}
    assert [each.name for each in plan_shards([str(tmp_path / "ours")], Limits())] == ["a"]
    (tmp_path / "a.txt").write_text("Ann sat.")
    assert plan_shards([str(tmp_path)], Limits())[0].digest != shard.digest


def test_a_line_too_long_for_memory_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (shards_module, job_module):
        monkeypatch.setattr(module, "LONGEST_LINE", 100)
    path = tmp_path / "news.jsonl"
    lines = [json.dumps(line) for line in LINES[:4]]
    lines[1] = json.dumps({"text": "Ann ran. " * 100})
    path.write_text("\n".join(lines), encoding="utf-8")
    for limits in (Limits(), Limits(1), Limits(10, 50)):
        documents, failures = read_all(plan_shards([str(path)], limits))
        assert [document.id for document in documents] == ["d0", "d2", "d3"]
        assert [(failure.line, failure.reason[:9]) for failure in failures] == [(2, "this line")]


def test_damaged_and_empty_files(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "none.jsonl").write_bytes(b"")
    (tmp_path / "picture.bin").write_bytes(b"\x89PNG\0\1\2")
    documents, failures = read_all(plan_shards([str(tmp_path)], Limits()))
    assert documents == []
    assert [failure.file for failure in failures] == ["cut.parquet", "picture.bin"]


def test_wrong_inputs(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file in this folder"):
        plan_shards([str(tmp_path)], Limits())
    with pytest.raises(ConfigError, match="more than once"):
        plan_shards(["-"], Limits())
    (tmp_path / "a.txt").write_text("Ann ran.")
    with pytest.raises(DataError, match="one folder"):
        plan_shards([str(tmp_path)], Limits(), apart_from=tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.txt").write_text("Bo ran.")
    (shard,) = plan_shards([str(tmp_path)], Limits(), apart_from=tmp_path / "out")
    assert [one.name for one in shard.ranges] == ["a.txt"]


def test_a_format_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_text('{"tokens": ["Ann", "ran"], "gold": [[[0, 1]]]}\n', encoding="utf-8")
    documents, _ = read_all(plan_shards([str(path)], Limits()), "jsonl:clusters=gold,spans=exclusive")
    assert documents[0].clusters == (((0, 1),),)
    assert plan_shards([str(path)], Limits(), format="text")[0].ranges[0].stop is None


def test_groups_are_bounded() -> None:
    documents = [Document(str(size), ("Ann",) * size) for size in (1, 1, 1, 5, 1, 2, 3, 1)]
    groups = list(group_documents(((None, each) for each in documents), most=2, tokens=4))  # type: ignore[misc]
    assert [[len(document) for _, document in group] for group in groups] == [
        [1, 1],
        [1],
        [5],
        [1, 2],
        [3, 1],
    ]


def test_the_card_of_a_corpus_is_no_text(tmp_path: Path) -> None:
    """``data get stories`` leaves a corpus.json; other files of this name are read."""
    (tmp_path / "corpus.json").write_text('{\n "corpus": "stories (generated)"\n}\n', encoding="utf-8")
    (tmp_path / "dev.jsonl").write_text('{"id": "a", "text": "Ann ran."}\n', encoding="utf-8")
    assert [shard.name for shard in plan_shards([str(tmp_path)], Limits())] == ["dev"]
    (tmp_path / "corpus.json").write_text('{"id": "b", "text": "Bo ran."}\n', encoding="utf-8")
    assert [shard.name for shard in plan_shards([str(tmp_path)], Limits())] == ["corpus", "dev"]
