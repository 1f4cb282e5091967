"""``entitynlm data`` as people run it: figures on standard output, exit codes, readable errors."""

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from entitynlm.interfaces.cli import main
from entitynlm.text.corpora import open_corpus
from entitynlm.text.corpora.catalogue import CATALOGUE
from entitynlm.text.document import Document
from entitynlm.text.formats.registry import read_documents, write_documents
from support.running_example import RUNNING_EXAMPLE

STATISTICS = {
    "documents",
    "sentences",
    "tokens",
    "mentions",
    "entities",
    "singletons",
    "mean_mention_length",
    "longest_mention",
    "vocabulary",
}


@dataclass
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """The console script, with its exit code and what it printed."""

    def call(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["entitynlm", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = int(end.code or 0)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return call


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    for split in ("train", "dev", "test"):
        write_documents([RUNNING_EXAMPLE], folder / f"{split}.conllu", "conllu")
    return folder


@pytest.fixture
def story(tmp_path: Path) -> Path:
    write_documents([RUNNING_EXAMPLE], tmp_path / "story.conllu", "conllu")
    return tmp_path / "story.conllu"


# -- stats ---------------------------------------------------------------------------------------------------


def test_stats_prints_exactly_the_promised_json(run: Run, corpus: Path) -> None:
    result = run("data", "stats", corpus, "--json", "-")
    assert result.code == 0
    assert set(result.json) == {"corpus", "splits"}
    assert list(result.json["splits"]) == ["train", "dev", "test"]
    for counts in result.json["splits"].values():
        assert set(counts) == STATISTICS
        assert (counts["tokens"], counts["mentions"], counts["entities"]) == (22, 6, 4)


def test_stats_for_people_and_json_in_a_file(run: Run, corpus: Path, tmp_path: Path) -> None:
    result = run("data", "stats", corpus, "--json", tmp_path / "figures.json")
    assert "words per mention" in result.out
    assert json.loads((tmp_path / "figures.json").read_text())["splits"]["dev"]["sentences"] == 2


def test_stats_reads_standard_input(run: Run, story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(story.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    result = run("data", "stats", "-", "--json", "-")
    assert result.json["splits"]["all"]["tokens"] == 22


def test_stats_tells_what_is_odd_in_a_file_and_not_without_end(run: Run, tmp_path: Path) -> None:
    head, row = "#begin document (tale); part 000\n", "tale 0 {} Ann {}\n"
    (tmp_path / "odd.conll").write_text(
        head + "".join(row.format(n, "(1") for n in range(200)) + "#end document\n"
    )
    result = run("data", "stats", tmp_path / "odd.conll")
    assert result.code == 0 and "tokens" in result.out
    assert result.err.count("remark: ") == 100 and f"{tmp_path / 'odd.conll'}:" in result.err
    assert result.err.rstrip().endswith("no more is said about others")


def test_a_wrong_path_ends_with_2_and_one_message(run: Run, tmp_path: Path) -> None:
    result = run("data", "stats", tmp_path / "nowhere")
    assert result.code == 2
    assert "there is no such file or folder" in result.out + result.err
    assert "Traceback" not in result.err


# -- convert -------------------------------------------------------------------------------------------------


def test_a_file_becomes_a_file(run: Run, story: Path, tmp_path: Path) -> None:
    result = run("data", "convert", story, tmp_path / "story.jsonl", "--to", "jsonl")
    assert result.code == 0, result.err
    (again,) = read_documents(tmp_path / "story.jsonl")
    assert again.clusters() == RUNNING_EXAMPLE.clusters()


@pytest.mark.parametrize("to", ["conllu", "conll2012", "jsonl"])
def test_a_corpus_becomes_a_folder_with_its_splits(run: Run, corpus: Path, tmp_path: Path, to: str) -> None:
    result = run("data", "convert", corpus, tmp_path / "out", "--to", to, "--json", "-")
    assert result.json["documents"] == {"train": 1, "dev": 1, "test": 1}
    again = open_corpus(tmp_path / "out")
    assert list(again.splits) == ["train", "dev", "test"]
    assert [document.clusters() for document in again.documents()] == [RUNNING_EXAMPLE.clusters()] * 3


def test_a_file_that_can_not_be_read_leaves_no_output(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.conllu").write_bytes(b"# newdoc id = a\n1\t\xff\n")
    result = run(
        "data",
        "convert",
        tmp_path / "bad.conllu",
        tmp_path / "out.jsonl",
        "--to",
        "jsonl",
        "--format",
        "conllu",
    )
    assert result.code == 2 and "bad.conllu:2: this is not UTF-8" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["bad.conllu"]


def test_one_split_becomes_one_file(run: Run, corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result = run("data", "convert", corpus, "-", "--to", "conllu", "--split", "dev")
    assert result.code == 0, result.err
    assert result.out.count("# newdoc") == 1
    assert "documents in" not in result.out


def test_a_folder_without_splits_goes_into_one_file(run: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_documents([Document(name, ("Hi",))], tmp_path / "in" / f"{name}.conllu", "conllu")
    result = run("data", "convert", tmp_path / "in", tmp_path / "all.jsonl", "--to", "jsonl")
    assert result.code == 0, result.err
    assert [document.id for document in read_documents(tmp_path / "all.jsonl")] == ["a", "b"]


def test_standard_input_to_standard_output(
    run: Run, story: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(story.read_bytes())))
    result = run("data", "convert", "-", "-", "--to", "jsonl")
    (tmp_path / "again.jsonl").write_text(result.out, encoding="utf-8")
    (again,) = read_documents(tmp_path / "again.jsonl")
    assert again.clusters() == RUNNING_EXAMPLE.clusters()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "nonsense"], "there is no format 'nonsense'"),
        (["--to", "text"], "can be read but not written"),
        (["--to", "jsonl", "--split", "nope"], "there is no split 'nope'"),
    ],
)
def test_what_makes_no_sense_is_said(
    run: Run, corpus: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    result = run("data", "convert", corpus, tmp_path / "out", *arguments)
    assert result.code == 2
    assert message in result.err
    assert not (tmp_path / "out").exists()


def test_a_corpus_does_not_fit_on_standard_output(run: Run, corpus: Path) -> None:
    for target in ("-", "one.jsonl"):
        result = run("data", "convert", corpus, target, "--to", "jsonl")
        assert result.code == 2
        assert "name a folder for OUT, or one of them with --split" in result.err
    result = run("data", "convert", corpus, "-", "--to", "jsonl", "--split", "dev", "--json", "-")
    assert "both want standard output" in result.err


# -- list and get --------------------------------------------------------------------------------------------


def test_the_catalogue_is_listed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("ontogum", "stories"):
        (tmp_path / "corpora" / folder).mkdir(parents=True)
    (tmp_path / "corpora" / "ontogum" / "splits.md").write_text("")  # one of 239 files
    monkeypatch.chdir(tmp_path)
    result = run("data", "list", "--json", "-")
    here = {row["name"]: row["here"] for row in json.loads(result.out)}
    assert set(here) == {"stories", "inscript", "ontogum", "gum", "litbank", "novels", "pdnc", "conll2012"}
    assert {name for name, found in here.items() if found == "yes"} == {"stories"}
    text = run("data", "list").out
    assert "CC BY 4.0" in text
    assert "GENERATED" in text


def test_manifests_cover_the_documents_of_each_corpus() -> None:
    assert len(CATALOGUE["inscript"].files) == 892 + 3  # splits, human guesses, readme
    assert len(CATALOGUE["ontogum"].files) == 237 + 2
    assert len(CATALOGUE["gum"].files) == 237 + 2
    assert len(CATALOGUE["litbank"].files) == 90 * 3
    assert len(CATALOGUE["novels"].files) == 90
    assert len(CATALOGUE["pdnc"].files) == 21 * 3
    assert CATALOGUE["litbank"].remote_path("conll/a.conll") == "coref/conll/a.conll"
    assert CATALOGUE["novels"].remote_path("a.txt") == "original/a.txt"
    assert CATALOGUE["ontogum"].remote_path("splits.md") == "splits.md"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "there is no corpus 'nonsense'"),
        (["conll2012"], "https://catalog.ldc.upenn.edu"),
        (["inscript"], "has no direct download"),
        (["ontogum", "--documents", "20"], "--documents and --seed are for generated corpora"),
        (["litbank", "--seed", "2"], "--documents and --seed are for generated corpora"),
    ],
)
def test_get_says_what_it_can_not_do(run: Run, tmp_path: Path, arguments: list[str], message: str) -> None:
    result = run("data", "get", *arguments, "--out", tmp_path / "x")
    assert result.code == 2
    assert message in result.err


def test_stories_are_generated_written_and_read_again(run: Run, tmp_path: Path) -> None:
    arguments = ("data", "get", "stories", "--documents", 40, "--seed", 3)
    result = run(*arguments, "--out", tmp_path / "a", "--json", "-")
    assert result.code == 0, result.err
    assert (result.json["documents"], result.json["seed"]) == (40, 3)
    assert run(*arguments, "--out", tmp_path / "b").code == 0
    for split in ("train", "dev", "test"):
        assert (tmp_path / "a" / f"{split}.jsonl").read_bytes() == (
            tmp_path / "b" / f"{split}.jsonl"
        ).read_bytes()
    stats = run("data", "stats", tmp_path / "a", "--json", "-").json
    assert "generated" in stats["corpus"]
    assert sum(split["documents"] for split in stats["splits"].values()) == 40
