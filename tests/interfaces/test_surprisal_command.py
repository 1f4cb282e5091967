"""``entitynlm surprisal`` as people call it: many files, kinds of tables, units, standard input, wrong input."""

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.errors import ConfigError, DataError
from entitynlm.interfaces.cli import app
from support.small_model import STORY

LM_ZOO = ["sentence_id", "token_id", "token", "surprisal"]


def run(model: Path, *arguments: object, text: str | None = None) -> Result:
    options = ["surprisal", "--model", str(model), "--samples", "4", "--repeats", "2", *map(str, arguments)]
    return CliRunner().invoke(app, options, input=text)


def read(text: str, delimiter: str = "\t") -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


def test_the_table_starts_with_the_columns_of_lm_zoo(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "story.txt"
    file.write_text(STORY)
    result = run(model, file)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0].split("\t")[:4] == LM_ZOO
    rows = read(result.stdout)
    assert [row["token"] for row in rows] == "Ann saw Bo . She ran . It ran , and Bo saw Zoe .".split()
    assert all(STORY[int(row["start"]) : int(row["end"])] == row["token"] for row in rows)
    assert rows[3]["surprisal"] == "" and float(rows[0]["surprisal"]) > 0 and float(rows[0]["error"]) >= 0
    assert rows[-2]["oov"] == "1" and 0 < float(rows[-2]["spelling"]) < float(rows[-2]["surprisal"])


def test_standard_input_and_mentions(model: Path) -> None:
    result = run(model, "--rows", "mentions", "--base", "nats", "--repeats", 1, text=STORY)
    assert result.exit_code == 0, result.output
    rows = read(result.stdout)
    assert rows and {row["form"] for row in rows} <= {"pronoun", "name", "definite", "indefinite"}
    assert all(float(row["referent_surprisal"]) >= 0 for row in rows)


def test_quotation_marks_survive(model: Path) -> None:
    result = run(model, "--as", "csv", text='Ann saw "Bo", "it" ran.')
    assert [row["token"] for row in read(result.stdout, ",")].count('"') == 4


@pytest.mark.parametrize("kind", ["tsv", "csv"])
def test_a_folder_gets_two_tables_per_text(model: Path, tmp_path: Path, kind: str) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(STORY)
    (tmp_path / "empty.txt").write_text("")
    out, figures = tmp_path / "tables", tmp_path / "summary.json"
    result = run(model, str(tmp_path / "*.txt"), "--out", out, "--as", kind, "--json", figures)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == sorted(
        f"{name}.{table}.{kind}" for name in ("one", "two", "empty") for table in ("tokens", "mentions")
    )
    path = out / f"one.tokens.{kind}"
    assert len(read(path.read_text(), "\t" if kind == "tsv" else ",")) == 15
    assert (out / f"empty.tokens.{kind}").read_text().count("\n") == 1
    summary = json.loads(figures.read_text())
    assert f"model hash {summary['model_hash']}" in " ".join(result.stderr.split())
    assert len(summary["model_hash"]) == 64 and summary["entitynlm"] and summary["repeats"] == 2
    assert [document["id"] for document in summary["documents"]] == ["one", "two"]
    assert summary["documents"][0]["tokens"] == 15 and summary["documents"][0]["oov"] == 2


def test_a_file_gets_its_mentions_beside_it(model: Path, tmp_path: Path) -> None:
    result = run(model, "--out", tmp_path / "story.csv", text=STORY)
    assert result.exit_code == 0, result.output
    assert len(read((tmp_path / "story.csv").read_text(), ",")) == 15
    assert "referent_surprisal" in (tmp_path / "story.mentions.csv").read_text()


def test_given_mentions_are_used(model: Path, tmp_path: Path) -> None:
    record = {"id": "d", "sentences": [["Ann", "saw", "Bo", "."], ["She", "ran", "."]]}
    record["clusters"] = [[[0, 0], [4, 4]]]
    (tmp_path / "given.jsonl").write_text(json.dumps(record) + "\n")
    result = run(model, tmp_path / "given.jsonl")
    assert result.exit_code == 0, result.output
    rows = read(result.stdout)
    assert [bool(row["entity"]) for row in rows] == [True, False, False, False, True, False, False]
    assert {row["error"] for row in rows} == {""}


def test_the_same_seed_gives_the_same_table(model: Path) -> None:
    one, same, other = (run(model, "--seed", seed, text=STORY).stdout for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["--json", "-"], ConfigError, "standard output"),
        (["missing.txt"], DataError, "no such file"),
        (["missing-*.txt"], DataError, "no file is called like this"),
    ],
)
def test_wrong_input_is_told(model: Path, arguments: list[str], error: type[Exception], message: str) -> None:
    result = run(model, *arguments, text=STORY)
    assert isinstance(result.exception, error) and message in str(result.exception)


