"""The command ``characters``: for people, as tables, as JSON, from raw and from corrected texts."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.discourse.participants import add_quotations
from entitynlm.errors import ConfigError
from entitynlm.interfaces.cli import app
from entitynlm.text.document import Mention
from entitynlm.text.formats.registry import read_documents, write_documents
from support.marked_text import read_marked
from support.novels import write_novel
from support.small_model import STORY, store_model

TALK = "[Ida|i] met [Mr. Moss|m]. “Good day, [Ida|i],” said [Mr. Moss|m]. “Good day,” [she|i] said."


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["characters", *map(str, arguments)], catch_exceptions=False)


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    write_documents([add_quotations(read_marked(TALK))], path, "jsonl")
    return path


def test_a_cast_for_people(annotated: Path) -> None:
    found = call(annotated)
    assert found.exit_code == 0
    assert "2 quotations" in found.output and "Mr. Moss" in found.output and "female" in found.output
    assert "more" not in found.output
    assert "… 1 person who is mentioned less often" in call(annotated, "--least", "3").output


def test_tables_on_standard_output(annotated: Path) -> None:
    people = list(csv.DictReader(call(annotated, "--as", "tsv").stdout.splitlines(), delimiter="\t"))
    assert [(row["name"], row["mentions"], row["quotations"]) for row in people] == [
        ("Ida", "3", "1"),
        ("Mr. Moss", "2", "1"),
    ]
    said = call(annotated, "--as", "csv", "--rows", "quotations").stdout.splitlines()
    assert [row["speaker_name"] for row in csv.DictReader(said)] == ["Mr. Moss", "Ida"]


def test_files_and_json(annotated: Path, tmp_path: Path) -> None:
    found = call(annotated, "--out", tmp_path / "cast.tsv", "--json", tmp_path / "cast.json", "--least", "3")
    assert found.exit_code == 0
    assert len((tmp_path / "cast.tsv").read_text().splitlines()) == 2
    assert len((tmp_path / "cast.quotations.tsv").read_text().splitlines()) == 3
    (document,) = json.loads((tmp_path / "cast.json").read_text())["documents"]
    assert document["others"] == 1 and document["characters"][0]["aliases"] == {"Ida": 2}
    assert call(annotated, "--out", tmp_path / "tables").exit_code == 0
    assert sorted(path.name for path in (tmp_path / "tables").iterdir()) == [
        "talk.characters.tsv",
        "talk.quotations.tsv",
    ]


def test_what_was_corrected_is_used(annotated: Path, tmp_path: Path) -> None:
    (document,) = read_documents(annotated)
    one = [Mention(*mention.span, "i") for mention in document.mentions]  # both are one person
    write_documents([document.with_mentions(one)], tmp_path / "corrected.jsonl", "jsonl")
    found = call(tmp_path / "corrected.jsonl", "--mentions", "given", "--as", "tsv")
    people = found.stdout.splitlines()
    assert len(people) == 2 and "\t5\t" in people[1]


def test_a_raw_text_is_annotated_by_the_model(tmp_path: Path) -> None:
    model = store_model(tmp_path / "model")
    (tmp_path / "story.txt").write_text(STORY)
    found = call(tmp_path / "story.txt", "--model", model, "--as", "csv", "--least", "1")
    assert found.exit_code == 0 and found.stdout.startswith("document,")


def test_a_raw_text_has_no_given_mentions(tmp_path: Path) -> None:
    (tmp_path / "story.txt").write_text("Ida slept.")
    found = CliRunner().invoke(app, ["characters", str(tmp_path / "story.txt"), "--mentions", "given"])
    assert found.exit_code != 0


def test_a_book_is_read_with_its_chapters_and_its_text_kept(tmp_path: Path) -> None:
    pypandoc = pytest.importorskip("pypandoc")
    scene = "“Come here,” said Anna to Bert. Bert came. Anna gave Bert a lamp, and Bert thanked Anna. " * 3
    book, text, figures = tmp_path / "book.epub", tmp_path / "book.txt", tmp_path / "cast.json"
    pypandoc.convert_text(
        f"# The Mill\n\n{scene}\n\n# The Weir\n\n{scene}", "epub", "markdown", outputfile=str(book)
    )
    options = ["--model", "entitynlm-en", "--keep-text", str(text), "--json", str(figures)]
    result = CliRunner().invoke(app, ["characters", str(book), *options])
    assert result.exit_code == 0, result.output
    assert text.read_text().startswith("The Mill\n\n“Come here,” said Anna to Bert.")
    (found,) = json.loads(figures.read_text())["documents"]
    assert [chapter["title"] for chapter in found["chapters"]] == ["The Mill", "The Weir"]
    again = CliRunner().invoke(app, ["characters", str(book), str(text), "--keep-text", str(tmp_path / "x")])
    assert isinstance(again.exception, ConfigError)


def test_books_are_measured_on_novels(tmp_path: Path) -> None:
    write_novel(tmp_path / "pdnc" / "TheMill")
    model = store_model(tmp_path / "model")
    arguments = ["evaluate", "books", str(tmp_path / "pdnc"), "--model", str(model)]
    found = CliRunner().invoke(app, [*arguments, "--split", "train", "--json", str(tmp_path / "f.json")])
    assert found.exit_code == 0, found.output
    figures = json.loads((tmp_path / "f.json").read_text())
    (novel,) = figures["novels"].values()
    assert novel["characters"] == 2 and novel["quotations found"] == 100.0 and novel == figures["mean"]
    assert {"nearest name", "nearest mention", "alternation", "CPU-seconds", "memory in MB"} <= {*novel}
