from pathlib import Path

import pytest

from entitynlm.errors import DataError
from entitynlm.text.corpora.corpus import find_split_list, find_split_word, read_split_list, split_every_ninth


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.jsonl", "train"),
        ("en_gum-ud-dev.conllu", "dev"),
        ("development", "dev"),
        ("valid.txt", "dev"),
        ("dev.english.v4_gold_conll", "dev"),
        ("test.conllu.gz", "test"),
        ("trainFiles", None),  # a word of its own is asked for
        ("train_040.txt.drs", None),  # InScript's train ride
        ("train-dev.jsonl", None),  # two splits are none
        ("contest.txt", None),
        ("story.txt", None),
    ],
)
def test_a_name_speaks_of_a_split(name: str, split: str | None) -> None:
    assert find_split_word(name) == split


def test_every_ninth_file_by_name() -> None:
    files = [Path(f"{index:02}.conll") for index in range(20)]
    splits = split_every_ninth(reversed(files))
    assert [path.stem for path in splits["test"]] == ["08", "17"]
    assert [path.stem for path in splits["dev"]] == ["04", "13"]
    assert len(splits["train"]) == 16
    assert list(splits) == ["train", "dev", "test"]


def test_a_list_of_splits_is_read(tmp_path: Path) -> None:
    path = tmp_path / "splits.md"
    path.write_text("# Splits\n\nSome words.\n\n## dev\n\n  * GUM_a\n\n## train\n  * GUM_b\n- GUM_c\n")
    assert read_split_list(path) == {"dev": ["GUM_a"], "train": ["GUM_b", "GUM_c"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [("  * GUM_a\n", r"splits\.md: no splits are listed"), ("", "no splits are listed")],
)
def test_a_damaged_list_of_splits_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "splits.md").write_text(text)
    with pytest.raises(DataError, match=message):
        read_split_list(tmp_path / "splits.md")


def test_the_nearest_list_is_found(tmp_path: Path) -> None:
    for folder in ("gum/conllu", "ontogum/conllu", "elsewhere/conllu"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "ontogum" / "splits.md").write_text("## dev\n")
    assert find_split_list(tmp_path / "ontogum" / "conllu") == (tmp_path / "ontogum" / "splits.md").resolve()
    assert find_split_list(tmp_path / "gum") == (tmp_path / "ontogum" / "splits.md").resolve()
    assert find_split_list(tmp_path / "gum" / "conllu") == (tmp_path / "ontogum" / "splits.md").resolve()
