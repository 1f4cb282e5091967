"""Tables for other programs: what is written is what csv and pandas read back."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from entitynlm.errors import ConfigError
from entitynlm.row_files import choose_kind, write_rows


@dataclass(frozen=True)
class Word:
    token: str
    surprisal: float | None
    oov: bool


ROWS = [Word('"', 1.5, False), Word("a\tb", None, True), Word("x,y", 0.25, False)]


@pytest.mark.parametrize(("kind", "delimiter"), [("tsv", "\t"), ("csv", ",")])
def test_rows_survive_delimited_text(tmp_path: Path, kind: str, delimiter: str) -> None:
    write_rows(ROWS, Word, tmp_path / "t", kind)
    with (tmp_path / "t").open(encoding="utf-8", newline="") as stream:
        found = list(csv.reader(stream, delimiter=delimiter))
    assert found[0] == ["token", "surprisal", "oov"]
    assert found[1:] == [['"', "1.500000", "0"], ["a b", "", "1"], ["x,y", "0.250000", "0"]]


def test_pandas_reads_every_token_as_the_page_says(tmp_path: Path) -> None:
    """None begins many a sentence, and is a missing value for pandas if nobody says otherwise."""
    pandas = pytest.importorskip("pandas")
    words = [
        Word("None", None, False),
        Word("NA", 1.0, False),
        Word("null", 2.0, True),
        Word('"', 3.0, False),
    ]
    write_rows(words, Word, tmp_path / "story.tsv", "tsv")
    page = Path(__file__).parents[1] / "docs" / "howto-surprisal.md"
    call = re.search(r"`pandas\.read_csv\(\"story.tsv\", (.*?)\)`", page.read_text(encoding="utf-8"))
    assert call
    found = pandas.read_csv(tmp_path / "story.tsv", **eval(f"dict({call[1]})"))
    assert found.token.tolist() == ["None", "NA", "null", '"']
    assert found.surprisal.isna().tolist() == [True, False, False, False]


def test_the_kind_is_chosen_by_name_or_ending() -> None:
    assert [choose_kind(None, out) for out in ("-", "a.csv", "b.txt", "c.CSV")] == [
        "tsv", "csv", "tsv", "csv",
    ]  # fmt: skip
    assert choose_kind("tsv", "a.csv") == "tsv"
    with pytest.raises(ConfigError, match="which kind of table"):
        choose_kind(None, "a.xlsx")
