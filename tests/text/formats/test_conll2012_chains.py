"""The fast reader reads what the full one reads, or nothing."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from entitynlm.coref.metrics.alignment import align_documents, list_chains
from entitynlm.text.document import Document, Mention
from entitynlm.text.formats.conll2012_chains import read_chains
from entitynlm.text.formats.registry import read_documents, write_documents


def read_fast(path: Path) -> list[Document] | None:
    texts = read_chains(path)
    return None if texts is None else [text.to_document() for text in texts]


def read_fully(path: Path) -> list[Document]:
    return [dataclasses.replace(document, columns={}) for document in read_documents(path, "conll2012")]


@st.composite
def documents(draw: st.DrawFn, name: str) -> Document:
    tokens = draw(
        st.lists(st.sampled_from(["Anna", "sah", "Öl", "#", "(", "-", "1", "|"]), min_size=1, max_size=15)
    )
    cuts = sorted(draw(st.sets(st.integers(1, len(tokens)), max_size=3)) | {len(tokens)})
    sentences = tuple(zip([0, *cuts[:-1]], cuts, strict=True))
    size = len(tokens)
    spans = draw(
        st.lists(st.tuples(st.integers(0, size - 1), st.integers(1, 5), st.integers(1, 4)), max_size=8)
    )
    mentions = {Mention(start, min(start + length, size), str(entity)) for start, length, entity in spans}
    return Document(name, tuple(tokens), sentences, tuple(mentions))


@given(st.integers(1, 3).flatmap(lambda n: st.tuples(*(documents(f"d{i}") for i in range(n)))))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_fast_reader_agrees_with_the_full_one(tmp_path: Path, written: tuple[Document, ...]) -> None:
    path = tmp_path / "a.conll"
    write_documents(written, path, "conll2012")
    found = read_fast(path)
    text = path.read_text()
    if "#entity" in text:
        assert found is None
    else:
        assert found == read_fully(path)


@given(documents("d"))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_chains_come_in_the_order_of_the_official_scorer(tmp_path: Path, written: Document) -> None:
    path = tmp_path / "a.conll"
    write_documents([written], path, "conll2012")
    texts = read_chains(path)
    if texts is not None:
        assert list_chains(texts[0]) == list_chains(texts[0].to_document())
        assert align_documents(texts[0], written) == align_documents(*read_fully(path), written)


ROW = "d\t0\t{number}\t{word}\t{cell}\n"
PLAIN = (
    "#begin document (d); part 000\n"
    + ROW.format(number=0, word="a", cell="(1|(2)")
    + ROW.format(number=1, word="b", cell="1)")
)
END = "\n#end document\n"


@pytest.mark.parametrize(
    "text",
    [
        PLAIN + END,
        PLAIN + "\n" + PLAIN.split("\n", 1)[1] + END,
        PLAIN + END + "\n" + PLAIN.replace("part 000", "part 001") + END,
        "#begin document (nw/x/00);   part 003\nx 3 0 It   PRP (TOP*) it - - - * (7)\n\n#end document\n",
        "#begin document (x); part 000\nx 0 0 a b -\nx 0 1 c d (1)\n\nx 0 0 e (1)\n\n#end document\n",
        "#begin document d\n" + PLAIN.split("\n", 1)[1] + END,
        PLAIN.replace("1)", "9)") + END,
        PLAIN.replace("(2)", "(2) ?") .replace(" ", "") + END,
    ],
)  # fmt: skip
def test_plain_files_are_read(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.conll"
    path.write_text(text)
    found = read_fast(path)
    if text.startswith("#begindocument"):
        assert found is None
    else:
        assert found == read_fully(path)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,  # no end
        PLAIN + END + PLAIN + END,  # an id twice
        PLAIN + END + "stray\n",
        "# a remark\n" + PLAIN + END,
        PLAIN.replace("\t0\ta", "\tzero\ta") + END,
        PLAIN.replace("\t1)", "\t1)\t") + END,
        PLAIN.replace("a\t", "a \t") + END,
        PLAIN.replace("\tb\t", "\t\t") + END,
        PLAIN.replace("\n", "\r\n") + END,
        '{"doc_id": "d"}\n',
        "",
    ],
)
def test_what_is_not_plain_is_left_to_the_full_reader(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.conll"
    path.write_text(text, newline="")
    assert read_fast(path) is None


def test_missing_and_damaged_files_are_left_to_the_full_reader_too(tmp_path: Path) -> None:
    assert read_fast(tmp_path / "none.conll") is None
    (tmp_path / "a.conll").write_bytes(b"#begin document (d)\n\xff\xfe")
    assert read_fast(tmp_path / "a.conll") is None
    (tmp_path / "a.conll.gz").write_bytes(b"no gzip")
    assert read_fast(tmp_path / "a.conll.gz") is None
