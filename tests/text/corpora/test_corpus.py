"""Folders are recognised by what lies in them. The files here are invented and tiny."""

import json
from pathlib import Path

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.text.corpora.corpus import open_corpus

CONLLU = """# newdoc id = {name}
# global.Entity = {scheme}
1\tAnna\tAnna\tPROPN\tNNP\t_\t0\troot\t_\tEntity=(1)
2\tsleeps\tsleep\tVERB\tVBZ\t_\t1\tdep\t_\t_

"""
CONLL = """#begin document ({name}); part 000
{name}\t0\t0\tAnna\tNNP\t*\t-\t-\t-\t-\t*\t(1)
{name}\t0\t1\tsleeps\tVBZ\t*\t-\t-\t-\t-\t*\t-

#end document
"""
DRS = "#id=1\n#text=Anna sleeps\n1-1\tAnna\t1-2_nsubj\tsleep\tNNP\tP1_sleeper\n1-2\tsleeps\tO\tO\tVBZ\tO\n\n"


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def names(paths: tuple[Path, ...]) -> list[str]:
    return [path.name for path in paths]


def test_inscript_by_its_folders(tmp_path: Path) -> None:
    put(tmp_path / "data/trainFiles/train/train_001.txt.drs", DRS)
    put(tmp_path / "data/devFiles/bath/bath_002.txt.drs", DRS)
    put(tmp_path / "data/testFiles/bath/bath_003.txt.drs", DRS)
    corpus = open_corpus(tmp_path)
    assert corpus.name == "inscript"
    assert {split: names(files) for split, files in corpus.splits.items()} == {
        "train": ["train_001.txt.drs"],
        "dev": ["bath_002.txt.drs"],
        "test": ["bath_003.txt.drs"],
    }
    assert [document.tokens for document in corpus.documents("test")] == [("Anna", "sleeps")]


@pytest.mark.parametrize(("scheme", "name"), [("GRP", "ontogum"), ("GRP-etype-infstat", "gum")])
def test_gum_by_its_list(tmp_path: Path, scheme: str, name: str) -> None:
    for document in ("GUM_a", "GUM_b", "GUM_c"):
        put(tmp_path / f"x/conllu/{document}.conllu", CONLLU.format(name=document, scheme=scheme))
    put(tmp_path / "x/splits.md", "## dev\n  * GUM_b\n## train\n  * GUM_a\n  * GUM_reddit\n")
    corpus = open_corpus(tmp_path / "x")
    assert corpus.name == name
    assert {split: names(files) for split, files in corpus.splits.items()} == {
        "train": ["GUM_a.conllu"],
        "dev": ["GUM_b.conllu"],
        "other": ["GUM_c.conllu"],
    }
    assert [document.id for document in corpus.documents()] == ["GUM_a", "GUM_b", "GUM_c"]


def test_a_folder_of_conllu_without_a_list_has_no_splits(tmp_path: Path) -> None:
    put(tmp_path / "mine/a.conllu", CONLLU.format(name="a", scheme="GRP"))
    put(tmp_path / "mine/b.conllu", CONLLU.format(name="b", scheme="GRP"))
    assert list(open_corpus(tmp_path / "mine").splits) == ["all"]


def test_litbank_every_ninth(tmp_path: Path) -> None:
    for index in range(9):
        put(tmp_path / f"conll/{index}_novel_brat.conll", CONLL.format(name=f"{index}_novel_brat"))
        put(tmp_path / f"brat/{index}_novel_brat.ann", "")
    corpus = open_corpus(tmp_path)
    assert corpus.name == "litbank"
    assert names(corpus.splits["dev"]) == ["4_novel_brat.conll"]
    assert names(corpus.splits["test"]) == ["8_novel_brat.conll"]
    brat = open_corpus(tmp_path / "brat")
    assert brat.name == "litbank"
    assert names(brat.splits["test"]) == ["8_novel_brat.ann"]