@pytest.mark.parametrize("option", ["--base", "--rows", "--as", "--mentions"])
def test_what_an_option_can_not_be_is_told_with_what_it_can(model: Path, option: str) -> None:
    result = run(model, option, "nonsense", text=STORY)
    assert result.exit_code == 2
    told = " ".join(result.stderr.replace("│", " ").split())
    assert f"Invalid value for '{option}'" in told and "'nonsense' is not one of" in told


def test_items_by_regions_and_compared(model: Path, tmp_path: Path) -> None:
    items = tmp_path / "items.tsv"
    items.write_text("item\tcondition\ttarget\tlist\n1\ta\tAnn | saw Bo\tX\n1\tb\tBo | saw Bo\tX\n")
    result = run(model, "--items", items)
    assert result.exit_code == 0, result.output
    rows = read(result.stdout)
    assert [(row["condition"], row["region"], row["text"], row["list"]) for row in rows] == [
        ("a", "1", "Ann", "X"), ("a", "2", "saw Bo", "X"), ("b", "1", "Bo", "X"), ("b", "2", "saw Bo", "X"),
    ]  # fmt: skip
    compared = read(run(model, "--items", items, "--compare", "condition").stdout)
    difference = float(rows[2]["surprisal"]) - float(rows[0]["surprisal"])
    assert float(compared[0]["difference"]) == pytest.approx(difference, abs=1e-5)
    lines = tmp_path / "lines.txt"
    lines.write_text("Ann saw Bo.\n" * 3)
    same = run(model, "--items", lines).stdout.splitlines()[1:]
    assert len({line.split("\t", 1)[1] for line in same}) == 1 and len(same) == 3
    assert isinstance(run(model, items, "--items", items).exception, ConfigError)
    assert isinstance(run(model, "--compare", "condition", text="Ann ran.").exception, ConfigError)


def test_columns_that_are_kept_have_names_that_can_be_used(model: Path, tmp_path: Path) -> None:
    items = tmp_path / "items.csv"
    items.write_text("target,word length,class,2nd,text,word-length\nAnn ran.,3,c,s,t,w\n")
    (row,) = read(run(model, "--items", items).stdout)
    kept = ["word_length", "own_class", "own_2nd", "own_text", "own_word_length"]
    assert list(row)[-5:] == kept and [row[name] for name in kept] == ["3", "c", "s", "t", "w"]


def test_expected_words_are_columns_on_request(model: Path, tmp_path: Path) -> None:
    (row, *_) = read(run(model, "--top-words", 2, text=STORY).stdout)
    own = ["next_entropy", "rank", "top_1", "top_1_probability", "top_2", "top_2_probability"]
    assert list(row)[-6:] == own and float(row["top_1_probability"]) >= float(row["top_2_probability"]) > 0
    result = run(model, "--start-piece", "<s>", text=STORY)
    assert isinstance(result.exception, ConfigError) and "start piece" in str(result.exception)


def test_a_given_text_is_read_first(model: Path, tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_text("it ran.\nBo ran.\n")
    result = run(model, "--given", "Ann saw Bo, and", "--json", tmp_path / "one.json", text="it ran.")
    assert result.exit_code == 0, result.output
    words = read(result.stdout)
    assert [row["token"] for row in words] == ["it", "ran", "."] and words[0]["start"] == "0"
    figures = json.loads((tmp_path / "one.json").read_text())
    assert figures["given"] == "Ann saw Bo, and" and figures["documents"][0]["tokens"] == 3
    regions = read(run(model, "--given", "Ann saw Bo, and", "--items", tmp_path / "items.txt").stdout)
    total = sum(float(row["surprisal"] or 0) for row in words)
    assert float(regions[0]["surprisal"]) == pytest.approx(total, abs=1e-5)
    assert regions[0]["surprisal"] != regions[1]["surprisal"]


@pytest.mark.parametrize("option", [["--format", "conllu"], ["--mentions", "given"]])
def test_items_refuse_what_is_for_texts(model: Path, tmp_path: Path, option: list[str]) -> None:
    items = tmp_path / "items.txt"
    items.write_text("Ann ran.\n")
    result = run(model, "--items", items, *option)
    assert isinstance(result.exception, ConfigError) and option[0] in str(result.exception)


def test_items_in_another_language_are_doubted(model: Path, tmp_path: Path) -> None:
    items = tmp_path / "items.txt"
    items.write_text("Der Hund schläft heute wieder lange draußen.\n" * 4, encoding="utf-8")
    assert "does not look like English" in run(model, "--items", items).stderr
