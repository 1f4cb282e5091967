"""Shards: cut in the same way every time, read as the whole file is, and a broken record fails alone."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces.batch.job import Shard, plan_shards, read_shard
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import read_documents
from support.batch_jobs import write_corpus

LINES = [{"id": f"d{number}", "text": f"Ann ran {number} times. She slept."} for number in range(23)]


def write_lines(path: Path) -> Path:
    text = "".join(json.dumps(line) + "\n" * (1 + number % 3) for number, line in enumerate(LINES))
    path.write_text("\ufeff" + text.rstrip("\n"), encoding="utf-8")
    return path


def read_all(shards: list[Shard], format: str | None = None) -> tuple[list[Document], list[tuple[Any, ...]]]:
    failures: list[tuple[Any, ...]] = []

    def fail(name: str, error: Exception, line: int | None = None) -> None:
        failures.append((name, line))

    return [document for shard in shards for document in read_shard(shard, format, fail)], failures


@pytest.mark.parametrize("documents", [1, 5, 22, 1000])
def test_json_lines_are_cut_between_documents(tmp_path: Path, documents: int) -> None:
    path = write_lines(tmp_path / "news.jsonl")
    shards = plan_shards([str(path)], documents)
    assert read_all(shards) == (list(read_documents(path)), [])
    assert len({shard.name for shard in shards}) == len(shards) == -(-len(LINES) // documents)
    assert plan_shards([str(path)], documents) == shards


def test_documents_without_a_name_are_called_as_in_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_text('{"text": "Ann ran."}\n\n' * 5, encoding="utf-8")
    documents, _ = read_all(plan_shards([str(path)], 2))
    assert [document.id for document in documents] == [f"news#{number}" for number in range(1, 6)]


def test_a_folder(tmp_path: Path) -> None:
    """Files but JSON lines are not cut; what can't be read fails alone, with its line."""
    corpus = write_corpus(tmp_path / "in")
    (corpus / ".hidden").write_text("Ann ran.")
    (corpus / "packed.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Ann ran."}\n' * 30))
    (corpus / "picture.bin").write_bytes(b"\x89PNG\0\1\2")
    shards = plan_shards([str(corpus)], 5)
    assert [shard.name for shard in shards] == [
        *(f"below/text{number}" for number in range(4)), "empty", "latin", "news-00000", "news-00001", "news-00002",
        "packed", "picture.bin",
    ]  # fmt: skip
    documents, failures = read_all(shards)
    assert len(documents) == 4 + 12 + 30
    assert set(failures) == {
        ("wordless", 4), ("news#4", 5), ("latin.txt", None), ("picture.bin", None),
    }  # fmt: skip


def test_a_shard_is_known_by_its_bytes_and_its_place(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "news.jsonl")
    before = plan_shards([str(path)], 5)
    text = path.read_text(encoding="utf-8").replace("Ann ran 7", "Bob ran 7")
    path.write_text(text, encoding="utf-8")
    after = plan_shards([str(path)], 5)
    same = [a.digest == b.digest for a, b in zip(before, after, strict=True)]
    assert same == [True, False, True, True, True]
    path.write_text("\n" + text, encoding="utf-8")  # numbers of lines change, and failures name them
    assert not {shard.digest for shard in after} & {shard.digest for shard in plan_shards([str(path)], 5)}


def test_brat_texts_are_read_with_their_annotation(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ann ran.")
    (tmp_path / "a.ann").write_text("T1\tPerson 0 3\tAnn\n")
    (shard,) = plan_shards([str(tmp_path)])
    (document,) = read_all([shard])[0]
    assert len(document.mentions) == 1
    (tmp_path / "annotation.conf").write_text("[entities]\nPerson\n")
    assert [each.name for each in plan_shards([str(tmp_path)])] == ["a"]
    (tmp_path / "a.txt").write_text("Ann sat.")
    assert plan_shards([str(tmp_path)])[0].digest != shard.digest


def test_wrong_inputs(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no file in this folder"):
        plan_shards([str(tmp_path)])
    with pytest.raises(ConfigError, match="more than once"):
        plan_shards(["-"])
    (tmp_path / "a.txt").write_text("Ann ran.")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "b.txt").write_text("Bo ran.")
    assert [one.name for one in plan_shards([str(tmp_path)], out=tmp_path / "out")] == ["a"]


def test_a_format_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_text('{"text": "Ann ran."}\n', encoding="utf-8")
    documents, _ = read_all(plan_shards([str(path)]), "text")
    assert documents[0].tokens[0] == "{"


def test_the_card_of_a_corpus_is_no_text(tmp_path: Path) -> None:
    """``data get stories`` leaves a corpus.json; other files of this name are read."""
    (tmp_path / "corpus.json").write_text('{\n "corpus": "stories (generated)"\n}\n', encoding="utf-8")
    (tmp_path / "dev.jsonl").write_text('{"id": "a", "text": "Ann ran."}\n', encoding="utf-8")
    assert [shard.name for shard in plan_shards([str(tmp_path)])] == ["dev"]
    (tmp_path / "corpus.json").write_text('{"id": "b", "text": "Bo ran."}\n', encoding="utf-8")
    assert [shard.name for shard in plan_shards([str(tmp_path)])] == ["corpus", "dev"]
