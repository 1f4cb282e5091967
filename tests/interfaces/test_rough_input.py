"""What people's files are like: empty, one word, Windows, byte-order marks, emoji, Chinese, binary, one endless line.

Every verb that reads a text gives a result or an error of ours, which the command line turns into one readable message; anything
else that is raised would be a traceback.
"""

import csv
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from entitynlm.errors import EntityNLMError
from entitynlm.interfaces.cli import app

FILES: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n\t\r\n \n",
    "one word": b"Ann",
    "marks": b"... !!! ???",
    "windows": b"Ann saw Bo.\r\nShe ran.\r\n\r\nBo ran.\r\n",
    "mark": b"\xef\xbb\xbfAnn saw Bo. She ran.",
    "emoji": "Ann saw 🦊🏳️‍🌈. 👩‍👩‍👧 ran! She 😀 it.".encode(),
    "chinese": "安娜看见了鲍勃。她跑了！鲍勃看见了它。".encode(),
    "binary": bytes(range(256)) * 40,
    "zeros": b"Ann\x00saw\x00Bo" * 50,
    "latin": "Ann saw the caf\xe9.".encode("latin-1"),
    "wide": "Ann saw Bo.".encode("utf-16"),
    "controls": b"Ann \x1b[31msaw\x07 Bo.\x0c She ran.",
    "markup": b"[bold]Ann[/bold] saw </script> <b>Bo</b> & [/] it, $ \\frac{ $ and $x_{$.",
    "long word": b"Ann saw " + b"x" * 3_000 + b" .",
}
READABLE = ("one word", "marks", "windows", "mark", "emoji", "chinese", "controls", "markup", "long word")
QUICK = ["--samples", "2", "--repeats", "1"]
VERBS: dict[str, list[str]] = {
    "surprisal": QUICK,
    "surprisal mentions": ["--rows", "mentions", *QUICK],
    "annotate": [],
    "annotate jsonl": ["--to", "jsonl"],
    "generate": ["--words", "5"],
    "report": QUICK,
}


def run(verb: str, model: Path, folder: Path, content: bytes, *, standard_input: bool = False) -> Result:
    name = verb.split()[0]
    out = "page.html" if name == "report" else None
    file = folder / "text.txt"
    file.write_bytes(content)
    where = ["--out", str(folder / out)] if out else []
    arguments = [name, "-" if standard_input else str(file), "--model", str(model), *VERBS[verb], *where]
    return CliRunner().invoke(app, arguments, input=content if standard_input else None)


def check(result: Result, verb: str, name: str) -> None:
    if result.exception is None:
        assert result.exit_code == 0
        return
    assert isinstance(result.exception, EntityNLMError), f"{verb} of {name}: {result.exception!r}"
    message = str(result.exception)
    assert message and "\n" not in message and "Traceback" not in result.output


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("verb", VERBS)
def test_a_result_or_a_readable_message(verb: str, name: str, model: Path, tmp_path: Path) -> None:
    result = run(verb, model, tmp_path, FILES[name])
    check(result, verb, name)
    if name in READABLE and verb in ("surprisal", "annotate jsonl", "report"):
        assert result.exit_code == 0, result.exception


@pytest.mark.parametrize("name", ["empty", "one word", "emoji", "binary"])
@pytest.mark.parametrize("verb", ["surprisal", "annotate", "generate", "report"])
def test_the_same_from_standard_input(verb: str, name: str, model: Path, tmp_path: Path) -> None:
    check(run(verb, model, tmp_path, FILES[name], standard_input=True), verb, name)


def test_no_file_is_left_half_written(model: Path, tmp_path: Path) -> None:
    run("report", model, tmp_path, FILES["binary"])
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


def test_offsets_are_right_after_a_mark_and_windows_line_ends(model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfAnn saw Bo.\r\n\r\nShe ran.")
    out = tmp_path / "tables"
    arguments = [
        "surprisal",
        str(tmp_path / "a.txt"),
        "-m",
        str(model),
        *QUICK,
        "--out",
        str(out),
    ]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    text = "Ann saw Bo.\r\n\r\nShe ran."
    with (out / "a.tokens.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    assert rows and all(text[int(row["start"]) : int(row["end"])] == row["token"] for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["annotate jsonl"])
def test_five_megabytes_without_a_line_break(verb: str, model: Path, tmp_path: Path) -> None:
    sentence = b"Ann saw Bo. She ran. It ran, and Bo saw Zoe. "
    result = run(verb, model, tmp_path, sentence * (5_000_000 // len(sentence)))
    check(result, verb, "5 MB")
    assert result.exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["surprisal", "annotate", "report", "generate"])
def test_five_megabytes_without_a_space(verb: str, model: Path, tmp_path: Path) -> None:
    check(run(verb, model, tmp_path, b"x" * 5_000_000), verb, "5 MB without a space")
