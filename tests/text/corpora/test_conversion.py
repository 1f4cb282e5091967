from __future__ import annotations

from pathlib import Path

import pytest

from entitynlm.errors import DataError
from entitynlm.text.corpora import open_corpus
from entitynlm.text.corpora.conversion import ConversionStep, plan_conversion, run_step
from entitynlm.text.corpora.corpus import Corpus
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import write_documents

WORDS = ("Anna", "met", "Bert", ".", "She", "liked", "him", ".")
CLUSTERS = [[(0, 1), (4, 5)], [(2, 3), (6, 7)]]


def make_corpus(folder: Path, splits: tuple[str, ...] = ("train", "dev", "test")) -> Corpus:
    for split in splits:
        documents = [
            Document(f"{split}_{index}", WORDS, sentences=((0, 4), (4, 8))).with_clusters(CLUSTERS)
            for index in ("a", "b")
        ]
        write_documents(documents, folder / f"{split}.conllu", "conllu")
    return open_corpus(folder)


def convert(corpus: Corpus, out: Path, *, to: str, **options: str) -> int:
    steps = plan_conversion(corpus, out, to=to, **options)
    return sum(run_step(step, to=to) for step in steps)


def clusters_of(corpus: Corpus) -> dict[str, dict[str, set[frozenset[tuple[int, int]]]]]:
    return {
        split: {d.id: {frozenset(c) for c in d.clusters} for d in corpus.documents(split)}
        for split in corpus.splits
    }


def test_one_file_per_split(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "in")
    assert [step.target.name for step in plan_conversion(corpus, tmp_path, to="jsonl")] == [
        "train.jsonl",
        "dev.jsonl",
        "test.jsonl",
    ]
    assert convert(corpus, tmp_path / "out", to="jsonl") == 6
    assert clusters_of(open_corpus(tmp_path / "out")) == clusters_of(corpus)


def test_conll2012_folders_are_recognised_again(tmp_path: Path) -> None:
    corpus = make_corpus(tmp_path / "in")
    assert convert(corpus, tmp_path / "out", to="conll2012") == 6
    again = open_corpus(tmp_path / "out")
    assert again.name == "conll2012"
    assert [path.relative_to(tmp_path).as_posix() for path in again.files("dev")] == [
        "out/development/dev.v4_gold_conll"
    ]
    assert {s: list(d.values()) for s, d in clusters_of(again).items()} == {
        s: list(d.values()) for s, d in clusters_of(corpus).items()
    }


def test_folders_keep_the_files_and_the_folders_above_them(tmp_path: Path) -> None:
    files = [tmp_path / "x/bath/bath_001.txt.drs", tmp_path / "x/bus/bus_001.v4_gold_conll"]
    corpus = Corpus("c", tmp_path, {"train": tuple(files)})
    steps = plan_conversion(corpus, Path("out"), to="jsonl", layout="folders")
    assert [(step.sources, step.target.as_posix()) for step in steps] == [
        ((files[0],), "out/train/bath/bath_001.jsonl"),
        ((files[1],), "out/train/bus/bus_001.jsonl"),
    ]


@pytest.mark.parametrize("to", ["conllu", "conll2012", "jsonl", "brat", "spacy"])
@pytest.mark.parametrize("layout", ["merged", "folders"])
def test_every_format_keeps_the_clusters_in_both_layouts(tmp_path: Path, to: str, layout: str) -> None:
    corpus = make_corpus(tmp_path / "in", ("train", "test"))
    assert convert(corpus, tmp_path / "out", to=to, layout=layout) == 4
    again = open_corpus(tmp_path / "out")
    assert list(again.splits) == ["train", "test"]
    for split in corpus.splits:
        before = [{frozenset(c) for c in d.clusters} for d in corpus.documents(split)]
        after = [{frozenset(c) for c in d.clusters} for d in again.documents(split)]
        assert after == before


def test_a_file_that_can_not_be_read_leaves_no_output(tmp_path: Path) -> None:
    bad = tmp_path / "bad.conllu"
    bad.write_bytes(b"# newdoc id = a\n1\t\xff\n")
    with pytest.raises(DataError, match=r"bad\.conllu:2: this is not UTF-8"):
        run_step(ConversionStep("all", (bad,), tmp_path / "out.jsonl"), to="jsonl", format="conllu")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.conllu"]


@pytest.mark.corpora
def test_ontogum_through_three_formats_keeps_its_clusters(corpora_path: Path, tmp_path: Path) -> None:
    ontogum = open_corpus(corpora_path / "ontogum")
    few = Corpus("few", ontogum.path, {split: files[:2] for split, files in ontogum.splits.items()})
    convert(few, tmp_path / "a", to="conll2012")
    convert(open_corpus(tmp_path / "a"), tmp_path / "b", to="jsonl")
    convert(open_corpus(tmp_path / "b"), tmp_path / "c", to="conllu")
    for split in few.splits:
        before = [{frozenset(c) for c in d.clusters} for d in few.documents(split)]
        after = [{frozenset(c) for c in d.clusters} for d in open_corpus(tmp_path / "c").documents(split)]
        assert sum(map(len, before)) > 30
        assert after == before
