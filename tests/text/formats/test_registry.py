"""All formats as one: recognised by content, converted without losing a cluster, and no file that ends in a traceback."""

import gzip
import io
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from entitynlm.errors import ConfigError, DataError
from entitynlm.text.document import Document
from entitynlm.text.formats.base import Oddity, Source, find_layers
from entitynlm.text.formats.registry import FORMATS, read_documents, recognise_format, write_documents
from support.format_samples import SAMPLES, STORY
from support.strategies import documents

WRITABLE = [name for name, form in FORMATS.items() if form.writable]


# -- recognition -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_content_is_enough_to_recognise_a_format(name: str) -> None:
    for data in (SAMPLES[name], SAMPLES[name].replace(b"\n", b"\r\n")):
        assert recognise_format("-", data[:65536]).name == name
        assert recognise_format("-", b"\xef\xbb\xbf" + data).name == name


def test_what_no_format_takes() -> None:
    with pytest.raises(DataError, match=r"x: the format can't be recognised.*--format"):
        recognise_format("x", b"\0\1\2")


# -- reading -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "brat"])
def test_packed_and_marked_files_read_the_same(name: str, tmp_path: Path) -> None:
    data = SAMPLES[name]
    (tmp_path / "tale").write_bytes(data)
    expected = list(read_documents(tmp_path / "tale"))
    (tmp_path / "tale.gz").write_bytes(gzip.compress(data))
    assert list(read_documents(tmp_path / "tale.gz")) == expected
    (tmp_path / "tale").write_bytes(b"\xef\xbb\xbf" + data)
    assert list(read_documents(tmp_path / "tale")) == expected
    if name != "text":  # whose offsets point into the file
        (tmp_path / "tale").write_bytes(data.replace(b"\n", b"\r\n"))
        assert list(read_documents(tmp_path / "tale")) == expected


def test_a_wrong_path_fails_at_the_call(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        read_documents(tmp_path / "nowhere.jsonl")
    with pytest.raises(DataError, match="folder"):
        read_documents(tmp_path)


@pytest.mark.parametrize("cut", [5, 12, 40])
def test_a_cut_packed_file_is_a_readable_error(cut: int, tmp_path: Path) -> None:
    (tmp_path / "tale.gz").write_bytes(gzip.compress(SAMPLES["jsonl"])[:cut])
    with pytest.raises(DataError, match=r"tale\.gz"):
        list(read_documents(tmp_path / "tale.gz"))


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(SAMPLES["e2e"] * 3)

    monkeypatch.setattr(sys, "stdin", Input)
    assert [document.id for document in read_documents("-")] == ["document#1", "document#2", "document#3"]
    assert not Input.buffer.closed


# -- writing -----------------------------------------------------------------------------------------------


def test_folders(tmp_path: Path) -> None:
    write_documents([STORY], f"{tmp_path}/new/", "jsonl")
    assert list(read_documents(tmp_path / "new/documents.jsonl")) == [STORY]


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"read but not written; writable are .*conllu"):
        write_documents([STORY], tmp_path / "x", "text")
    with pytest.raises(ConfigError, match="can be read but not written"):
        write_documents([STORY], tmp_path / "x", "brat")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", WRITABLE)
def test_a_failure_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    def stream() -> Iterator[Document]:
        yield STORY
        raise DataError("broken input")

    with pytest.raises(DataError, match="broken input"):
        write_documents(stream(), tmp_path / "out", name)
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=25)
@given(documents(min_tokens=1, entity_ids=st.integers(0, 9).map(str)))
def test_clusters_survive_a_chain_of_conversions(document: Document) -> None:
    """There and back through every format that is one file, with what each can't hold left out on the way."""
    assume(not any(find_layers(document)))  # CoNLL-2012 makes two entities of crossing mentions
    expected = sorted(
        tuple(sorted(set(cluster))) for cluster in document.clusters()
    )  # brackets can't repeat a span
    with tempfile.TemporaryDirectory() as folder:
        for name in ("conll2012", "jsonl", "conllu", "jsonl"):
            path = Path(folder) / name
            write_documents([document], path, name)
            (document,) = read_documents(path, name)
            found = sorted(tuple(sorted(set(cluster))) for cluster in document.clusters())
            assert found == expected, name


@settings(max_examples=60)
@given(originals=st.lists(documents(), max_size=2, unique_by=lambda document: document.id))
def test_round_trip_is_exact(originals: list[Document]) -> None:
    oddities: list[Oddity] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out"
        write_documents(originals, path, "jsonl")
        found = list(read_documents(path, on_oddity=oddities.append))
    assert found == originals
    assert not originals or oddities == []


@pytest.mark.parametrize("name", ["conll2012", "conllu", "jsonl"])
def test_documents_come_one_at_a_time(name: str) -> None:
    class Endless(io.RawIOBase):
        """Documents without an end: only a reader that streams can give its first ones."""

        rest = b""

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: bytearray) -> int:
            rest = self.rest or SAMPLES[name]
            data, self.rest = rest[: len(buffer)], rest[len(buffer) :]
            buffer[: len(data)] = data
            return len(data)

    stream = FORMATS[name].read(Source("-", io.BufferedReader(Endless(), 1 << 16)))
    assert [len(next(stream)) for _ in range(3)] == [len(STORY)] * 3