def test_conll2012_prefers_gold_and_english(tmp_path: Path) -> None:
    data = tmp_path / "conll-2012/v4/data"
    for path in (
        "train/data/english/annotations/bc/a_0001.v4_gold_conll",
        "train/data/english/annotations/bc/a_0001.v4_auto_conll",
        "train/data/chinese/annotations/bc/z_0001.v4_gold_conll",
        "development/data/english/annotations/bc/b_0001.v4_auto_conll",
        "test/data/english/annotations/bc/c_0001.v4_gold_skel",
        "test/data/english/annotations/bc/c_0001.v4_auto_conll",
        "../../v9/data/test/data/english/annotations/bc/c_0001.v9_gold_conll",
    ):
        put(data / path, CONLL.format(name="bc/x"))
    corpus = open_corpus(tmp_path)
    assert corpus.name == "conll2012"
    assert {split: names(files) for split, files in corpus.splits.items()} == {
        "train": ["a_0001.v4_gold_conll"],
        "dev": ["b_0001.v4_auto_conll"],
        "test": ["c_0001.v9_gold_conll"],
    }


def test_files_called_train_dev_test(tmp_path: Path) -> None:
    for split in ("train", "dev", "test"):
        put(tmp_path / f"{split}.conllu", CONLLU.format(name=split, scheme="GRP"))
    put(tmp_path / "README.md", "words")
    corpus = open_corpus(tmp_path)
    assert list(corpus.splits) == ["train", "dev", "test"]
    assert (
        corpus.name == tmp_path.name and repr(corpus) == f"<Corpus {corpus.name!r}: 1 train, 1 dev, 1 test>"
    )
    put(tmp_path / "corpus.json", json.dumps({"corpus": "stories (generated)"}))
    assert open_corpus(tmp_path).name == "stories (generated)"


def test_folders_called_train_dev_test(tmp_path: Path) -> None:
    put(tmp_path / "train/a/one.conllu", CONLLU.format(name="one", scheme="GRP"))
    put(tmp_path / "dev/two.conllu", CONLLU.format(name="two", scheme="GRP"))
    corpus = open_corpus(tmp_path)
    assert {split: names(files) for split, files in corpus.splits.items()} == {
        "train": ["one.conllu"],
        "dev": ["two.conllu"],
    }


def test_a_plain_folder_takes_annotation_before_text(tmp_path: Path) -> None:
    put(tmp_path / "a.txt", "Anna sleeps.")
    put(tmp_path / "b.txt", "Bert reads.")
    put(tmp_path / "LICENSE.txt", "words")
    put(tmp_path / ".hidden.txt", "words")
    assert names(open_corpus(tmp_path).splits["all"]) == ["a.txt", "b.txt"]
    put(tmp_path / "a.ann", "T1\tPER 0 4\tAnna\n")
    assert names(open_corpus(tmp_path).splits["all"]) == ["a.ann"]


def test_one_file_is_a_corpus(tmp_path: Path) -> None:
    path = put(tmp_path / "story.conllu", CONLLU.format(name="s", scheme="GRP"))
    corpus = open_corpus(path)
    assert corpus.splits == {"all": (path,)}
    assert open_corpus(put(tmp_path / "dev.conllu", "")).splits == {"dev": (tmp_path / "dev.conllu",)}


def test_a_wrong_folder_says_what_was_looked_for_and_what_is_near(tmp_path: Path) -> None:
    put(tmp_path / "data/litbank/conll/1_novel_brat.conll", CONLL.format(name="x"))
    put(tmp_path / "data/README.md", "words")
    with pytest.raises(DataError) as caught:
        open_corpus(tmp_path / "data")
    message = str(caught.value)
    assert "no corpus is recognised" in message
    assert "InScript's data/trainFiles" in message
    assert "train, development and test folders" in message
    assert "Name one of the folders in it: litbank" in message


def test_a_wrong_path_and_a_wrong_split_are_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file or folder"):
        open_corpus(tmp_path / "nowhere")
    put(tmp_path / "a.txt", "Anna sleeps.")
    with pytest.raises(ConfigError, match="there is no split 'dev'; this corpus has all"):
        list(open_corpus(tmp_path).documents("dev"))


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("inscript", {"train": 619, "dev": 91, "test": 182}),
        ("ontogum", {"train": 177, "dev": 30, "test": 30}),
        ("gum", {"train": 177, "dev": 30, "test": 30}),
        ("litbank", {"train": 70, "dev": 10, "test": 10}),
        ("novels", {"all": 90}),
    ],
)
def test_the_real_corpora_are_recognised(corpora_path: Path, name: str, sizes: dict[str, int]) -> None:
    corpus = open_corpus(corpora_path / name)
    assert corpus.name == name
    assert {split: len(files) for split, files in corpus.splits.items()} == sizes
