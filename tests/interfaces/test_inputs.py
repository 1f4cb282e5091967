"""Inputs: patterns, standard input, and how outputs are called after them."""

from pathlib import Path

import pytest

from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces.console import Terminal
from entitynlm.interfaces.inputs import (
    choose_format,
    distinguish,
    expand_files,
    is_folder,
    name_of,
    read_input,
    read_inputs,
)

LINE = '{"doc_id": "%s", "sentences": [["Anna", "slept"]], "clusters": []}\n'


def test_patterns_are_expanded_once(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt"):
        (tmp_path / name).write_text("x")
    found = expand_files([str(tmp_path / "a.txt"), str(tmp_path / "*.txt")])
    assert [Path(path).name for path in found] == ["a.txt", "b.txt"]
    assert expand_files(None) == ["-"]
    with pytest.raises(DataError, match="no file is called like this"):
        expand_files([str(tmp_path / "*.conll")])


def test_files_are_looked_at_before_the_first_document_is_wanted(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(LINE % "one" + LINE % "two")
    bad.write_text("{\n")
    documents = read_inputs([str(good)], Terminal(quiet=True))
    assert [document.id for _, document in documents] == ["one", "two"]
    with pytest.raises(DataError):
        read_inputs([str(bad)], Terminal(quiet=True))


def test_one_document_by_its_id(tmp_path: Path) -> None:
    both = str(tmp_path / "both.jsonl")
    Path(both).write_text(LINE % "one" + LINE % "two", encoding="utf-8")
    terminal = Terminal(quiet=True)
    assert read_input(both, terminal, None, None).id == "one"
    assert read_input(both, terminal, None, "two").id == "two"
    with pytest.raises(DataError, match="expected an id such as one, two"):
        read_input(both, terminal, None, "three")


def test_outputs_are_called_after_inputs(tmp_path: Path) -> None:
    assert list(distinguish(map(name_of, ["a/x.txt", "b/x.txt.gz", "-"]))) == ["x", "x-2", "text"]
    assert is_folder("out/") and is_folder(str(tmp_path)) and is_folder("out") and not is_folder("out.tsv")


def test_the_ending_names_the_format() -> None:
    assert choose_format(None, "a.conllu", "jsonl") == "conllu"
    assert choose_format(None, "a.jsonl", "conll2012") == "jsonl"
    assert choose_format(None, "folder/", "jsonl") == "jsonl"
    assert choose_format("conll2012", "a.conllu", "jsonl") == "conll2012"
    with pytest.raises(ConfigError, match="which format"):
        choose_format(None, "a.nonsense", "jsonl")
