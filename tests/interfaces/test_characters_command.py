"""The command ``characters``: for people, as tables, as JSON, from raw and from corrected texts."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.characters.speech import add_quotations
from entitynlm.interfaces.cli import app
from entitynlm.text.formats.registry import read_documents, write_documents
from support.marked_text import read_marked
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


def test_what_was_corrected_in_brat_is_used(annotated: Path, tmp_path: Path) -> None:
    write_documents(read_documents(annotated), tmp_path / "brat", "brat")
    (path,) = (tmp_path / "brat").glob("*.ann")
    path.write_text(path.read_text().replace("entity: m (Mr. Moss)", "entity: i"))  # both are one person
    people = call(path, "--mentions", "given", "--as", "tsv").stdout.splitlines()
    assert len(people) == 2 and "\t5\t" in people[1]


def test_a_raw_text_is_annotated_by_the_model(tmp_path: Path) -> None:
    model = store_model(tmp_path / "model")
    (tmp_path / "story.txt").write_text(STORY)
    found = call(tmp_path / "story.txt", "--model", model, "--as", "json", "--least", "1")
    assert found.exit_code == 0 and isinstance(json.loads(found.stdout), list)


def test_a_raw_text_has_no_given_mentions(tmp_path: Path) -> None:
    (tmp_path / "story.txt").write_text("Ida slept.")
    found = CliRunner().invoke(app, ["characters", str(tmp_path / "story.txt"), "--mentions", "given"])
    assert found.exit_code != 0
